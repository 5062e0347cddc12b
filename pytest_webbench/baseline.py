"""Earlier results to compare a run with: an accumulated `benchmark.json`, or the records of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_webbench.records import Record, RecordError, load_records
from pytest_webbench.reports.accumulated import BenchmarkError, read_benchmark
from pytest_webbench.statistics.comparison import Comparison, compare_cases
from pytest_webbench.statistics.summary import METRICS, partition, summarise_group


class BaselineError(Exception):
    """A baseline that cannot be read, or has nothing to compare with."""


CaseMeans = Mapping[str, Mapping[str, float]]
"""Metric -> case id -> mean."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline's case means by model."""

    path: Path
    models: Mapping[str, CaseMeans]


def read_baseline(path: Path) -> Baseline:
    """Read a `benchmark.json`, a run folder or a `records.jsonl`; raises `BaselineError`."""
    if not path.exists():
        raise BaselineError(f"--webbench-baseline: {path}: no such file or run folder")
    try:
        models = _of_benchmark(path) if path.suffix == ".json" else _of_records(load_records(path))
    except (BenchmarkError, RecordError) as error:
        raise BaselineError(f"--webbench-baseline: {error}") from None
    if not models:
        raise BaselineError(f"--webbench-baseline: {path}: holds no judged sample of any model")
    return Baseline(path, models)


def against_baseline(baseline: Baseline, records: Sequence[Record]) -> dict[str, dict[str, Comparison]]:
    """Return model -> metric -> comparison for the models that the baseline has too."""
    current = _of_records(records)
    return {
        model: {
            metric: compare_cases(baseline.models[model].get(metric, {}), means.get(metric, {}))
            for metric in METRICS
        }
        for model, means in current.items()
        if model in baseline.models
    }


def _of_records(records: Sequence[Record]) -> Mapping[str, CaseMeans]:
    judged = [record for record in records if record.judged]
    return {
        model: _case_means(partition(group, lambda record: record.case_id))
        for model, group in partition(judged, lambda record: record.model).items()
    }


def _case_means(by_case: Mapping[str, Sequence[Record]]) -> CaseMeans:
    means: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
    for case, records in by_case.items():
        for metric, estimate in summarise_group((case,), records).metrics.items():
            if estimate.value is not None:
                means[metric][case] = estimate.value
    return means


def _of_benchmark(path: Path) -> Mapping[str, CaseMeans]:
    models: dict[str, dict[str, dict[str, float]]] = {}
    for entry in read_benchmark(path):
        for score in entry.get("scores", {}).values():
            if score is not None:
                means = models.setdefault(score["alias"], {metric: {} for metric in METRICS})
                for metric in METRICS:
                    if score.get(metric) is not None:
                        means[metric][entry["id"]] = score[metric]
    return models
