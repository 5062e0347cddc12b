"""Records -> Summary: the only aggregation; every report renders it and computes nothing.

Only judged samples (passed, model_failure) enter n. Rates are macro means over cases, never pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_webbench.metrics import pass_at_k
from pytest_webbench.records import Record
from pytest_webbench.statistics.intervals import mean_interval, rate_interval

RATES = {
    "pass_at_1": "static_pass",
    "functional_pass_at_1": "functional_pass",
    "secure_pass_at_1": "secure_pass",
}
MEANS = ("web_codebleu", "kw_f1", "points")
METRICS = (*RATES, *MEANS)
KS = (1, 5, 10)


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
    Times and tokens are means over the samples that have them, `cost` is the sum in USD, None where a
    sample's price is unknown.
    """

    key: tuple[str, ...]
    expected: int
    n: int
    passed: int
    coverage: float
    metrics: Mapping[str, Estimate]
    pass_at_k: Mapping[int, float | None]
    functional_pass_at_k: Mapping[int, float | None]
    cost: float | None
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


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run, by group."""

    run_id: str
    by_model: tuple[Row, ...]
    by_framework: tuple[Row, ...]
    by_category: tuple[Row, ...]
    by_difficulty: tuple[Row, ...]
    by_template: tuple[Row, ...]
    by_case: tuple[Row, ...]
    failure_classes: Mapping[str, Mapping[str, int]]


def summarise(run_id: str, records: Iterable[Record]) -> Summary:
    """Aggregate the records of a run, lost ones included."""
    rows = sorted(
        records, key=lambda record: (record.case_name, record.model, record.prompt_template, record.sample)
    )
    return Summary(
        run_id=run_id,
        by_model=_rows(rows, lambda record: (record.model,)),
        by_framework=_rows(rows, lambda record: (record.model, record.framework)),
        by_category=_rows(rows, lambda record: (record.model, record.category)),
        by_difficulty=_rows(rows, lambda record: (record.model, record.difficulty)),
        by_template=_rows(rows, lambda record: (record.model, record.prompt_template)),
        by_case=_rows(rows, lambda record: (record.case_name, record.model)),
        failure_classes=_failure_classes(rows),
    )


def partition(records: Iterable[Record], key: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Group records by `key`, in order of first appearance."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def summarise_group(key: tuple[str, ...], records: Sequence[Record]) -> Row:
    """Aggregate one group."""
    judged = [record for record in records if record.judged]
    by_case = list(partition(judged, lambda record: record.case_name).values())
    status = [record.status for record in records]
    return Row(
        key=key,
        expected=len(records),
        n=len(judged),
        passed=status.count("passed"),
        coverage=len(judged) / len(records),
        metrics={name: _estimate(name, by_case) for name in METRICS},
        pass_at_k={k: _pass_at_k(by_case, "static_pass", k) for k in KS},
        functional_pass_at_k={k: _pass_at_k(by_case, "functional_pass", k) for k in KS},
        cost=_total([record.cost for record in judged]),
        latency_seconds=_mean([record.latency_seconds for record in judged]),
        input_tokens=_mean([record.input_tokens for record in judged]),
        output_tokens=_mean([record.output_tokens for record in judged]),
        truncated=sum("truncated" in record.flags or record.finish_reason == "length" for record in judged),
        refused=sum(record.failure_class == "refused" for record in judged),
        no_code=sum(record.failure_class == "no_code" for record in judged),
        blocked=status.count("blocked"),
        infrastructure=status.count("infrastructure_error"),
        config=status.count("config_error"),
        duplicates=_duplicates(by_case),
    )


def _rows(records: Sequence[Record], key: Callable[[Record], tuple[str, ...]]) -> tuple[Row, ...]:
    return tuple(
        summarise_group(group, members) for group, members in sorted(partition(records, key).items())
    )


def _estimate(metric: str, by_case: Sequence[Sequence[Record]]) -> Estimate:
    attribute = RATES.get(metric, metric)
    values = [
        [float(value) for record in records if (value := getattr(record, attribute)) is not None]
        for records in by_case
    ]
    values = [case for case in values if case]
    if not values:
        return Estimate(None, 0, 0)
    means = [sum(case) / len(case) for case in values]
    interval = rate_interval(values) if metric in RATES else mean_interval(means)
    low, high = interval or (None, None)
    return Estimate(sum(means) / len(means), sum(map(len, values)), len(values), low, high)


def _pass_at_k(by_case: Sequence[Sequence[Record]], attribute: str, k: int) -> float | None:
    values = []
    for records in by_case:
        outcomes = [value for record in records if (value := getattr(record, attribute)) is not None]
        if outcomes:
            values.append(pass_at_k(len(outcomes), sum(outcomes), k))
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum, or None where nothing or not everything is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _duplicates(by_case: Sequence[Sequence[Record]]) -> int:
    """Count samples whose code another sample of the same case and template has too, at temperature > 0."""
    count = 0
    for records in by_case:
        warm = [
            record
            for record in records
            if record.code_sha and (record.parameters.get("temperature") or 0) > 0
        ]
        groups = partition(warm, lambda record: (record.model, record.prompt_template, record.code_sha))
        count += sum(len(group) - 1 for group in groups.values())
    return count


def _failure_classes(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        if record.failure_class is not None:
            classes = counts.setdefault(record.model, {})
            name = f"{record.status}:{record.failure_class}"
            classes[name] = classes.get(name, 0) + 1
    return counts
