"""Intervals of rates and means over cases; the samples of one case are not independent of each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.95


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return the Wilson 95 % interval of `successes` out of `n` independent trials (E. B. Wilson 1927)."""
    from scipy.stats import binomtest

    interval = binomtest(successes, n).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def rate_interval(by_case: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the 95 % interval of the macro mean of 0/1 outcomes, clustered by case.

    The method of Korn and Graubard (1998): a Clopper-Pearson interval on the effective sample size, which
    is the number of independent trials that would have the variance seen between cases. Where every case
    agrees that variance is 0, so the number of cases stands for it and the interval keeps a width.
    """
    from scipy.stats import beta

    means = [sum(outcomes) / len(outcomes) for outcomes in by_case]
    rate = sum(means) / len(means)
    n = _effective_size(by_case, means, rate)
    successes = rate * n
    low = float(beta.ppf((1 - CONFIDENCE) / 2, successes, n - successes + 1)) if successes > 0 else 0.0
    high = float(beta.ppf((1 + CONFIDENCE) / 2, successes + 1, n - successes)) if successes < n else 1.0
    return low, high


def mean_interval(means: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % t interval of the mean of the cases' means; None for fewer than two cases."""
    from scipy.stats import t

    count = len(means)
    if count < 2:
        return None
    mean = sum(means) / count
    half = float(t.ppf((1 + CONFIDENCE) / 2, count - 1)) * math.sqrt(_variance(means, mean) / count)
    return mean - half, mean + half


def _effective_size(by_case: Sequence[Sequence[float]], means: Sequence[float], rate: float) -> float:
    from scipy.stats import t

    cases, samples = len(by_case), sum(len(outcomes) for outcomes in by_case)
    if cases == 1:
        return float(samples)
    variance = _variance(means, rate) / cases
    if variance == 0:
        return float(cases)
    size = rate * (1 - rate) / variance
    if samples > cases:
        size *= (float(t.ppf(0.975, samples - 1)) / float(t.ppf(0.975, cases - 1))) ** 2
    return max(1.0, min(size, float(samples)))


def _variance(values: Sequence[float], mean: float) -> float:
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
