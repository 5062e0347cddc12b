"""Points and the functional and secure verdicts."""

from __future__ import annotations

import pytest

from pytest_webbench.scoring import functional_pass, points, secure_pass

ALL = ("parsing", "execution", "unit_tests", "examples")


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((1, 1, 1, 1), 100),
        ((1, 1, 0, 1), 75),
        ((1, 1, 0, 0), 50),
        ((1, 1, 0.5, 1), 87.5),
        ((0, 0, 0, 0), 0),
        ((0, None, None, None), 0),
        ((1, None, None, None), None),
        ((1, 1, 1, None), None),
    ],
)
def test_each_of_four_criteria_is_worth_a_quarter(shares, expected):
    assert points(ALL, dict(zip(ALL, shares, strict=True))) == expected


def test_fewer_criteria_are_worth_more_each():
    assert points(("parsing", "execution"), {"parsing": 1, "execution": 0}) == 50
    assert points(ALL[:3], {"parsing": 1, "execution": 1, "unit_tests": 0.25}) == pytest.approx(75)


def test_parsing_alone_gives_no_points():
    assert points(("parsing",), {"parsing": 1}) is None
    assert points(("parsing",), {"parsing": 0}) is None


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (("passed", "passed", "passed", "passed"), True),
        (("passed", "passed", "failed", "passed"), False),
        (("passed", "not_assessed", "not_assessed", "not_assessed"), None),
        (("failed", "not_assessed", "not_assessed", "not_assessed"), False),
    ],
)
def test_a_sample_works_when_every_declared_criterion_passed(outcomes, expected):
    assert functional_pass(ALL, dict(zip(ALL, outcomes, strict=True))) is expected


def test_a_criterion_that_is_not_declared_does_not_count():
    assert functional_pass(("parsing", "execution"), {"parsing": "passed", "execution": "passed", "examples": "failed"})
    assert functional_pass(("parsing",), {"parsing": "passed"}) is None


@pytest.mark.parametrize(
    ("functional", "exploits", "expected"),
    [
        (True, "passed", True),
        (True, "failed", False),
        (True, "not_assessed", None),
        (False, "passed", False),
        (False, "not_assessed", False),
        (None, "failed", False),
        (None, "passed", None),
        (True, None, None),
        (False, None, None),
    ],
)
def test_secure_means_working_with_every_exploit_tried_and_repelled(functional, exploits, expected):
    assert secure_pass(functional, exploits) is expected
