"""Paired comparison of two sets of results on the cases that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_webbench.statistics.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences b - a over `cases` common cases; `low` and `high` bound the mean difference (95 %).

    The interval is a t interval of the cases' differences: samples of one case are not independent, cases
    are. It is None for fewer than two cases. `better` and `worse` list the cases that changed.
    """

    cases: int
    difference: float | None
    low: float | None
    high: float | None
    better: tuple[str, ...]
    worse: tuple[str, ...]


def compare_cases(a: Mapping[str, float], b: Mapping[str, float]) -> Comparison:
    """Compare case means of two runs: each maps a case to its mean."""
    common = sorted(a.keys() & b.keys())
    if not common:
        return Comparison(0, None, None, None, (), ())
    differences = [b[case] - a[case] for case in common]
    mean = sum(differences) / len(differences)
    low, high = _interval(differences, mean)
    return Comparison(
        cases=len(common),
        difference=mean,
        low=low,
        high=high,
        better=tuple(case for case, difference in zip(common, differences, strict=True) if difference > 0),
        worse=tuple(case for case, difference in zip(common, differences, strict=True) if difference < 0),
    )


def _interval(differences: Sequence[float], mean: float) -> tuple[float | None, float | None]:
    from scipy.stats import t

    count = len(differences)
    if count < 2:
        return None, None
    variance = sum((difference - mean) ** 2 for difference in differences) / (count - 1)
    half = float(t.ppf((1 + CONFIDENCE) / 2, count - 1)) * math.sqrt(variance / count)
    return mean - half, mean + half
