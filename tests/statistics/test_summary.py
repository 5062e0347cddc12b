"""Records -> Summary: what enters n, what is unknown, what is ranked."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from made import describe, many, record, records

from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import Row, Summary, summarise


def only(summary: Summary) -> Row:
    (row,) = summary.by_model
    return row


def test_errors_are_counted_and_do_not_enter_a_rate() -> None:
    """E001"""
    rows = records({f"flask/{n}": [True if n < 20 else None] for n in range(60)})
    row = only(summarise("r", rows))
    assert (row.n, row.expected, row.infrastructure) == (20, 60, 40)
    assert row.metrics["functional_pass_at_1"].value == 1.0
    assert row.coverage == pytest.approx(1 / 3)


def test_errors_are_neither_minus_one_nor_zero() -> None:
    """E003"""
    row = only(summarise("r", records({"flask/a": [True, True, None, True]})))
    assert (row.metrics["points"].value, row.metrics["points"].n, row.infrastructure) == (100, 3, 1)


def test_pass_at_k_is_unknown_where_errors_leave_too_few() -> None:
    """E007"""
    row = only(summarise("r", records({"flask/a": [True] * 3 + [False] * 5 + [None] * 2})))
    assert row.functional_pass_at_k[1].value == pytest.approx(0.375)
    assert row.functional_pass_at_k[5].value == pytest.approx(0.9821428571)
    assert row.functional_pass_at_k[10].value is None


def test_rates_are_means_over_cases_never_pooled() -> None:
    rows = records({"flask/a": [True] * 10, "flask/b": [False]})
    assert only(summarise("r", rows)).metrics["functional_pass_at_1"].value == 0.5


def test_nothing_measured_is_unknown_and_zero_is_zero() -> None:
    """E027, E028"""
    assert only(summarise("r", records({"flask/a": [None]}))).metrics["functional_pass_at_1"].value is None
    assert only(summarise("r", records({"flask/a": [False]}))).metrics["functional_pass_at_1"].value == 0.0


def test_a_model_with_the_easy_cases_only_is_not_ranked_above_one_with_all() -> None:
    """E025"""
    easy = records({"flask/c1": [True], "flask/c2": [True]}, model="a")
    whole = records({"flask/c1": [True], "flask/c2": [True], "flask/c3": [False], "flask/c4": [False]}, model="b")
    summary = summarise("r", easy + whole)
    assert summary.common_cases == 2
    assert summary.notes == ("ranked on the 2 cases that all measured models have; incomplete: a on 2 of 4",)


def test_models_without_a_common_case_are_not_ranked() -> None:
    """E024"""
    summary = summarise("r", records({"flask/a": [True]}, model="a") + records({"flask/b": [True]}, model="b"))
    assert summary.common_cases == 0
    assert summary.notes == (
        "the models were measured on different cases and are not ranked: a on 1 of 2, b on 1 of 2",
    )


def test_an_excluded_model_is_in_no_overview() -> None:
    rows = records({"flask/a": [False]}) + records({"flask/a": [True]}, model="oracle")
    description = describe(rows)
    description["models"]["oracle"]["exclude"] = "the oracle"
    summary = summarise("r", rows, description)
    assert summary.ranking == ("m",)
    assert summary.excluded == {"oracle": "the oracle"}
    assert summary.by_template_overall[0].n == 1


def test_templates_are_averaged_over_what_all_shown_models_have() -> None:
    rows = [
        *many(2, 1.0, 2, model="a"),
        *many(2, 0.5, 2, model="b"),
        *many(2, 0.0, 2, model="a", prompt_template="as_is"),
    ]
    (row,) = summarise("r", rows).by_template_overall
    assert (row.key, row.n) == (("web_expert",), 8)
    assert row.metrics["functional_pass_at_1"].value == 0.75


def test_the_order_of_arrival_changes_nothing() -> None:
    rows = many(3, 0.5, 2) + many(3, 1.0, 2, model="n")
    assert summarise("r", rows) == summarise("r", rows[::-1])


def test_of_two_records_of_a_sample_the_judged_one_counts() -> None:
    for rows in ([record(passed=None), record()], [record(), record(passed=None)]):
        assert only(summarise("r", rows)).n == 1


def test_an_expected_sample_without_a_record_is_lost() -> None:
    rows = many(2, 1.0, 2)
    summary = summarise("r", rows[1:], describe(rows))
    assert summary.failure_classes == {"m": {"infrastructure_error:lost": 1}}
    assert only(summary).expected == 4


def test_copies_at_a_temperature_are_counted() -> None:
    rows = [replace(row, code_sha="same") for row in many(1, 1.0, 3)]
    assert only(summarise("r", rows)).duplicates == 2
    cold = [replace(row, parameters={"temperature": 0}) for row in rows]
    assert only(summarise("r", cold)).duplicates == 0


def test_cost_is_unknown_where_one_price_is() -> None:
    rows = [replace(row, cost=0.001) for row in many(2, 1.0, 2)]
    assert only(summarise("r", rows)).points_per_cent == pytest.approx(1000)
    row = only(summarise("r", [replace(rows[0], cost=None), *rows[1:]]))
    assert (row.cost, row.points_per_cent) == (None, None)


def test_similarity_is_held_against_passing_within_cases_too() -> None:
    """Web-CodeBLEU that tells easy cases from hard ones, and nothing within a case."""
    chance = random.Random(1)
    rows = [
        replace(
            record(f"flask/c{case}", sample, passed=chance.random() < 0.1 + 0.1 * case),
            web_codebleu=0.1 * case + 0.001 * chance.random(),
        )
        for case in range(9)
        for sample in range(10)
    ]
    found = {one.of: one for one in summarise("r", rows).similarity.correlations}
    assert (found["all samples"].spearman or 0) > 0.4
    assert abs(found["within cases"].spearman or 0) < 0.3
    assert found["all samples"].n == 90
    assert (found["all samples"].low or 1) < (found["all samples"].spearman or 0) < (found["all samples"].high or 0)


def test_the_auc_is_the_share_of_pairs_that_similarity_puts_in_order() -> None:
    from scipy.stats import mannwhitneyu

    chance = random.Random(2)
    rows = [
        replace(record(f"flask/c{case}", sample, passed=sample % 3 == 0), web_codebleu=round(chance.random(), 1))
        for case in range(4)
        for sample in range(10)
    ]
    found = {one.of: one for one in summarise("r", rows).similarity.correlations}
    passed, failed = ([row.web_codebleu for row in rows if row.functional_pass is wanted] for wanted in (True, False))
    assert found["all samples"].auc == pytest.approx(mannwhitneyu(passed, failed).statistic / len(passed) / len(failed))
    for one in ("all samples", "within cases"):
        assert (found[one].auc_low or 1) < (found[one].auc or 0) < (found[one].auc_high or 0)


def test_similarity_that_never_errs_here_has_no_interval_of_zero_width() -> None:
    rows = records({f"flask/c{number}": [True, False] for number in range(6)})
    (found,) = (one for one in summarise("r", rows).similarity.correlations if one.of == "all samples")
    assert (found.auc, found.auc_low, found.auc_high, found.low) == (1.0, None, None, None)


def test_similarity_is_told_by_outcome() -> None:
    rows = [record("flask/a"), record("flask/a", 1, passed=False),
            record("flask/a", 2, passed=False, web_codebleu=0.98, tiers={"syntax": "failed"})]  # fmt: skip
    means = {one.group: one.mean for one in summarise("r", rows).similarity.means}
    assert means == pytest.approx({"passed": 0.8, "failed": 0.4, "does not parse": 0.98})


def test_an_attribute_groups_samples_by_case() -> None:
    known, positions = Samples.of([record("flask/a"), record("django/b")]).attribute("framework")
    assert [known[position] for position in positions] == ["Django", "Flask"]
