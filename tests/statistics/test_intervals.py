"""Intervals and the gate do what their names say: checked by simulation with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_webbench.statistics.comparison import difference_interval
from pytest_webbench.statistics.intervals import mean_interval, rate_interval, wilson

RUNS = 1500


def case_rates(rng: np.random.Generator, cases: int, rate: float, likeness: float) -> np.ndarray:
    """Rates of cases that differ: the smaller `likeness`, the more."""
    return rng.beta(rate * likeness, (1 - rate) * likeness, cases)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (1, 1, 0.2065, 1.0),
        (10, 10, 0.7225, 1.0),
        (9, 10, 0.5958, 0.9821),
        (7, 10, 0.3968, 0.8922),
        (0, 10, 0.0, 0.2775),
    ],
)
def test_wilson_has_its_published_values(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


def test_wilson_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected n > 0"):
        wilson(0, 0)


@pytest.mark.parametrize("cases", [10, 30, 100])
@pytest.mark.parametrize(("rate", "likeness"), [(0.5, 2), (0.8, 3), (0.3, 0.5)])
def test_the_interval_of_a_rate_covers_it_although_samples_of_a_case_are_alike(
    cases: int, rate: float, likeness: float
) -> None:
    rng = np.random.default_rng(cases)
    inside = 0
    for _ in range(RUNS):
        means = rng.binomial(10, case_rates(rng, cases, rate, likeness)) / 10
        low, high = rate_interval(means, 10 * cases)
        inside += low <= rate <= high
    assert 0.93 <= inside / RUNS <= 0.985


def test_pooling_the_samples_would_cover_far_less() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(RUNS):
        passes = rng.binomial(10, case_rates(rng, 30, 0.5, 0.5)).sum()
        low, high = wilson(int(passes), 300)
        inside += low <= 0.5 <= high
    assert inside / RUNS < 0.7


def test_the_interval_of_a_mean_covers_it() -> None:
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(RUNS):
        interval = mean_interval(rng.normal(0.6, 0.1, 20))
        assert interval is not None
        inside += interval[0] <= 0.6 <= interval[1]
    assert 0.93 <= inside / RUNS <= 0.97


def test_equal_cases_leave_a_width() -> None:
    low, high = rate_interval(np.ones(10), 100)
    assert (low, high) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert mean_interval(np.full(10, 100.0), 100) == pytest.approx((72.25, 100), abs=0.01)
    assert mean_interval(np.ones(1)) is None


def paired(rng: np.random.Generator, cases: int, samples: int, before: float, after: float) -> np.ndarray:
    """Differences of two models that find the same cases hard, for the most part."""
    shared = rng.random(cases)
    other = np.where(rng.random(cases) < 0.85, shared, rng.random(cases))
    rates = [np.clip(rate + 0.6 * (draw - 0.5), 0, 1) for rate, draw in ((before, shared), (after, other))]
    return (rng.binomial(samples, rates[1]) - rng.binomial(samples, rates[0])) / samples


@pytest.mark.parametrize(("cases", "samples"), [(5, 10), (20, 1), (20, 10), (60, 10)])
@pytest.mark.parametrize(("before", "after"), [(0.5, 0.5), (0.7, 0.6)])
def test_the_gate_errs_no_more_often_than_it_says(cases: int, samples: int, before: float, after: float) -> None:
    """A drop of exactly VALUE is called more, or less, in 2.5 % of the runs each at most."""
    rng = np.random.default_rng(cases + samples)
    true = float(np.mean([paired(rng, 1000, 50, before, after).mean() for _ in range(50)]))
    above = below = 0
    for _ in range(RUNS):
        interval = difference_interval(paired(rng, cases, samples, before, after), 1.0, 1 / samples)
        assert interval is not None
        above += interval[0] > true
        below += interval[1] < true
    assert above / RUNS <= 0.034
    assert below / RUNS <= 0.034


def test_the_detectable_difference_is_detected_four_times_in_five() -> None:
    rng = np.random.default_rng(5)
    interval = difference_interval(rng.normal(0, 0.3, 100), 1.0, None)
    assert interval is not None
    found = [difference_interval(rng.normal(interval[2], 0.3, 100), 1.0, None) for _ in range(RUNS)]
    assert 0.7 <= np.mean([one is not None and one[0] > 0 for one in found]) <= 0.9


def test_differences_that_do_not_vary_leave_a_width() -> None:
    for noise in (0.1, None):
        low, high, detectable = difference_interval(np.zeros(20), 1.0, noise) or (0, 0, 0)
        assert low < 0 < high
        assert detectable > 0
    assert difference_interval(np.zeros(1), 1.0, 0.1) is None


def test_differences_stay_on_the_scale() -> None:
    low, high, _ = difference_interval(np.array([1.0, -1.0]), 1.0, 1.0) or (0, 0, 0)
    assert (low, high) == (-1, 1)
