"""Settings of one model compared with each other: which is best, and whether that can be told from chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pytest_webbench.statistics.comparison import Side, compare_sides
from pytest_webbench.statistics.intervals import Floats, mean_interval
from pytest_webbench.statistics.metrics import RATES, SCALES, column
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import Estimate, row

LEVEL = 0.05
RESAMPLES = 9999
Value = str | int | float
Point = Mapping[str, Value]
"""What a setting sets: parameter -> value."""


def shown(value: Value) -> str:
    """Return a parameter's value for people."""
    return value if isinstance(value, str) else f"{value:g}"


def setting_name(point: Point) -> str:
    """Return what a setting is called: `temperature=0.2 top_p=1`."""
    return " ".join(f"{name}={shown(value)}" for name, value in point.items())


@dataclass(frozen=True, slots=True)
class Against:
    """The best setting against another: `difference` is best - other, a mean over the deciding cases.

    `low` and `high` bound it on cases like these (95 %, clustered by case, for this one comparison; None for a
    single case). `p` is the chance of a difference as large on these very cases, either way, if the settings were
    the same; `p_corrected` that of any among all comparisons.
    """

    setting: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None

    @property
    def told_apart(self) -> bool:
        """Whether the best setting is better on these cases by more than chance gives."""
        return self.p_corrected is not None and self.p_corrected <= LEVEL


