"""CSV tables of a run: leaderboard, groups, samples."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from pytest_webbench.records import OUTCOME_FIELDS
from pytest_webbench.statistics.samples import NUMBERS, PASSES, STATUSES, Samples
from pytest_webbench.statistics.summary import METRICS, Row, Summary

SAMPLE_COLUMNS = (
    "case_id",
    "case_name",
    "framework",
    "category",
    "difficulty",
    "model",
    "model_id",
    "prompt_template",
    "sample",
    *OUTCOME_FIELDS,
)
NUMBER_COLUMNS = tuple(name for name in SAMPLE_COLUMNS if name in NUMBERS)
PART = 20_000
WHOLE = ("input_tokens", "output_tokens")


def write_csv_files(folder: Path, summary: Summary, samples: Samples) -> list[Path]:
    """Write the CSV tables of a run; return the files. Unknown is an empty cell."""
    tables: dict[str, Iterable[Sequence[object]]] = {
        "leaderboard.csv": _leaderboard(summary),
        "by_framework.csv": _groups(("model", "framework"), summary.by_framework),
        "by_template.csv": _groups(("model", "template"), summary.by_template),
        "samples.csv": chain([SAMPLE_COLUMNS], chain.from_iterable(map(_samples, _parts(samples)))),
    }
    for name, rows in tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return [folder / name for name in tables]


def _leaderboard(summary: Summary) -> list[Sequence[object]]:
    """Return one row a model, with what it costs to be as good and how large it is."""
    headings, *body = _groups(("model",), summary.by_model)
    facts = [summary.models[row.key[0]] for row in summary.by_model]
    more = [(row.points_per_cent, model.model_id, model.hosting, model.size_b, model.exclude)
            for row, model in zip(summary.by_model, facts, strict=True)]  # fmt: skip
    names = ("points_per_cent", "model_id", "hosting", "size_b", "exclude")
    return [(*headings, *names), *((*row, *added) for row, added in zip(body, more, strict=True))]


def _groups(keys: tuple[str, ...], rows: Sequence[Row]) -> list[Sequence[object]]:
    metrics = [column for name in METRICS for column in (name, f"{name}_low", f"{name}_high")]
    counts = (
        "expected",
        "n",
        "coverage",
        "passed",
        "truncated",
        "refused",
        "no_code",
        "blocked",
        "infrastructure",
    )
    sums = ("cost", "latency_seconds", "input_tokens", "output_tokens")
    body = [(*row.key, *(getattr(row, name) for name in counts), *_metrics(row), *(getattr(row, name) for name in sums))
            for row in rows]  # fmt: skip
    return [(*keys, *counts, *metrics, *sums), *body]


def _metrics(row: Row) -> list[float | None]:
    estimates = [row.metrics[name] for name in METRICS]
    return [value for estimate in estimates for value in (estimate.value, estimate.low, estimate.high)]


def _parts(samples: Samples) -> Iterator[Samples]:
    """Yield the samples in parts, so that a million of them are never text at once."""
    for start in range(0, len(samples), PART):
        yield samples.at(np.arange(start, min(start + PART, len(samples))))


def _samples(samples: Samples) -> Iterator[Sequence[object]]:
    """Yield one row a sample in report order."""
    numbers = [samples.numbers[name].tolist() for name in NUMBER_COLUMNS]
    position = {name: place for place, name in enumerate(NUMBER_COLUMNS)}
    texts = (samples.case, samples.model, samples.template, samples.sample, samples.status, samples.failure,
             samples.finish)  # fmt: skip
    for row in zip(*(column.tolist() for column in texts), *numbers, strict=True):
        case, model, template, sample, status, failure, finish, *values = row
        facts, who = samples.cases[case], samples.models[model]
        cells = {
            "case_id": facts.id,
            "case_name": facts.name,
            "framework": facts.framework,
            "category": facts.category,
            "difficulty": facts.difficulty,
            "model": who.alias,
            "model_id": who.model_id,
            "prompt_template": samples.templates[template],
            "sample": sample,
            "status": STATUSES[status],
            "failure_class": samples.failures[failure] if failure >= 0 else None,
            "finish_reason": samples.finishes[finish] if finish >= 0 else None,
        }
        yield [cells[name] if name in cells else _number(name, values[position[name]]) for name in SAMPLE_COLUMNS]


def _number(name: str, value: float) -> object:
    if value != value:
        return None
    if name in PASSES:
        return value == 1
    return int(value) if name in WHOLE else value
