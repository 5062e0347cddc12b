"""The tables of a Summary as headings and rows of text: what terminal, markdown and CSV have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_webbench.statistics.comparison import Comparison
from pytest_webbench.statistics.summary import Estimate, Row, Summary

UNKNOWN = "n/a"


@dataclass(frozen=True, slots=True)
class Table:
    """A title, headings and rows of equal length."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def overall(summary: Summary) -> Table:
    """One row a shown model, best first: the leaderboard."""
    headings = ("model", *HEADINGS, "cost USD", "seconds")
    rows = [
        (*_cells(row), number(row.cost, 4), number(row.latency_seconds, 1)) for row in _ranked(summary, summary.ranking)
    ]
    return Table("Models", headings, tuple(rows))


def leaderboards(summary: Summary) -> tuple[Table, ...]:
    """One leaderboard of the paid models and one of the local ones, each where there are any."""
    by_hosting = {
        hosting: [alias for alias in summary.ranking if summary.models[alias].hosting == hosting]
        for hosting in ("paid", "local")
    }
    makers = {"paid": _paid, "local": _local}
    return tuple(makers[hosting](summary, aliases) for hosting, aliases in by_hosting.items() if aliases)


def framework_table(summary: Summary) -> Table:
    """One row a framework, one column a shown model: the functional rate, the static one where only that is known."""
    metric = measured(summary)
    cells = {row.key: rate(row.metrics[metric]) for row in summary.by_framework}
    frameworks = sorted({framework for _, framework in cells})
    rows = [
        (framework, *(cells.get((alias, framework), UNKNOWN) for alias in summary.ranking)) for framework in frameworks
    ]
    return Table(f"Frameworks: {TITLES[metric]}", ("framework", *summary.ranking), tuple(rows))


def breakdowns(summary: Summary) -> tuple[Table, ...]:
    """The groups within each shown model: framework, category, difficulty, template; and templates over all."""
    shown = set(summary.ranking)

    def of_shown(rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row.key[0] in shown]

    return (
        _table("By framework", ("model", "framework"), of_shown(summary.by_framework)),
        _table("By category", ("model", "category"), of_shown(summary.by_category)),
        _table("By difficulty", ("model", "difficulty"), of_shown(summary.by_difficulty)),
        _table("By prompt template", ("model", "template"), of_shown(summary.by_template)),
        _table("Prompt templates, where all shown models have them", ("template",), summary.by_template_overall),
    )


def costs(summary: Summary) -> Table:
    """Tokens, cost and time of each shown model."""
    rows = [
        (
            *row.key,
            number(row.input_tokens, 0),
            number(row.output_tokens, 0),
            number(row.latency_seconds, 1),
            number(row.cost, 4),
        )
        for row in _ranked(summary, summary.ranking)
    ]
    headings = ("model", "input tokens", "output tokens", "seconds a completion", "cost USD")
    return Table("Cost and time", headings, tuple(rows))


def pass_at_k_table(summary: Summary) -> Table:
    """Functional and static pass@k of each shown model; unknown where a case has fewer than k samples."""
    rows = [
        (*row.key, *(rate(of_k[k]) for of_k in (row.functional_pass_at_k, row.pass_at_k) for k in of_k))
        for row in _ranked(summary, summary.ranking)
    ]
    some = next(iter(summary.by_model), None)
    ks = [] if some is None else list(some.pass_at_k)
    headings = ("model", *(f"{kind} pass@{k}" for kind in ("functional", "static") for k in ks))
    return Table("pass@k", headings, tuple(rows))


def similarity_tables(summary: Summary) -> tuple[Table, ...]:
    """What Web-CodeBLEU says about passing: rank correlations, and means by outcome."""
    found = summary.similarity
    judged = {"functional_pass": "functional pass", "static_pass": "static pass"}[found.judged_by]
    correlations = tuple(
        (one.of, str(one.n), rate(Estimate(one.spearman, one.n, one.n, one.low, one.high)), number(one.kendall, 3),
         rate(Estimate(one.auc, one.n, one.n, one.auc_low, one.auc_high)))
        for one in found.correlations
    )  # fmt: skip
    means = tuple(
        (one.group, str(one.n), rate(Estimate(one.mean, one.n, one.n, one.low, one.high))) for one in found.means
    )
    title = f"Web-CodeBLEU against {judged}: rank correlation, and AUC (0.5 tells nothing)"
    return (
        Table(title, ("over", "n", "Spearman", "Kendall", "AUC"), correlations),
        Table(f"Web-CodeBLEU by {judged}", ("samples", "n", "mean Web-CodeBLEU"), means),
    )


def change_table(title: str, changes: Mapping[str, Mapping[str, Comparison]], metrics: Sequence[str]) -> Table:
    """Differences by group (rows) and metric (columns), with cases that got better and worse."""
    rows = tuple(
        (group, *(difference(of_group[metric]) for metric in metrics), *_flips(of_group[metrics[0]]))
        for group, of_group in changes.items()
    )
    return Table(title, ("", *metrics, "cases", "better", "worse", "detectable"), rows)


def measured(summary: Summary) -> str:
    """Return the rate that models are ranked by."""
    known = any(row.metrics["functional_pass_at_1"].value is not None for row in summary.by_model)
    return "functional_pass_at_1" if known else "pass_at_1"


def difference(comparison: Comparison) -> str:
    """A difference with its sign and interval, such as `+0.040 [-0.010, +0.090]`."""
    if comparison.difference is None:
        return UNKNOWN
    interval = "" if comparison.low is None else f" [{comparison.low:+.3f}, {comparison.high:+.3f}]"
    return f"{comparison.difference:+.3f}{interval}"


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


TITLES = {"functional_pass_at_1": "Pass@1 functional", "pass_at_1": "Pass@1 static"}
HEADINGS = (
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


def _ranked(summary: Summary, aliases: Sequence[str]) -> list[Row]:
    rows = {row.key[0]: row for row in summary.by_model}
    return [rows[alias] for alias in aliases if alias in rows]


def _paid(summary: Summary, aliases: Sequence[str]) -> Table:
    metric = measured(summary)
    rows = [
        (*row.key, str(row.n), rate(row.metrics[metric]), number(row.metrics["points"].value, 1), number(row.cost, 4),
         number(row.points_per_cent, 1), number(row.latency_seconds, 1))
        for row in _ranked(summary, aliases)
    ]  # fmt: skip
    headings = ("model", "n", TITLES[metric], "points", "cost USD", "points per US cent", "seconds")
    return Table("Paid models", headings, tuple(rows))


def _local(summary: Summary, aliases: Sequence[str]) -> Table:
    metric = measured(summary)
    rows = [
        (*row.key, _size(summary.models[row.key[0]].size_b), str(row.n), rate(row.metrics[metric]),
         number(row.metrics["points"].value, 1), number(row.latency_seconds, 1))
        for row in _ranked(summary, aliases)
    ]  # fmt: skip
    headings = ("model", "size (10^9)", "n", TITLES[metric], "points", "seconds")
    return Table("Local models", headings, tuple(rows))


def _size(size: float | None) -> str:
    return UNKNOWN if size is None else f"{size:g}"


def _flips(comparison: Comparison) -> tuple[str, ...]:
    return (
        str(comparison.cases),
        f"{len(comparison.better)} ({comparison.samples_better} samples)",
        f"{len(comparison.worse)} ({comparison.samples_worse} samples)",
        number(comparison.detectable, 3),
    )


def _table(title: str, keys: tuple[str, ...], rows: Sequence[Row]) -> Table:
    return Table(title, (*keys, *HEADINGS), tuple(_cells(row) for row in rows))


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