@dataclass(frozen=True, slots=True)
class SettingResult:
    """One setting: its values in the first stage and, for a finalist, on all cases and on the deciding ones."""

    setting: str
    point: Point
    expected: int
    judged: int
    truncated: int
    first: Estimate
    overall: Estimate | None = None
    deciding: Estimate | None = None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A scan: settings in order of rank, finalists first, and what is known of the best.

    The `deciding` cases are those of the second stage that took no part in choosing the finalists, or the first
    stage's where there are no others. `comparisons` is for how many p-values were corrected: all pairs of the
    settings that the deciding cases were put to.
    """

    model: str
    metric: str
    parameters: tuple[str, ...]
    first_cases: tuple[str, ...]
    deciding_cases: tuple[str, ...]
    settings: tuple[SettingResult, ...]
    comparisons: int
    against: tuple[Against, ...]

    @property
    def best(self) -> SettingResult:
        """The setting with the highest value; whether that is more than luck, `against` tells."""
        return self.settings[0]


def estimate(samples: Samples, metric: str) -> Estimate:
    """Return the macro mean of a metric over cases; in a single case the interval is that of its samples."""
    if not len(samples):
        return Estimate(None, 0, 0)
    found = row((), samples).metrics[metric]
    low, high = found.low, found.high
    if found.cases == 1 and metric not in RATES:
        values = samples.numbers[column(metric)][samples.judged]
        low, high = mean_interval(values[~np.isnan(values)], SCALES[metric]) or (None, None)
    if low is None or high is None:
        return found
    return replace(found, low=max(0.0, low), high=min(SCALES[metric], high))


def ranked(samples: Samples, settings: Sequence[str], metric: str) -> list[str]:
    """Return the settings, the highest value first; unmeasured ones last, equal ones in the given order."""
    values = {setting: estimate(_of(samples, setting), metric).value for setting in settings}
    return sorted(settings, key=lambda setting: -_or_lowest(values[setting]))


def scan_result(
    model: str,
    samples: Samples,
    points: Mapping[str, Point],
    finalists: Sequence[str],
    first_cases: Sequence[str],
    metric: str,
) -> ScanResult:
    """Return what a scan found; `points` maps each setting's alias to what it sets, in the order of the scan."""
    first = samples.of_cases(lambda case: case.name in first_cases)
    others = samples.of_cases(lambda case: case.name not in first_cases)
    deciding, compared = (others, list(finalists)) if len(others) else (first, list(points))
    order = ranked(deciding, finalists, metric) + ranked(
        first, [name for name in points if name not in finalists], metric
    )
    pairs = _corrected({pair: _p_value(deciding, *pair, metric) for pair in combinations(compared, 2)})
    return ScanResult(
        model=model,
        metric=metric,
        parameters=tuple(next(iter(points.values()))),
        first_cases=tuple(sorted(first_cases)),
        deciding_cases=tuple(sorted({deciding.cases[position].name for position in np.unique(deciding.case).tolist()})),
        settings=tuple(
            _setting(name, points[name], samples, first, deciding if name in finalists else None, metric)
            for name in order
        ),
        comparisons=len(pairs),
        against=tuple(
            _against(deciding, order[0], other, metric, pairs)
            for other in order
            if other in compared and other != order[0]
        ),
    )


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number by the step-down method of S. Holm (1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    steps = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def _of(samples: Samples, setting: str) -> Samples:
    position = [model.alias for model in samples.models].index(setting)
    return samples.where(samples.model == position)


def _or_lowest(value: float | None) -> float:
    return -1.0 if value is None else value


def _setting(
    name: str, point: Point, samples: Samples, first: Samples, deciding: Samples | None, metric: str
) -> SettingResult:
    own = _of(samples, name)
    whole = row((), own) if len(own) else None
    return SettingResult(
        setting=name,
        point=point,
        expected=len(own),
        judged=whole.n if whole else 0,
        truncated=whole.truncated if whole else 0,
        first=estimate(_of(first, name), metric),
        overall=None if deciding is None else estimate(own, metric),
        deciding=None if deciding is None else estimate(_of(deciding, name), metric),
    )


def _against(
    samples: Samples, best: str, other: str, metric: str, pairs: Mapping[tuple[str, str], tuple[float, float] | None]
) -> Against:
    known = pairs[(best, other)] if (best, other) in pairs else pairs[(other, best)]
    a, b = _of(samples, other), _of(samples, best)
    if known is None or not len(a) or not len(b):
        return Against(other, None, None, None, None, None)
    change = compare_sides(Side.of(a), Side.of(b), metric)
    return Against(other, change.difference, change.low, change.high, *known)


def _p_value(samples: Samples, a: str, b: str, metric: str) -> float | None:
    """Return the two-sided p-value of a permutation test on samples paired by case, template and index.

    Pairs of the same two codes are one pair: at temperature 0 ten samples are often one answer.
    """
    from scipy.stats import permutation_test

    values_a, values_b = _by_sample(_of(samples, a), metric), _by_sample(_of(samples, b), metric)
    pairs: dict[tuple[int, ...], tuple[float, float]] = {}
    for key in sorted(values_a.keys() & values_b.keys()):
        (value_a, code_a), (value_b, code_b) = values_a[key], values_b[key]
        pairs.setdefault((*key[:2], code_a, code_b) if code_a and code_b else key, (value_a, value_b))
    if len(pairs) < 2:
        return None
    x, y = np.array(list(pairs.values())).T
    if np.allclose(x, y):
        return 1.0
    found: Any = permutation_test(
        (x, y),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        batch=500,
        random_state=np.random.default_rng(0),
    )
    return float(found.pvalue)


def _by_sample(samples: Samples, metric: str) -> dict[tuple[int, int, int], tuple[float, int]]:
    """Return the value of each judged sample, and what its code is known by (0: it has none)."""
    values = samples.numbers[column(metric)]
    known = samples.judged & ~np.isnan(values)
    columns = (samples.case[known], samples.template[known], samples.sample[known])
    keys = zip(*(values.tolist() for values in columns), strict=True)
    return dict(zip(keys, zip(values[known].tolist(), samples.code[known].tolist(), strict=True), strict=True))


def _corrected(
    p_values: Mapping[tuple[str, str], float | None],
) -> dict[tuple[str, str], tuple[float, float] | None]:
    """Return each p-value with the corrected one."""
    known = {pair: p for pair, p in p_values.items() if p is not None}
    corrected = dict(zip(known, holm(np.array(list(known.values()))).tolist(), strict=True))
    return {pair: (known[pair], corrected[pair]) if pair in known else None for pair in p_values}
