"""CSV tables of a run: leaderboard, groups, samples."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from pytest_webbench.records import Record
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
    "status",
    "failure_class",
    "points",
    "static_pass",
    "functional_pass",
    "secure_pass",
    "web_codebleu",
    "ngram",
    "weighted_ngram",
    "syntax",
    "dataflow",
    "kw_precision",
    "kw_recall",
    "kw_f1",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "cost",
    "latency_seconds",
)


def csv_files(summary: Summary, records: Iterable[Record]) -> dict[str, str]:
    """Return the text of each CSV file by its name."""
    return {
        "leaderboard.csv": _groups(("model",), summary.by_model),
        "by_framework.csv": _groups(("model", "framework"), summary.by_framework),
        "by_template.csv": _groups(("model", "template"), summary.by_template),
        "samples.csv": _text([SAMPLE_COLUMNS, *(_sample(record) for record in records)]),
    }


def _groups(keys: tuple[str, ...], rows: Sequence[Row]) -> str:
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
    return _text([(*keys, *counts, *metrics, *sums), *body])


def _metrics(row: Row) -> list[float | None]:
    estimates = [row.metrics[name] for name in METRICS]
    return [value for estimate in estimates for value in (estimate.value, estimate.low, estimate.high)]


def _sample(record: Record) -> list[object]:
    return [getattr(record, column) for column in SAMPLE_COLUMNS]


def _text(rows: Iterable[Sequence[object]]) -> str:
    """Write rows as CSV; unknown is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
