"""The tables of a Summary as headings and rows of text: what terminal, markdown and CSV have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_webbench.statistics.summary import Estimate, Row, Summary

UNKNOWN = "n/a"


@dataclass(frozen=True, slots=True)
class Table:
    """A title, headings and rows of equal length."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def overall(summary: Summary) -> Table:
    """One row a model: the leaderboard."""
    return _table("Models", ("model",), summary.by_model)


def breakdowns(summary: Summary) -> tuple[Table, ...]:
    """The groups within each model: framework, category, difficulty, template."""
    return (
        _table("By framework", ("model", "framework"), summary.by_framework),
        _table("By category", ("model", "category"), summary.by_category),
        _table("By difficulty", ("model", "difficulty"), summary.by_difficulty),
        _table("By prompt template", ("model", "template"), summary.by_template),
    )


def costs(summary: Summary) -> Table:
    """Tokens, cost and time of each model."""
    rows = [
        (
            *row.key,
            number(row.input_tokens, 0),
            number(row.output_tokens, 0),
            number(row.latency_seconds, 1),
            number(row.cost, 4),
        )
        for row in summary.by_model
    ]
    headings = ("model", "input tokens", "output tokens", "seconds a completion", "cost USD")
    return Table("Cost and time", headings, tuple(rows))


def rate(estimate: Estimate) -> str:
    """A rate with its interval, such as `0.500 [0.21, 0.79]`."""
    if estimate.value is None:
        return UNKNOWN
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def number(value: float | None, digits: int) -> str:
    """A number, or `n/a` where it is not known."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def share(count: int, n: int) -> str:
    """A share of judged samples in per cent."""
    return UNKNOWN if n == 0 else f"{100 * count / n:.0f} %"


def _table(title: str, keys: tuple[str, ...], rows: Sequence[Row]) -> Table:
    headings = (
        *keys,
        "n",
        "coverage",
        "Pass@1 static",
        "Pass@1 functional",
        "Pass@1 secure",
        "points",
        "Web-CodeBLEU",
        "KW-F1",
        "truncated",
        "refused",
    )
    return Table(title, headings, tuple(_cells(row) for row in rows))


def _cells(row: Row) -> tuple[str, ...]:
    metrics = row.metrics
    return (
        *row.key,
        str(row.n),
        f"{100 * row.coverage:.0f} %",
        rate(metrics["pass_at_1"]),
        rate(metrics["functional_pass_at_1"]),
        rate(metrics["secure_pass_at_1"]),
        number(metrics["points"].value, 1),
        number(metrics["web_codebleu"].value, 3),
        number(metrics["kw_f1"].value, 3),
        share(row.truncated, row.n),
        share(row.refused, row.n),
    )
