"""Paired comparison of two runs: differences, flips, pairing, answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made import describe, many, records, write_run

from pytest_webbench import compare
from pytest_webbench.runs import open_runs
from pytest_webbench.statistics.comparison import PairingError, pair_models
from pytest_webbench.statistics.summary import summarise


def test_differences_are_b_minus_a_with_flips_both_ways() -> None:
    a = records({"flask/up": [False, False], "flask/down": [True, True], "django/same": [True, False]})
    b = records({"flask/up": [True, False], "flask/down": [False, False], "django/same": [False, True]})
    change = compare(a, b).models[0].overall["functional_pass_at_1"]
    assert change.difference == pytest.approx((0.5 - 1 + 0) / 3)
    assert (change.better, change.worse) == (("flask/up",), ("flask/down",))
    assert (change.samples_better, change.samples_worse) == (2, 3)
    assert change.detectable is not None


def test_frameworks_categories_and_cases_are_compared_each() -> None:
    model = compare(many(4, 0.5), many(4, 0.9)).models[0]
    assert model.by_framework["Flask"]["points"].difference == pytest.approx(20)
    assert set(model.by_category) == {"crud"}
    assert model.by_case["flask/c000"]["functional_pass_at_1"].difference == pytest.approx(0.4)


def test_pairing_uses_what_samples_of_hard_cases_have_in_common() -> None:
    a = [row for n in range(20) for row in records({f"flask/{n}": [i < n % 10 for i in range(10)]})]
    b = [row for n in range(20) for row in records({f"flask/{n}": [i < n % 10 + 1 for i in range(10)]})]
    change = compare(a, b).models[0].overall["functional_pass_at_1"]
    assert change.low is not None
    assert change.low > 0


def test_only_common_cases_are_compared_and_the_others_named() -> None:
    change = compare(many(3, 1.0), many(2, 1.0))
    assert change.models[0].overall["points"].cases == 2
    assert change.differences == ("m: cases only in the baseline: flask/c002",)


def test_a_small_difference_in_errors_does_not_separate_models() -> None:
    """E006"""
    a = records({"flask/a": [True] * 2 + [False] * 6})
    b = records({"flask/a": [True] * 2 + [False] * 4 + [None] * 2}, model="n")
    summary = summarise("r", a + b)
    answer = next(one for one in summary.answers if one.question.startswith("Which model is better on Flask"))
    assert "not enough data" in answer.text


def test_models_pair_by_name_or_one_with_one() -> None:
    assert pair_models(["a", "b"], ["b"]) == {"b": "b"}
    assert pair_models(["old"], ["new"]) == {"new": "old"}
    assert pair_models(["a", "b"], ["new"], named="a") == {"new": "a"}
    with pytest.raises(PairingError, match="which model is new to be compared with"):
        pair_models(["a", "b"], ["new"])
    with pytest.raises(PairingError, match="no model 'c'; it has a, b"):
        pair_models(["a", "b"], ["new"], named="c")


def test_the_agent_is_held_against_the_best_single_model_and_its_base() -> None:
    rows = [*many(20, 0.5, model="base"), *many(20, 0.7, model="best"), *many(20, 1.0, model="team", provider="agent")]
    description = describe(rows)
    description["models"]["team"]["codegen"] = "base"
    texts = [f"{one.question} {one.text}" for one in summarise("r", rows, description).answers]
    best = "Did team improve on the best zero-shot model (best)? functional Pass@1: yes: +0.300"
    base = "Did team improve on its base model (base)? functional Pass@1: yes: +0.500"
    assert any(text.startswith(best) for text in texts)
    assert any(text.startswith(base) for text in texts)


def test_every_question_is_answered_although_there_is_not_enough_data() -> None:
    answers = {one.question: one.text for one in summarise("r", many(2, 1.0)).answers}
    assert list(answers) == [
        "Did the agent improve on the best zero-shot model?",
        "Did the agent improve on its base model?",
        "Which framework gained most from the agent?",
        "Did the reviews lead to repairs?",
        "Which model is better on Flask?",
        "Which framework is m better on?",
        "Is as_is worse than the other templates?",
        "Is a plain prompt (in_python) as good as the elaborate ones?",
        "Do long prompts confuse small models (at most 8 billion parameters)?",
    ]
    assert all(text.startswith("not enough data") for text in answers.values())


def test_an_agent_whose_base_model_was_not_measured_says_so() -> None:
    rows = [*many(4, 0.5, model="best"), *many(4, 1.0, model="team", provider="agent")]
    description = describe(rows)
    description["models"]["team"]["codegen"] = "base"
    answers = {one.question: one.text for one in summarise("r", rows, description).answers}
    assert answers["Did team improve on its base model?"] == "not enough data: base is not in the run"


@pytest.mark.parametrize(
    ("repaired", "broken", "answer"),
    [(4, 0, "yes: 120 of 200 answers were revised after a review: 80 pass and did not before, 0 passed before"),
     (0, 4, "no, they did harm: 120 of 200 answers were revised after a review: 0 pass and did not before, 80 passed"),
     (1, 1, "cannot be told: 120 of 200 answers were revised after a review: 20 pass and did not before, 20 passed"),
     (0, 0, "cannot be told: 120 of 200 answers were revised after a review: 0 pass and did not before, 0 passed")],
    ids=["repairs", "harm", "both", "neither"],
)  # fmt: skip
def test_reviews_are_judged_by_what_the_revisions_changed(repaired: int, broken: int, answer: str) -> None:
    def flags(sample: int) -> tuple[str, ...]:
        effect = ["repaired"] * repaired + ["broken"] * broken
        return ("revised", *effect[sample : sample + 1]) if sample < 6 else ()

    rows = [replace(row, flags=flags(row.sample)) for row in many(20, 0.5, model="team", provider="agent")]
    (told,) = (
        one for one in summarise("r", rows).answers if one.question == "Did the reviews of team lead to repairs?"
    )
    assert told.text.startswith(answer)
    assert told.difference == pytest.approx((repaired - broken) / 10)


def test_an_agent_of_one_run_is_held_against_the_models_of_another(tmp_path: Path) -> None:
    single = write_run(tmp_path / "single", many(6, 0.5, model="llama"))
    team = write_run(tmp_path / "team", many(6, 1.0, 1, model="team", provider="agent"))
    runs = open_runs([single, team])
    texts = {one.question: one.text for one in summarise(runs.run_id, runs.records(), runs.description).answers}
    assert texts["Did team improve on the best zero-shot model (llama)?"].startswith("functional Pass@1: yes: +0.500")


def test_frameworks_are_compared_over_scenarios_that_both_have() -> None:
    rows = [
        replace(row, case_name=row.case_name.replace("flask", place), case_id=place + row.case_id, framework=framework)
        for place, framework, rate in (("flask", "Flask", 1.0), ("django", "Django", 0.2))
        for row in many(20, rate)
    ]
    description = describe(rows)
    for name, about in description["cases"].items():
        about["scenario"] = name.split("/")[1]
    answers = {one.question: one.text for one in summarise("r", rows, description).answers}
    assert answers["Is m better on Django or on Flask?"].startswith("functional Pass@1: Flask: Django -0.800")
