"""The gate: passes, fails or cannot tell, and never passes on what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made import describe, many, record, records

from pytest_webbench.gate import Gate, GateError, Verdict, check_rules, parse_rule
from pytest_webbench.records import Record
from pytest_webbench.statistics.comparison import sides
from pytest_webbench.statistics.samples import Samples


def gate(*limits: str, before: Sequence[Record] | None = None, common: bool = False) -> Gate:
    """A gate with `fail-under` or `max-drop` limits, such as `points>80` and `points-5`."""
    rules = tuple(
        parse_rule("fail-under", text.replace(">", "="))
        if ">" in text
        else parse_rule("max-drop", text.replace("~", "="))
        for text in limits
    )
    return Gate(rules, None if before is None else sides(Samples.of(before)), common)


def judged(asked: Gate, now: Sequence[Record]) -> Verdict:
    verdict = asked.judge(Samples.of(now))
    assert verdict is not None
    return verdict


def keyed(rows: Sequence[Record], salt: str = "") -> list[Record]:
    """The records with completion keys and code that tell the samples apart."""
    return [replace(row, completion_key=f"{row.node_id}{salt}", code_sha=f"{row.node_id}{salt}") for row in rows]


def missing(rows: Sequence[Record], count: int) -> list[Record]:
    """The records, the last `count` of them as infrastructure errors."""
    return [*rows[:-count], *(replace(row, status="infrastructure_error") for row in rows[-count:])]


UNDER = "functional_pass_at_1>0.8"
DROP = "functional_pass_at_1~0.05"


@pytest.mark.parametrize(
    ("passes", "limit", "outcome"),
    [
        ({"flask/a": [True] * 8 + [False] * 2}, "functional_pass_at_1>0.8", "pass"),
        ({"flask/a": [True] * 7 + [False] * 3}, "functional_pass_at_1>0.8", "fail"),
        ({"flask/a": [False]}, "functional_pass_at_1>0", "pass"),
        ({"flask/a": [None]}, "functional_pass_at_1>0", "inconclusive"),
        ({f"flask/{n}": [True if n < 20 else None] for n in range(60)}, "functional_pass_at_1>0.8", "inconclusive"),
        ({"flask/a": [False, False, None]}, "functional_pass_at_1>0.8", "fail"),
        ({"flask/a": [True, True, None]}, "functional_pass_at_1>0.5", "pass"),
        ({"flask/a": [True]}, "functional_pass_at_1[Django]>0.5", "inconclusive"),
        ({"flask/a": [True]}, "secure_pass_at_1>0.5", "inconclusive"),
    ],
    ids=["met exactly", "below", "a real zero", "nothing judged", "20 of 60 judged", "lost whatever the rest is",
         "met whatever the rest is", "no case of the framework", "never measured"],
)  # fmt: skip
def test_fail_under_fills_what_is_missing_with_the_worst_and_the_best(
    passes: dict[str, list[bool | None]], limit: str, outcome: str
) -> None:
    """E001, E028, E034"""
    assert judged(gate(limit), records(passes)).outcome == outcome


def test_a_mean_of_tenths_meets_a_tenth() -> None:
    """E034"""
    rows = [record(f"flask/{number}", points=10.0) for number in range(10)]
    assert judged(gate("points>10"), rows).outcome == "pass"


def test_blocked_samples_are_no_failures() -> None:
    """E013"""
    rows = [replace(record(f"flask/{n}", passed=None), status="blocked", failure_class="blocked") for n in range(5)]
    assert judged(gate("functional_pass_at_1>0.5"), rows).outcome == "inconclusive"


def test_what_was_not_measured_says_how_to_measure_it() -> None:
    verdict = judged(gate("secure_pass_at_1>0.5"), records({"flask/a": [True]}))
    assert verdict.reason.endswith("was measured on no sample; run with --webbench-tiers secure")


def test_an_error_that_claims_to_have_passed_counts_as_missing() -> None:
    """E042"""
    rows = [record("flask/a", functional_pass=True, status="infrastructure_error", failure_class="timeout")]
    assert judged(gate("functional_pass_at_1>0.5"), rows).outcome == "inconclusive"


def test_a_run_that_died_is_not_judged_on_what_it_finished() -> None:
    """E015"""
    rows = records({f"flask/{n}": [True] for n in range(40)})
    verdict = gate(UNDER).judge(Samples.of(rows[:22], describe(rows)))
    assert verdict is not None
    assert (verdict.outcome, verdict.exit_status) == ("inconclusive", 11)


def test_one_sample_cannot_support_a_limit() -> None:
    """E030"""
    verdict = judged(gate(UNDER), records({"flask/a": [True]}))
    assert verdict.outcome == "pass"
    assert verdict.findings[0].low == pytest.approx(0.2065, abs=1e-4)
    assert verdict.warnings == (
        "m: n=1 cannot support fail-under functional_pass_at_1=0.8: the interval [0.2065, 1] lies on both sides",
    )


def test_ten_of_ten_pass_a_limit_that_they_do_not_prove() -> None:
    """E031"""
    verdict = judged(gate(UNDER), records({"flask/a": [True] * 10}))
    assert verdict.outcome == "pass"
    assert verdict.findings[0].low == pytest.approx(0.7225, abs=1e-4)
    assert "n=10 cannot support" in verdict.warnings[0]


@pytest.mark.parametrize(("limit", "outcome"), [(0.2, "pass"), (0.5, "inconclusive"), (0.9, "fail")])
def test_errors_are_filled_with_the_worst_and_the_best_and_never_filtered_out(limit: float, outcome: str) -> None:
    """E004"""
    rows = [record("flask/a", number, score is not None, web_codebleu=score)
            if score is not None else record("flask/a", number, None)
            for number, score in enumerate([0.2, None, None, None, 0.8])]  # fmt: skip
    verdict = judged(gate(f"web_codebleu>{limit}"), rows)
    assert (verdict.outcome, verdict.findings[0].value) == (outcome, 0.5)
    assert "between 0.2 and 0.8" in verdict.reason or outcome == "pass"


def test_no_samples_are_inconclusive() -> None:
    """E009"""
    verdict = judged(gate(UNDER), [])
    assert (verdict.outcome, verdict.reason) == ("inconclusive", "no model was measured")


def test_every_model_must_meet_every_rule() -> None:
    rows = records({"flask/a": [True]}) + records({"flask/a": [False]}, model="n")
    verdict = judged(gate("functional_pass_at_1>0.5", "points>10"), rows)
    assert verdict.outcome == "fail"
    assert [finding.outcome for finding in verdict.findings] == ["pass", "fail", "pass", "pass"]
    assert verdict.reason.startswith("n: fail-under functional_pass_at_1=0.5: functional_pass_at_1 of 0 is below 0.5")


@pytest.mark.parametrize(
    ("before", "now", "limit", "outcome"),
    [
        (many(50, 0.9), many(50, 0.9), DROP, "pass"),
        (many(50, 0.9), many(50, 0.5), DROP, "fail"),
        (many(2, 1.0), many(2, 0.0), DROP, "fail"),
        (many(1, 0.9), many(1, 0.7), "functional_pass_at_1~0.1", "inconclusive"),
        (many(3, 0.9, 1), many(3, 0.9, 1), DROP, "inconclusive"),
        (many(50, 0.9), many(50, 0.9), "functional_pass_at_1[Django]~0.05", "inconclusive"),
        (many(50, 0.9), missing(many(50, 0.9), 200), DROP, "inconclusive"),
        ([replace(row, status="infrastructure_error") for row in many(50, 0.9)[:10]] + many(50, 0.9)[10:],
         many(50, 0.9), "functional_pass_at_1~0.005", "inconclusive"),
        (many(50, 0.9), [replace(row, status="infrastructure_error") for row in many(50, 0.9)], DROP, "inconclusive"),
        (many(50, 0.9), many(50, 0.5)[:-20] + [replace(row, status="blocked") for row in many(50, 0.5)[-20:]],
         DROP, "fail"),
    ],
    ids=["no drop", "real drop", "two cases, all lost", "one case: noise", "too few", "no case of the framework",
         "a fifth missing", "baseline missing some", "nothing judged", "real drop though some are missing"],
)  # fmt: skip
def test_max_drop_is_judged_by_the_paired_interval(
    before: list[Record], now: list[Record], limit: str, outcome: str
) -> None:
    """E033"""
    assert judged(gate(limit, before=before), now).outcome == outcome


def test_identical_completions_drop_by_nothing_however_few() -> None:
    rows = keyed(many(2, 0.5, 2))
    verdict = judged(gate("functional_pass_at_1~0", "web_codebleu~0", before=rows), rows)
    assert verdict.outcome == "pass"
    assert [(one.value, one.low, one.high) for one in verdict.findings] == [(0, 0, 0)] * 2


def test_the_same_requests_answered_otherwise_are_not_identical() -> None:
    rows = keyed(many(3, 1.0, 1))
    again = [replace(row, code_sha="other") for row in rows]
    assert judged(gate(DROP, before=rows), again).outcome == "inconclusive"


def test_identical_completions_with_missing_samples_are_judged_by_the_range() -> None:
    rows = [*keyed(many(9, 1.0, 2)), *keyed(records({"flask/x": [None, None]}))]
    assert judged(gate(DROP, before=rows), rows).outcome == "inconclusive"


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"case_version": "1.1"}, "m: case versions: flask/c000 1.0 -> 1.1"),
        ({"prompt_template": "as_is"}, "m: templates: web_expert -> as_is"),
        ({"parameters": {"temperature": 0.2}}, "m: temperature: 0.8 -> 0.2"),
        ({"prompt_sha": "reworded"}, "m: prompts: flask/c000"),
    ],
    ids=["version", "template", "parameters", "prompt"],
)
def test_other_settings_are_never_compared_silently(change: dict[str, object], difference: str) -> None:
    before = many(50, 0.9)
    now = [replace(row, **change) for row in before]  # type: ignore[arg-type]
    asked = gate(DROP, before=before)
    assert any(text.startswith(difference) for text in asked.differences(Samples.of(now)))
    verdict = judged(asked, now)
    assert verdict.outcome == "inconclusive"
    assert difference in verdict.reason


def test_a_missing_case_is_a_difference_unless_the_rest_is_asked_for() -> None:
    before, now = many(50, 0.9), many(49, 0.9)
    assert gate(DROP, before=before).differences(Samples.of(now)) == ["m: cases only in the baseline: flask/c049"]
    assert judged(gate(DROP, before=before), now).outcome == "inconclusive"
    common = judged(gate(DROP, before=before, common=True), now)
    assert common.outcome == "pass"
    assert common.warnings == ("m: cases only in the baseline: flask/c049",)


def test_nothing_in_common_is_inconclusive() -> None:
    now = [replace(row, case_version="2.0") for row in many(50, 0.9)]
    assert judged(gate(DROP, before=many(50, 0.9), common=True), now).outcome == "inconclusive"


def test_another_seed_draws_other_samples_of_the_same() -> None:
    now = [replace(row, parameters={**row.parameters, "seed": 7}) for row in many(50, 0.9)]
    assert gate(DROP, before=many(50, 0.9)).differences(Samples.of(now)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass=0.5", "max-drop: unknown metric 'pass'; known: pass_at_1, *"),
        ("points", "max-drop: expected METRIC=VALUE or METRIC[FRAMEWORK]=VALUE, found 'points'"),
        ("points[Rails]=1", "max-drop: unknown framework 'Rails'; known: Flask, FastAPI, Django"),
        ("points=many", "max-drop points: expected a number from 0 to 100, found 'many'"),
        ("points=nan", "max-drop points: expected a number from 0 to 100, found 'nan'"),
        ("pass_at_1=5", "max-drop pass_at_1: expected a number from 0 to 1, found '5'"),
    ],
)
def test_a_limit_that_cannot_be_used_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(GateError) as raised:
        parse_rule("max-drop", text)
    assert str(raised.value).startswith(message.removesuffix("*"))


def test_a_framework_may_be_written_in_any_case() -> None:
    assert str(parse_rule("fail-under", "points[flask]=5")) == "fail-under points[Flask]=5"


def test_a_drop_needs_a_baseline() -> None:
    with pytest.raises(GateError, match="a drop needs a baseline"):
        check_rules([parse_rule("max-drop", "points=5")], has_baseline=False)
