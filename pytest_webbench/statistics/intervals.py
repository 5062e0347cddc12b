"""Intervals of rates and means over cases; the samples of one case are not independent of each other."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
POWER = 0.8
Z2 = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2
Floats = NDArray[np.float64]


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Return the Wilson 95 % interval of `successes` out of `n` independent trials (E. B. Wilson 1927).

    Both may be fractions: effective numbers of a clustered design. Raises ValueError for n <= 0.

    >>> [round(end, 4) for end in wilson(10, 10)]
    [0.7225, 1.0]
    """
    if n <= 0:
        raise ValueError(f"expected n > 0, got {n}")
    rate = successes / n
    centre = (rate + Z2 / (2 * n)) / (1 + Z2 / n)
    half = np.sqrt(Z2 * (rate * (1 - rate) / n + Z2 / (4 * n * n))) / (1 + Z2 / n)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def rate_interval(means: Floats, samples: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean of the cases' means, each between 0 and 1, over `samples` samples.

    A Wilson interval on the effective sample size (Dean and Pagano 2015, with the degrees of freedom of Korn
    and Graubard 1998): the number of independent trials that would vary as the cases' means do. Where every
    case agrees the number of cases stands for it, so that the interval keeps a width.
    """
    rate = float(means.mean())
    size = _effective_size(means, rate, samples)
    return wilson(rate * size, size)


def mean_interval(means: Floats, scale: float = 1.0) -> tuple[float, float] | None:
    """Return the 95 % t interval of the mean of the cases' means, between 0 and `scale`; None for one case.

    Where every case has the same mean, the interval of a rate stands for it: never a zero width.
    """
    count = len(means)
    if count < 2:
        return None
    centre = float(means.mean())
    spread = float(means.std(ddof=1))
    if spread <= 1e-12 * scale:
        low, high = rate_interval(np.clip(means / scale, 0, 1), count)
        return low * scale, high * scale
    half = t_quantile((1 + CONFIDENCE) / 2, count - 1) * spread / count**0.5
    return max(0.0, centre - half), min(scale, centre + half)


def t_quantile(probability: float, degrees: float) -> float:
    """Return a quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def _effective_size(means: Floats, rate: float, samples: int) -> float:
    cases = len(means)
    if cases == 1:
        return float(samples)
    variance: Any = means.var(ddof=1) / cases
    if variance <= 1e-24:
        return float(cases)
    size = rate * (1 - rate) / float(variance)
    if samples > cases:
        tail = (1 + CONFIDENCE) / 2
        size *= (t_quantile(tail, samples - 1) / t_quantile(tail, cases - 1)) ** 2
    return max(1.0, min(size, float(samples)))
