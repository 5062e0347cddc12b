"""`midpoint_scores.txt`: n, mean, median, standard deviation, minimum and maximum per model and metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_webbench.statistics.summary import MEANS, Spread, Summary

HEADINGS = ("metric", "n", "mean", "median", "stdev", "min", "max")
UNKNOWN = "n/a"


def midpoint_scores(summary: Summary) -> str:
    """Return the text: one block a model, one line a metric, over judged samples."""
    blocks = [_block(model, metrics) for model, metrics in sorted(summary.spread.items())]
    return "\n\n".join(blocks) + "\n" if blocks else "no judged samples\n"


def _block(model: str, metrics: Mapping[str, Spread]) -> str:
    return "\n".join([model, _line(HEADINGS), *(_line((metric, *_cells(metrics.get(metric)))) for metric in MEANS)])


def _cells(spread: Spread | None) -> tuple[str, ...]:
    if spread is None:
        return ("0", *(UNKNOWN,) * 5)
    figures = (spread.mean, spread.median, spread.stdev, spread.minimum, spread.maximum)
    return (str(spread.n), *(UNKNOWN if figure is None else f"{figure:.4f}" for figure in figures))


def _line(cells: Sequence[str]) -> str:
    return "  ".join((cells[0].ljust(14), *(cell.rjust(8) for cell in cells[1:]))).rstrip()
