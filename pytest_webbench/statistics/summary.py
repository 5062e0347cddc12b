"""Samples -> Summary: the only aggregation; every report renders it and computes nothing.

Only judged samples (passed, model_failure) enter n. Rates are macro means over cases, never pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from pytest_webbench.metrics import pass_at_k
from pytest_webbench.records import Record
from pytest_webbench.statistics.answers import Answer, answers
from pytest_webbench.statistics.hypotheses import AS_IS, AS_IS_ALONE, hypotheses
from pytest_webbench.statistics.intervals import Floats, mean_interval, rate_interval
from pytest_webbench.statistics.metrics import MEANS, METRICS, RATES, SCALES, column
from pytest_webbench.statistics.samples import (
    MODEL_CHANGED,
    STATUSES,
    SUSPECTED,
    TRUNCATED,
    WARM,
    Ints,
    ModelFacts,
    Samples,
    groups,
)
from pytest_webbench.statistics.similarity import Similarity, similarity

__all__ = [
    "MEANS",
    "METRICS",
    "RATES",
    "Estimate",
    "Row",
    "Spread",
    "Summary",
    "partition",
    "row",
    "summarise",
    "summarise_group",
    "summarise_samples",
]

KS = (1, 5, 10)
NEEDED = (*RATES.values(), *MEANS, "cost", "latency_seconds", "input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A macro mean over cases; `n` judged samples in `cases` cases; None where nothing was measured."""

    value: float | None
    n: int
    cases: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One group of samples, such as a model, or a model on one framework.

    `expected` samples were asked for, `n` of them judged; `coverage` is their ratio. `pass_at_k` holds the
    static pass@k for k of 1, 5 and 10, `functional_pass_at_k` likewise: None where a case has n < k.
    `suspected` answers or prompts
    were perhaps cut without a word, `model_changed` came from another model than the server named before.
    Times and tokens are means over the samples that have them, `cost` is the sum in USD, None where a
    sample's price is unknown; `points_per_cent` is the mean points over the mean cost of a sample in US
    cents, None where that is unknown or nothing.
    """

    key: tuple[str, ...]
    expected: int
    n: int
    passed: int
    coverage: float
    metrics: Mapping[str, Estimate]
    pass_at_k: Mapping[int, Estimate]
    functional_pass_at_k: Mapping[int, Estimate]
    cost: float | None
    points_per_cent: float | None
    latency_seconds: float | None
    input_tokens: float | None
    output_tokens: float | None
    truncated: int
    refused: int
    no_code: int
    blocked: int
    infrastructure: int
    config: int
    duplicates: int
    suspected: int
    model_changed: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How a metric spreads over the judged samples of a model; `stdev` is None for one sample."""

    n: int
    mean: float
    median: float
    stdev: float | None
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run, by group.

    `ranking` orders the models that overviews show by their functional rate (the static one where only that
    was measured) on the `common_cases` that all of them were measured on; `excluded` maps the others to
    the reason. `by_template_overall` averages over the combinations of case and template that all shown
    models have. `notes` say what the figures cannot.
    """

    run_id: str
    models: Mapping[str, ModelFacts]
    ranking: tuple[str, ...]
    excluded: Mapping[str, str]
    common_cases: int
    notes: tuple[str, ...]
    by_model: tuple[Row, ...]
    by_framework: tuple[Row, ...]
    by_category: tuple[Row, ...]
    by_difficulty: tuple[Row, ...]
    by_template: tuple[Row, ...]
    by_template_overall: tuple[Row, ...]
    by_case: tuple[Row, ...]
    failure_classes: Mapping[str, Mapping[str, int]]
    spread: Mapping[str, Mapping[str, Spread]]
    similarity: Similarity
    answers: tuple[Answer, ...]


def summarise(run_id: str, records: Iterable[Record], description: Mapping[str, Any] | None = None) -> Summary:
    """Aggregate the records of a run; `description` is its `run.json`, whose expected samples may be lost."""
    return summarise_samples(run_id, Samples.of(records, description))


def summarise_samples(run_id: str, samples: Samples) -> Summary:
    """Aggregate the samples of a run."""
    samples = samples.with_numbers(NEEDED)
    facts = {model.alias: model for model in samples.models}
    excluded = {alias: model.exclude for alias, model in facts.items() if model.exclude}
    shown = [alias for alias in facts if alias not in excluded] or list(facts)
    by_model = _rows(samples, _models)
    ranking, common = _ranking(samples, shown)
    return Summary(
        run_id=run_id,
        models=facts,
        ranking=ranking,
        excluded=excluded if shown != list(facts) else {},
        common_cases=common,
        notes=(*_notes(samples, shown, common), *([AS_IS_ALONE] if samples.templates == (AS_IS,) else [])),
        by_model=by_model,
        by_framework=_rows(samples, _models, _attribute("framework")),
        by_category=_rows(samples, _models, _attribute("category")),
        by_difficulty=_rows(samples, _models, _attribute("difficulty")),
        by_template=_rows(samples, _models, _templates),
        by_template_overall=_rows(_shared_cells(samples, shown), _templates),
        by_case=_rows(samples, _cases, _models),
        failure_classes=_failure_classes(samples),
        spread=_spreads(samples),
        similarity=similarity(samples, shown),
        answers=(*answers(samples, shown), *hypotheses(samples, shown)),
    )


def row(key: tuple[str, ...], samples: Samples) -> Row:
    """Aggregate one group of at least one sample."""
    judged = samples.where(samples.judged)
    metrics = {name: _estimate(judged, name) for name in METRICS}
    cost = _total(judged.numbers["cost"])
    counts = np.bincount(samples.status, minlength=len(STATUSES)).tolist()
    return Row(
        key=key,
        expected=len(samples),
        n=len(judged),
        passed=counts[0],
        coverage=len(judged) / len(samples),
        metrics=metrics,
        pass_at_k={k: _pass_at_k(judged, "pass_at_1", k) for k in KS},
        functional_pass_at_k={k: _pass_at_k(judged, "functional_pass_at_1", k) for k in KS},
        cost=cost,
        points_per_cent=_points_per_cent(metrics["points"].value, cost, len(judged)),
        latency_seconds=_mean(judged.numbers["latency_seconds"]),
        input_tokens=_mean(judged.numbers["input_tokens"]),
        output_tokens=_mean(judged.numbers["output_tokens"]),
        truncated=int(np.count_nonzero(judged.marks & TRUNCATED)),
        refused=_failing(samples, "refused"),
        no_code=_failing(samples, "no_code"),
        blocked=counts[2],
        infrastructure=counts[3],
        config=counts[4],
        duplicates=_duplicates(judged),
        suspected=int(np.count_nonzero(judged.marks & SUSPECTED)),
        model_changed=int(np.count_nonzero(samples.marks & MODEL_CHANGED)),
    )


def summarise_group(key: tuple[str, ...], records: Sequence[Record]) -> Row:
    """Aggregate the records of one group, at least one."""
    return row(key, Samples.of(records))


def partition(records: Iterable[Record], key: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Group records by `key`, in order of first appearance."""
    found: dict[Any, list[Record]] = {}
    for record in records:
        found.setdefault(key(record), []).append(record)
    return found


