"""`summary.md`: the tables of a run for people and for CI summaries."""

from __future__ import annotations

from pytest_webbench.reports.tables import Table, breakdowns, costs, overall
from pytest_webbench.statistics.summary import Summary

NOTE = (
    "Pass@1 static: the code parses and has web structure. Functional: it passes every criterion of its case. "
    "Secure: functional, and every exploit was tried and failed. Rates are macro means over cases with 95 % "
    "intervals clustered by case. Web-CodeBLEU and KW-F1 are similarity to the reference, not correctness."
)


def summary_markdown(summary: Summary, notes: tuple[str, ...] = ()) -> str:
    """Return `summary.md`."""
    parts = [f"# webbench run {summary.run_id}", NOTE]
    parts += [f"> {note}" for note in notes]
    parts += [_markdown(table) for table in (overall(summary), *breakdowns(summary), costs(summary))]
    return "\n\n".join((*parts, _failures(summary))).rstrip() + "\n"


def _markdown(table: Table) -> str:
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
