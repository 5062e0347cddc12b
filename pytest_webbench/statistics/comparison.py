"""Paired comparison of two sets of results on the cases that both have, clustered by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pytest_webbench.records import Record
from pytest_webbench.statistics.intervals import CONFIDENCE, POWER, Floats, t_quantile
from pytest_webbench.statistics.metrics import METRICS, RATES, SCALES, column
from pytest_webbench.statistics.samples import CaseFacts, Ints, Mask, Samples


class PairingError(ValueError):
    """Models of two runs that cannot be told to belong together; lists both sides."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences b - a over `cases` common cases; `low` and `high` bound the mean difference (95 %).

    The interval is None for fewer than two cases, and has no width only where both sides hold the same
    completions. `better` and `worse` list the cases whose mean changed, `samples_better` and
    `samples_worse` count the samples that did. A true difference of `detectable` would be found in four of
    five such comparisons.
    """

    cases: int
    difference: float | None
    low: float | None
    high: float | None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    samples_better: int = 0
    samples_worse: int = 0
    detectable: float | None = None
    identical: bool = False


NOTHING = Comparison(0, None, None, None)


@dataclass(frozen=True, slots=True)
class CaseValue:
    """The mean of a metric over `n` samples of a case."""

    mean: float
    n: int


Values = Callable[[str, float | None], Mapping[str, CaseValue]]
"""Metric and what a missing sample counts as (None: it does not count) -> case id -> value."""


@dataclass(frozen=True, slots=True)
class Side:
    """One model's results: facts and values by case id; `samples` where more than case means are known."""

    model: str
    cases: Mapping[str, CaseFacts]
    templates: frozenset[str]
    prompts: Mapping[tuple[str, str], str]
    parameters: Mapping[str, Any]
    values: Values
    samples: Samples | None = None

    @classmethod
    def of(cls, samples: Samples) -> Self:
        """Return the side of one model's samples (at least one)."""
        model = samples.models[int(samples.model[0])]
        found = [samples.cases[position] for position in np.unique(samples.case).tolist()]
        cases = {case.id: case for case in found}
        names = {case.name: case.id for case in cases.values()}
        return cls(
            model=model.alias,
            cases=cases,
            templates=frozenset(samples.templates[position] for position in np.unique(samples.template).tolist()),
            prompts={(names[name], kind): sha for (name, kind), sha in samples.prompts.items() if name in names},
            parameters=model.parameters,
            values=lambda metric, fill: case_values(samples, metric, fill),
            samples=samples,
        )


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """One model of each side: comparisons by metric, overall and by framework, category and case name."""

    a: str
    b: str
    overall: Mapping[str, Comparison]
    by_framework: Mapping[str, Mapping[str, Comparison]]
    by_category: Mapping[str, Mapping[str, Comparison]]
    by_case: Mapping[str, Mapping[str, Comparison]]


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What changed from run a to run b, model by model; `differences` lists settings that are not the same."""

    models: tuple[ModelComparison, ...]
    differences: tuple[str, ...]


def compare(records_a: Iterable[Record], records_b: Iterable[Record]) -> RunComparison:
    """Compare two runs, paired by case, on the cases that both have; differences are b - a.

    Models pair by alias; one model on each side pairs anyway; raises `PairingError` otherwise.

    >>> change = compare(load_records("reports/runs/old"), load_records("reports/latest"))  # doctest: +SKIP
    >>> change.models[0].overall["functional_pass_at_1"].difference  # doctest: +SKIP
    0.04
    """
    return compare_samples(Samples.of(records_a), Samples.of(records_b))


def compare_samples(a: Samples, b: Samples, named: str | None = None) -> RunComparison:
    """Compare two runs as `compare` does; each model of b with the `named` one of a, if given."""
    sides_a, sides_b = sides(a), sides(b)
    pairs = pair_models(list(sides_a), list(sides_b), named)
    return RunComparison(
        models=tuple(_compare_models(sides_a[first], sides_b[second]) for second, first in pairs.items()),
        differences=tuple(
            text for second, first in pairs.items() for text in setting_differences(sides_a[first], sides_b[second])
        ),
    )


def sides(samples: Samples) -> dict[str, Side]:
    """Return the side of each model that has samples."""
    present = [samples.models[position].alias for position in np.unique(samples.model).tolist()]
    return {alias: Side.of(samples.of_model(alias)) for alias in present}


def pair_models(a: Sequence[str], b: Sequence[str], named: str | None = None) -> dict[str, str]:
    """Return which model of a each model of b is compared with: the `named` one, or the one of its alias.

    One model on each side pairs anyway; raises `PairingError` listing both sides where nothing tells.
    """
    if named is not None:
        if named not in a:
            raise PairingError(f"no model {named!r}; it has {', '.join(a)}")
        return dict.fromkeys(b, named)
    if len(a) == len(b) == 1:
        return {b[0]: a[0]}
    if unpaired := [alias for alias in b if alias not in a]:
        raise PairingError(f"which model is {', '.join(unpaired)} to be compared with? it has {', '.join(a)}")
    return {alias: alias for alias in b}


def setting_differences(a: Side, b: Side) -> list[str]:
    """Return what must be the same for a paired comparison and is not, one line each; a is the baseline."""
    return [
        f"{b.model}: {text}"
        for text in (
            *_listed("cases only in the baseline", [a.cases[key].name for key in a.cases.keys() - b.cases.keys()]),
            *_listed("cases not in the baseline", [b.cases[key].name for key in b.cases.keys() - a.cases.keys()]),
            *_listed("case versions", _versions(a, b)),
            *_listed("prompts", [b.cases[case].name for case in _other_prompts(a, b)]),
            *_templates(a, b),
            *_parameters(a, b),
        )
    ]


def in_common(a: Side, b: Side) -> tuple[Side, Side]:
    """Return both sides without the cases and templates that the other has not, or has in another version."""
    other = _other_prompts(a, b)
    ids = {
        key
        for key in a.cases.keys() & b.cases.keys()
        if a.cases[key].version == b.cases[key].version and key not in other
    }
    templates = a.templates & b.templates
    return _only(a, ids, templates), _only(b, ids, templates)


def compare_sides(a: Side, b: Side, metric: str, fills: tuple[float | None, float | None] = (None, None),
                  wanted: Callable[[CaseFacts], bool] = lambda case: True) -> Comparison:  # fmt: skip
    """Compare one metric on the wanted cases; `fills` is what a missing sample of a and of b counts as."""
    values_a, values_b = a.values(metric, fills[0]), b.values(metric, fills[1])
    common = sorted(key for key in values_a.keys() & values_b.keys() if wanted(b.cases[key]))
    if not common:
        return NOTHING
    differences = np.array([values_b[key].mean - values_a[key].mean for key in common])
    noise = float(np.mean([(1 / values_a[key].n + 1 / values_b[key].n) / 2 for key in common]))
    names = [b.cases[key].name for key in common]
    better, worse, identical = _sample_changes(a, b, metric, set(common))
    low, high, detectable = _interval(differences, metric, noise)
    mean = float(differences.mean())
    if identical:
        low = high = mean = 0.0
    return Comparison(
        cases=len(common),
        difference=mean,
        low=low,
        high=high,
        better=tuple(name for name, change in zip(names, differences, strict=True) if change > 1e-12),
        worse=tuple(name for name, change in zip(names, differences, strict=True) if change < -1e-12),
        samples_better=better,
        samples_worse=worse,
        detectable=detectable,
        identical=identical,
    )


def case_values(samples: Samples, metric: str, fill: float | None = None) -> dict[str, CaseValue]:
    """Return case id -> mean; a sample that was not judged, or not for this metric, counts as `fill`.

    A case whose judged samples all lack the metric (no exploits, static tiers only) has no value.
    """
    values, judged = samples.numbers[column(metric)], samples.judged
    known = judged & ~np.isnan(values)
    size = len(samples.cases)
    applies = (np.bincount(samples.case[known], minlength=size) > 0) | (
        np.bincount(samples.case[judged], minlength=size) == 0
    )
    counted = known if fill is None else applies[samples.case]
    filled = np.where(known, values, 0.0 if fill is None else fill)
    counts = np.bincount(samples.case[counted], minlength=size)
    sums = np.bincount(samples.case[counted], weights=filled[counted], minlength=size)
    return {
        samples.cases[position].id: CaseValue(float(sums[position] / counts[position]), int(counts[position]))
        for position in np.flatnonzero(counts).tolist()
    }


def difference_interval(differences: Floats, scale: float, noise: float | None) -> tuple[float, float, float] | None:
    """Return low, high and the detectable difference of the mean of paired differences; None for fewer than 2.

    A t interval that counts two pseudo-cases more, one better and one worse, in its variance and degrees of
    freedom, after the interval of Bonett and Price (2012) for paired rates: changes that are rare enough to be
    unseen stay possible. `noise` is the variance of such a case: 1 / samples of a case, on the scale of 1.
    Where it is None (metrics that vary continuously) they count only if the differences do not vary at all.
    """
    count = len(differences)
    if count < 2:
        return None
    mean = float(differences.mean())
    squares = float(((differences - mean) ** 2).sum())
    if noise is None and squares <= 1e-24 * scale**2:
        noise = 1 / count
    freedom = count - 1
    if noise is not None:
        squares += 2 * noise * scale**2
        freedom += 2
    error = (squares / freedom / count) ** 0.5
    tail = t_quantile((1 + CONFIDENCE) / 2, freedom)
    low, high = max(-scale, mean - tail * error), min(scale, mean + tail * error)
    return low, high, (tail + t_quantile(POWER, freedom)) * error


def _interval(differences: Floats, metric: str, noise: float) -> tuple[float | None, float | None, float | None]:
    steps = metric in RATES or metric == "points"
    return difference_interval(differences, SCALES[metric], noise if steps else None) or (None, None, None)


def _compare_models(a: Side, b: Side) -> ModelComparison:
    def metrics(wanted: Callable[[CaseFacts], bool]) -> dict[str, Comparison]:
        return {metric: compare_sides(a, b, metric, wanted=wanted) for metric in METRICS}

    def groups(attribute: str) -> dict[str, dict[str, Comparison]]:
        common = a.cases.keys() & b.cases.keys()
        return {
            value: metrics(lambda case, value=value: getattr(case, attribute) == value)  # type: ignore[misc]
            for value in sorted({str(getattr(b.cases[key], attribute)) for key in common})
        }

    return ModelComparison(a.model, b.model, metrics(lambda case: True), groups("framework"), groups("category"),
                           groups("name"))  # fmt: skip


def _sample_changes(a: Side, b: Side, metric: str, ids: set[str]) -> tuple[int, int, bool]:
    """Return how many samples got better and worse, and whether both sides hold the same completions."""
    if a.samples is None or b.samples is None:
        return 0, 0, False
    rows_a, rows_b, whole = _aligned(a.samples, b.samples, ids)
    before, after = (side.numbers[column(metric)][rows] for side, rows in ((a.samples, rows_a), (b.samples, rows_b)))
    both = a.samples.judged[rows_a] & b.samples.judged[rows_b] & ~np.isnan(before) & ~np.isnan(after)
    change = np.where(both, after - before, 0.0)
    better, worse = int(np.count_nonzero(change > 1e-12)), int(np.count_nonzero(change < -1e-12))
    identical = whole and not better and not worse and bool(both.all()) and _same(a.samples, b.samples, rows_a, rows_b)
    return better, worse, identical


def _same(a: Samples, b: Samples, rows_a: Ints, rows_b: Ints) -> bool:
    """Whether the same requests (completion keys) brought the same code; a key alone can be asked twice."""
    keys = a.key[rows_a]
    return bool((keys == b.key[rows_b]).all() and (keys != 0).all() and (a.code[rows_a] == b.code[rows_b]).all())


def _aligned(a: Samples, b: Samples, ids: set[str]) -> tuple[Ints, Ints, bool]:
    """Return the rows of the samples that both have in these cases, and whether those are all."""
    cases = {key: position for position, key in enumerate(sorted(ids))}
    templates = {name: position for position, name in enumerate(sorted({*a.templates, *b.templates}))}
    width = 1 + max((int(side.sample.max()) for side in (a, b) if len(side)), default=0)

    def identity(side: Samples) -> tuple[Ints, Mask]:
        case = np.array([cases.get(facts.id, -1) for facts in side.cases], dtype=np.int64)[side.case]
        template = np.array([templates[name] for name in side.templates], dtype=np.int64)[side.template]
        return (case * len(templates) + template) * width + side.sample, case >= 0

    (code_a, in_a), (code_b, in_b) = identity(a), identity(b)
    rows_a, rows_b = np.flatnonzero(in_a), np.flatnonzero(in_b)
    common, first, second = np.intersect1d(code_a[rows_a], code_b[rows_b], return_indices=True)
    return rows_a[first], rows_b[second], len(common) == len(rows_a) == len(rows_b) > 0


def _listed(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(sorted(names)[:5])
    return [f"{what}: {shown}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")]


def _versions(a: Side, b: Side) -> list[str]:
    return [
        f"{b.cases[key].name} {a.cases[key].version} -> {b.cases[key].version}"
        for key in a.cases.keys() & b.cases.keys()
        if a.cases[key].version != b.cases[key].version
    ]


def _other_prompts(a: Side, b: Side) -> set[str]:
    return {key[0] for key in a.prompts.keys() & b.prompts.keys() if a.prompts[key] != b.prompts[key]}


def _templates(a: Side, b: Side) -> list[str]:
    if a.templates == b.templates:
        return []
    return [f"templates: {', '.join(sorted(a.templates))} -> {', '.join(sorted(b.templates))}"]


def _parameters(a: Side, b: Side) -> list[str]:
    """Compare what is sent with each request but for the seed: other seeds draw other samples of the same."""
    names = sorted({*a.parameters, *b.parameters} - {"seed"})
    return [
        f"{name}: {a.parameters.get(name)} -> {b.parameters.get(name)}"
        for name in names
        if a.parameters.get(name) != b.parameters.get(name)
    ]


def _only(side: Side, ids: set[str], templates: frozenset[str]) -> Side:
    if side.samples is not None:
        kept = side.samples.of_cases(lambda case: case.id in ids)
        names = [position for position, name in enumerate(kept.templates) if name in templates]
        kept = kept.where(np.isin(kept.template, names))
        if len(kept):
            return Side.of(kept)
    cases = {key: case for key, case in side.cases.items() if key in ids and templates}

    def values(metric: str, fill: float | None) -> Mapping[str, CaseValue]:
        return {key: value for key, value in side.values(metric, fill).items() if key in cases}

    return replace(side, cases=cases, templates=templates, values=values, samples=None)
