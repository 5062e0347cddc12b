"""`summary.md`: the tables of a run for people and for CI summaries."""

from __future__ import annotations

from pytest_webbench.gate import Verdict
from pytest_webbench.reports.tables import (
    Table,
    breakdowns,
    costs,
    framework_table,
    leaderboards,
    overall,
    pass_at_k_table,
    similarity_tables,
)
from pytest_webbench.statistics.summary import Summary

NOTE = (
    "Pass@1 static: the code parses and has web structure. Functional: it passes every criterion of its case. "
    "Secure: functional, and every exploit was tried and failed. Rates are macro means over cases with 95 % "
    "intervals clustered by case. Web-CodeBLEU and KW-F1 are similarity to the reference, not correctness."
)


def summary_markdown(summary: Summary, verdict: Verdict | None = None) -> str:
    """Return `summary.md`."""
    tables = (
        overall(summary),
        *leaderboards(summary),
        framework_table(summary),
        *breakdowns(summary),
        costs(summary),
        pass_at_k_table(summary),
        *similarity_tables(summary),
    )
    parts = [f"# webbench run {summary.run_id}", *_gate(verdict), NOTE]
    parts += [f"> {note}" for note in notes(summary)]
    parts += [markdown_table(table) for table in tables if table.rows]
    return "\n\n".join((*parts, _interpretation(summary), _failures(summary))).rstrip() + "\n"


def notes(summary: Summary) -> list[str]:
    """Return what a reader must know before the tables: what was hidden, and what cannot be ranked."""
    hidden = [f"not shown in overviews: {alias} ({reason})" for alias, reason in sorted(summary.excluded.items())]
    return [*summary.notes, *hidden]


def _gate(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return []
    lines = [f"- {finding.outcome}: {finding.model}: {finding.rule}: {finding.reason}" for finding in verdict.findings]
    lines += [f"- note: {text}" for text in verdict.warnings]
    return [f"## Gate: {verdict.outcome}", verdict.reason, *(["\n".join(lines)] if lines else [])]


def _interpretation(summary: Summary) -> str:
    lines = [f"- **{_escaped(answer.question)}** {_escaped(answer.text)}" for answer in summary.answers]
    return "\n".join(["## Interpretation", "", *lines]) if lines else ""


def markdown_table(table: Table) -> str:
    """Return a table with its title as heading."""
    rows = [table.headings, tuple("---" for _ in table.headings), *table.rows]
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows]
    return "\n".join([f"## {table.title}", "", *lines])


def _failures(summary: Summary) -> str:
    lines = [
        f"- {model}: {name} {count}"
        for model, classes in sorted(summary.failure_classes.items())
        for name, count in sorted(classes.items())
    ]
    return "\n".join(["## Why samples did not pass", "", *lines]) if lines else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
