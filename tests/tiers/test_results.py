"""Shares, outcomes and deadlines from results."""

from __future__ import annotations

import pytest

from pytest_webbench.tiers.results import CheckResult, Deadlines, HttpTiers, calibrated, outcome_of


def result(passed, tier="unit_tests", **more):
    return CheckResult("check_it", tier, passed, **more)


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ((True, True), "passed"),
        ((True, None), "not_assessed"),
        ((True, None, False), "failed"),
        ((), "not_assessed"),
    ],
)
def test_a_failure_decides_then_a_gap_then_success(verdicts, outcome):
    assert outcome_of(tuple(map(result, verdicts)), "unit_tests") == outcome


def test_outcomes_of_one_tier_do_not_count_in_another():
    assert outcome_of((result(False, "exploits"), result(True)), "unit_tests") == "passed"


def test_the_share_of_a_tier_without_results_follows_its_outcome():
    tiers = HttpTiers("passed", unit_tests="failed")
    assert (tiers.share("execution"), tiers.share("unit_tests"), tiers.share("exploits")) == (1, 0, None)


def test_the_share_counts_what_passed_of_one_tier():
    checks = (result(True), result(False), result(True), result(None, "exploits"))
    tiers = HttpTiers("passed", unit_tests="failed", exploits="not_assessed", checks=checks)
    assert tiers.share("unit_tests") == 2 / 3
    assert tiers.share("exploits") is None


def test_a_timeout_anywhere_counts():
    assert HttpTiers("failed", failure_class="timeout").timed_out
    assert HttpTiers("passed", checks=(result(False, failure_class="timeout"),)).timed_out
    assert not HttpTiers("passed", checks=(result(False, failure_class="runtime"),)).timed_out


def test_deadlines_are_ten_times_the_reference_within_bounds():
    reference = HttpTiers("passed", checks=(result(True, seconds=1.5), result(True, seconds=0.2)), start_seconds=0.1)
    assert calibrated(reference, Deadlines(start=20, check=30, request=10)) == Deadlines(5, 15, 10)
    assert calibrated(HttpTiers("passed"), Deadlines(start=20, check=30, request=10)) == Deadlines(5, 7.5, 2.5)
