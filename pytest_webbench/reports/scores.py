"""`midpoint_scores.txt`: n, mean, median, standard deviation, minimum and maximum per model and metric."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median, stdev

from pytest_webbench.records import Record
from pytest_webbench.statistics.summary import MEANS, partition

HEADINGS = ("metric", "n", "mean", "median", "stdev", "min", "max")


def midpoint_scores(records: Sequence[Record]) -> str:
    """Return the text: one block a model, one line a metric, over judged samples."""
    judged = [record for record in records if record.judged]
    blocks = [
        _block(model, group)
        for model, group in sorted(partition(judged, lambda record: record.model).items())
    ]
    return "\n\n".join(blocks) + "\n" if blocks else "no judged samples\n"


def _block(model: str, records: Sequence[Record]) -> str:
    lines = [model, _line(HEADINGS)]
    for metric in MEANS:
        values = [value for record in records if (value := getattr(record, metric)) is not None]
        lines.append(_line((metric, str(len(values)), *_statistics(values))))
    return "\n".join(lines)


def _statistics(values: Sequence[float]) -> tuple[str, ...]:
    if not values:
        return ("n/a",) * 5
    spread = f"{stdev(values):.4f}" if len(values) > 1 else "n/a"
    return f"{fmean(values):.4f}", f"{median(values):.4f}", spread, f"{min(values):.4f}", f"{max(values):.4f}"


def _line(cells: Sequence[str]) -> str:
    return "  ".join((cells[0].ljust(14), *(cell.rjust(8) for cell in cells[1:]))).rstrip()
