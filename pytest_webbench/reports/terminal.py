"""What the terminal shows at the end of a run, and while it waits for models."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_webbench.reports.tables import UNKNOWN, Table, overall, share
from pytest_webbench.reports.text import text_table
from pytest_webbench.statistics.comparison import Comparison
from pytest_webbench.statistics.summary import Row, Summary

TRUNCATION_WARNING = 0.05


def leaderboard(summary: Summary, width: int) -> str:
    """Return the table of models as text no wider than `width` columns."""
    return text_table(_narrowed(overall(summary), width), width)


def flags(summary: Summary) -> list[str]:
    """Return what a reader must know beside the figures, one line each."""
    return [line for row in summary.by_model for line in _flags(row)]


def changes(by_model: Mapping[str, Mapping[str, Comparison]]) -> list[str]:
    """Return the differences to a baseline, one line a model and metric that both have."""
    return [
        f"{model}: {metric} {_signed(comparison)} against the baseline ({comparison.cases} cases, "
        f"{len(comparison.better)} better, {len(comparison.worse)} worse)"
        for model, metrics in by_model.items()
        for metric, comparison in metrics.items()
        if comparison.cases
    ]


def _signed(comparison: Comparison) -> str:
    if comparison.difference is None:
        return UNKNOWN
    interval = "" if comparison.low is None else f" [{comparison.low:+.3f}, {comparison.high:+.3f}]"
    return f"{comparison.difference:+.3f}{interval}"


def _flags(row: Row) -> list[str]:
    model = row.key[0]
    lost = row.expected - row.n
    lines = []
    if lost:
        parts = (
            (row.infrastructure, "infrastructure"),
            (row.config, "configuration"),
            (row.blocked, "blocked"),
        )
        why = ", ".join(f"{count} {name}" for count, name in parts if count)
        lines.append(f"{model}: {lost} of {row.expected} samples not judged ({why})")
    if row.n and row.truncated / row.n > TRUNCATION_WARNING:
        lines.append(
            f"{model}: {share(row.truncated, row.n)} of the answers were cut at max_tokens; consider raising it"
        )
    if row.n and row.no_code / row.n > TRUNCATION_WARNING:
        lines.append(
            f"{model}: {share(row.no_code, row.n)} of the answers held no code; look at some with 'webbench show'"
        )
    if row.duplicates:
        lines.append(
            f"{model}: {row.duplicates} samples equal another one of their case: copies are one sample"
        )
    return lines


def _narrowed(table: Table, width: int) -> Table:
    """Leave out columns until the table fits: first those that say nothing, then those that matter least."""
    empty = [
        heading
        for position, heading in enumerate(table.headings)
        if all(row[position] == UNKNOWN for row in table.rows)
    ]
    droppable = [*empty, "refused", "truncated", "KW-F1", "coverage", "points", "Web-CodeBLEU"]
    keep = list(range(len(table.headings)))
    while droppable and _width(table, keep) > width:
        name = droppable.pop(0)
        keep = [position for position in keep if table.headings[position] != name]
    headings = tuple(table.headings[position] for position in keep)
    return Table(
        table.title, headings, tuple(tuple(row[position] for position in keep) for row in table.rows)
    )


def _width(table: Table, keep: list[int]) -> int:
    columns = [max(len(row[position]) for row in (table.headings, *table.rows)) for position in keep]
    return sum(columns) + 2 * (len(columns) - 1)
