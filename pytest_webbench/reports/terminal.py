"""What the terminal shows at the end of a run, and while it waits for models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_webbench.gate import Verdict
from pytest_webbench.reports.markdown import notes
from pytest_webbench.reports.tables import UNKNOWN, Table, difference, overall, share
from pytest_webbench.reports.text import text_table
from pytest_webbench.statistics.comparison import Comparison
from pytest_webbench.statistics.summary import Row, Summary

TRUNCATION_WARNING = 0.05
LEAST = ("seconds", "cost USD", "refused", "truncated", "KW-F1", "coverage", "points", "Web-CodeBLEU")
"""Columns that a narrow terminal can do without, the least important first."""


def leaderboard(summary: Summary, width: int) -> str:
    """Return the table of models as text no wider than `width` columns."""
    return text_table(narrowed(overall(summary), width, LEAST), width)


def flags(summary: Summary) -> list[str]:
    """Return what a reader must know beside the figures, one line each."""
    return [*notes(summary), *(line for row in summary.by_model for line in _flags(row))]


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return the gate's outcome and reason, then each finding and each warning."""
    lines = [f"gate: {verdict.outcome.upper()}: {verdict.reason}"]
    lines += [f"  {finding.outcome}: {finding.model}: {finding.rule}: {finding.reason}" for finding in verdict.findings]
    return [*lines, *(f"  note: {text}" for text in verdict.warnings)]


def changes(by_model: Mapping[str, Mapping[str, Comparison]]) -> list[str]:
    """Return the differences to a baseline, one line a model and metric that both have."""
    return [
        f"{model}: {metric} {difference(comparison)} against the baseline ({comparison.cases} cases, "
        f"{len(comparison.better)} better, {len(comparison.worse)} worse)"
        for model, metrics in by_model.items()
        for metric, comparison in metrics.items()
        if comparison.cases
    ]


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
        lines.append(f"{model}: {lost} of {row.expected} samples not judged ({why}); {_headline(row)}")
    if row.n and row.truncated / row.n > TRUNCATION_WARNING:
        lines.append(
            f"{model}: {share(row.truncated, row.n)} of the answers were cut at max_tokens; consider raising it"
        )
    if row.n and row.no_code / row.n > TRUNCATION_WARNING:
        lines.append(
            f"{model}: {share(row.no_code, row.n)} of the answers held no code; look at some with 'webbench show'"
        )
    if row.duplicates:
        lines.append(f"{model}: {row.duplicates} samples equal another one of their case: copies are one sample")
    if row.suspected:
        lines.append(
            f"{model}: {row.suspected} answers or prompts were perhaps cut by the server without a word; "
            "is its context large enough?"
        )
    if row.model_changed:
        lines.append(
            f"{model}: the server named another model than before for {row.model_changed} answers: "
            "they may not be comparable (model_returned in records.jsonl)"
        )
    return lines


def _headline(row: Row) -> str:
    """Say of how many samples the rate is, and what it could be whatever the missing ones are."""
    functional = row.metrics["functional_pass_at_1"]
    estimate = functional if functional.value is not None else row.metrics["pass_at_1"]
    if estimate.value is None:
        return "no rate is known"
    low, high = estimate.value * row.coverage, estimate.value * row.coverage + 1 - row.coverage
    return f"{estimate.value:.3f} is of {row.n} samples in {estimate.cases} cases, {low:.3f} to {high:.3f} of all"


def narrowed(table: Table, width: int, least: Sequence[str]) -> Table:
    """Leave out columns until the table fits: first those that say nothing, then the `least` important ones."""
    empty = [
        heading
        for position, heading in enumerate(table.headings)
        if all(row[position] == UNKNOWN for row in table.rows)
    ]
    droppable = [*empty, *least]
    keep = list(range(len(table.headings)))
    while droppable and _width(table, keep) > width:
        name = droppable.pop(0)
        keep = [position for position in keep if table.headings[position] != name]
    headings = tuple(table.headings[position] for position in keep)
    return Table(table.title, headings, tuple(tuple(row[position] for position in keep) for row in table.rows))


def _width(table: Table, keep: list[int]) -> int:
    columns = [max(len(row[position]) for row in (table.headings, *table.rows)) for position in keep]
    return sum(columns) + 2 * (len(columns) - 1)