Grouping = Callable[[Samples], tuple[Sequence[str], Ints]]


def _models(samples: Samples) -> tuple[Sequence[str], Ints]:
    return [model.alias for model in samples.models], samples.model


def _templates(samples: Samples) -> tuple[Sequence[str], Ints]:
    return samples.templates, samples.template


def _cases(samples: Samples) -> tuple[Sequence[str], Ints]:
    return [case.name for case in samples.cases], samples.case


def _attribute(name: str) -> Grouping:
    return lambda samples: samples.attribute(name)


def _rows(samples: Samples, *groupings: Grouping) -> tuple[Row, ...]:
    names, keys = zip(*(grouping(samples) for grouping in groupings), strict=True)
    return tuple(
        row(
            tuple(known[position] for known, position in zip(names, group, strict=True)),
            samples if len(rows) == len(samples) else samples.at(rows),
        )
        for group, rows in groups(keys)
    )


def _estimate(judged: Samples, metric: str) -> Estimate:
    means, n = case_means(judged, column(metric))
    if not n:
        return Estimate(None, 0, 0)
    interval = rate_interval(means, n) if metric in RATES else mean_interval(means, SCALES[metric])
    low, high = interval or (None, None)
    return Estimate(float(means.mean()), n, len(means), low, high)


def case_means(judged: Samples, name: str) -> tuple[Floats, int]:
    """Return the mean of a column in each case that has it, and over how many samples."""
    values = judged.numbers[name]
    known = ~np.isnan(values)
    cases = judged.case[known]
    counts = np.bincount(cases)
    sums = np.bincount(cases, weights=values[known])
    return sums[counts > 0] / counts[counts > 0], len(cases)


def _pass_at_k(judged: Samples, metric: str, k: int) -> Estimate:
    values = judged.numbers[column(metric)]
    known = ~np.isnan(values)
    cases = judged.case[known]
    counts = np.bincount(cases)
    passes = np.bincount(cases, weights=values[known])
    present = counts > 0
    each = [_of_case(int(n), int(c), k) for n, c in zip(counts[present], passes[present], strict=True)]
    rates = [value for value in each if value is not None]
    if not rates or len(rates) < len(each):
        return Estimate(None, len(cases), len(each))
    low, high = rate_interval(np.array(rates), len(cases))
    return Estimate(sum(rates) / len(rates), len(cases), len(each), low, high)


@lru_cache(maxsize=4096)
def _of_case(n: int, c: int, k: int) -> float | None:
    return pass_at_k(n, c, k)


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _total(values: Floats) -> float | None:
    """Return the sum, or None where nothing or not everything is known."""
    return None if not len(values) or np.isnan(values).any() else float(values.sum())


def _points_per_cent(points: float | None, cost: float | None, n: int) -> float | None:
    return points / (100 * cost / n) if points is not None and cost else None


def _failing(samples: Samples, failure: str) -> int:
    if failure not in samples.failures:
        return 0
    return int(np.count_nonzero(samples.failure == samples.failures.index(failure)))


def _duplicates(judged: Samples) -> int:
    """Count samples whose code another sample of the same case and template has too, at temperature > 0."""
    warm = judged.where((judged.code != 0) & (judged.marks & WARM > 0))
    if not len(warm):
        return 0
    identity = np.stack([warm.case, warm.model, warm.template, warm.code])
    return len(warm) - int(np.unique(identity, axis=1).shape[1])


def _failure_classes(samples: Samples) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for (model, status, failure), rows in groups((samples.model, samples.status, samples.failure)):
        if failure >= 0:
            classes = counts.setdefault(samples.models[model].alias, {})
            classes[f"{STATUSES[status]}:{samples.failures[failure]}"] = len(rows)
    return counts


def _spreads(samples: Samples) -> dict[str, dict[str, Spread]]:
    return {
        samples.models[model].alias: {
            metric: _spread(values[~np.isnan(values)])
            for metric in MEANS
            if not np.isnan(values := samples.numbers[metric][rows[samples.judged[rows]]]).all()
        }
        for (model,), rows in groups((samples.model,))
        if samples.judged[rows].any()
    }


def _spread(values: Floats) -> Spread:
    stdev = float(values.std(ddof=1)) if len(values) > 1 else None
    return Spread(
        len(values), float(values.mean()), float(np.median(values)), stdev, float(values.min()), float(values.max())
    )


def _shared_cells(samples: Samples, shown: Sequence[str]) -> Samples:
    """Keep the shown models' samples of those combinations of case and template that each of them has."""
    positions = _positions(samples, shown)
    cell = samples.case.astype(np.int64) * len(samples.templates) + samples.template
    have = [np.unique(cell[samples.judged & (samples.model == position)]) for position in positions]
    shared = reduce(np.intersect1d, have)
    return samples.where(np.isin(samples.model, positions) & np.isin(cell, shared))


def _positions(samples: Samples, shown: Sequence[str]) -> list[int]:
    return [position for position, model in enumerate(samples.models) if model.alias in shown]


def _ranking(samples: Samples, shown: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Order the models by what they reach on the cases that all have; return it and how many cases that are."""
    functional = not np.isnan(samples.numbers["functional_pass"][samples.judged]).all()
    measured = "functional_pass" if functional else "static_pass"
    known = samples.judged & ~np.isnan(samples.numbers[measured])
    have = [np.unique(samples.case[known & (samples.model == position)]) for position in _positions(samples, shown)]
    measuring = [cases for cases in have if len(cases)]
    common = reduce(np.intersect1d, measuring) if measuring else np.zeros(0, dtype=np.int64)
    wanted = known & np.isin(samples.case, common)
    scores = {
        samples.models[position].alias: _scores(samples.where(wanted & (samples.model == position)), measured)
        for position in _positions(samples, shown)
    }
    return tuple(sorted(shown, key=lambda alias: (*scores[alias], alias))), len(common)


def _scores(samples: Samples, measured: str) -> tuple[float, float]:
    """Return what sorts better models first: passes, then points; unmeasured last."""
    return tuple(
        -float(means.mean()) if n else 1.0 for means, n in (case_means(samples, name) for name in (measured, "points"))
    )  # type: ignore[return-value]


def _notes(samples: Samples, shown: Sequence[str], common: int) -> tuple[str, ...]:
    positions = _positions(samples, shown)
    counts = {
        samples.models[position].alias: len(np.unique(samples.case[samples.judged & (samples.model == position)]))
        for position in positions
    }
    whole = len(np.unique(samples.case[np.isin(samples.model, positions)]))
    fewer = [f"{alias} on {count} of {whole}" for alias, count in counts.items() if count < whole]
    if not fewer or len(shown) < 2:
        return ()
    if not common:
        return ("the models were measured on different cases and are not ranked: " + ", ".join(fewer),)
    return (f"ranked on the {common} cases that all measured models have; incomplete: {', '.join(fewer)}",)
