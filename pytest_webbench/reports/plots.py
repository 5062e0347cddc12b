"""PNG charts by matplotlib, which the extra `plots` brings; this module alone imports it. Unknown is a gap, never 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import nan, prod
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke

from pytest_webbench.statistics.metrics import SCALES
from pytest_webbench.statistics.scans import ScanResult, Value, setting_name, shown
from pytest_webbench.statistics.summary import Estimate, Row, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPARISON = "scores_comparison.png"
COST = "score_vs_cost.png"
TIME = "score_vs_time.png"
SIZE = "score_vs_size.png"
TEMPLATES = "prompt_templates.png"

COLORS = ("#2f5bd0", "#d1672a", "#1b8a5a", "#9746b8", "#b8860b", "#c2356b", "#0f8a9d", "#6b6f2b")
INK, SOFT, GRID = "#1d2127", "#5c636d", "#e1e1da"
LABELS = {
    "web_codebleu": "Web-CodeBLEU",
    "pass_at_1": "Pass@1 static",
    "functional_pass_at_1": "Pass@1 functional",
}
DPI = 144


def write_run_plots(folder: Path, summary: Summary) -> list[Path]:
    """Write the charts of one run; return the files. Without a known size there is none against size."""
    figures = {
        COST: cost_figure(summary),
        TIME: time_figure(summary),
        TEMPLATES: template_figure(summary),
    }
    if any(model.size_b is not None for model in summary.models.values()):
        figures[SIZE] = size_figure(summary)
    return [_save(figure, folder / name) for name, figure in figures.items()]


def write_comparison_plot(path: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    """Write grouped bars of each model of an accumulated `benchmark.json`: means over the cases it was measured on."""
    return _save(comparison_figure(entries), path)


def cost_figure(summary: Summary) -> Figure:
    """Draw the score of each model against what a sample costs."""
    return _against(summary, "USD a sample", _cost_per_sample)


def time_figure(summary: Summary) -> Figure:
    """Draw the score of each model against how long a completion takes."""
    return _against(summary, "seconds a completion", lambda row: row.latency_seconds)


def size_figure(summary: Summary) -> Figure:
    """Draw the score of each model against its size."""
    return _against(summary, "billions of parameters", lambda row: summary.models[row.key[0]].size_b)


def comparison_values(entries: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, tuple[float, int]]]:
    """Return mean and number of cases by model and metric; what was not measured is not in it."""
    found: dict[str, dict[str, list[float]]] = {}
    for entry in entries:
        for score in entry["scores"].values():
            for metric in LABELS:
                if score and score.get(metric) is not None:
                    found.setdefault(score["alias"], {}).setdefault(metric, []).append(score[metric])
    return {
        model: {metric: (sum(values) / len(values), len(values)) for metric, values in metrics.items()}
        for model, metrics in sorted(found.items())
    }


def comparison_figure(entries: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw bars of each metric for each model that was measured."""
    models = comparison_values(entries)
    if not models:
        return _nothing("no model has been measured")
    figure, axes = _figure(max(6.4, 1.6 + 1.5 * len(models)), 4.2)
    width = 0.8 / len(LABELS)
    for position, (metric, label) in enumerate(LABELS.items()):
        places = [index + (position - 1) * width for index, scores in enumerate(models.values()) if metric in scores]
        values = [scores[metric][0] for scores in models.values() if metric in scores]
        bars = axes.bar(places, values, width * 0.92, color=COLORS[position], label=label)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7, color=SOFT)
    cases = [max(count for _, count in scores.values()) for scores in models.values()]
    names = [f"{model}\n{count} cases" for model, count in zip(models, cases, strict=True)]
    axes.set_xticks(range(len(models)), names)
    axes.set_ylim(0, 1.08)
    middle = (len(models) - 1) / 2
    axes.set_xlim(min(-0.6, middle - 1.1), max(len(models) - 0.4, middle + 1.1))
    axes.set_title("Scores by model", loc="left", fontweight="bold")
    axes.set_xlabel("Web-CodeBLEU is similarity to the reference, not correctness", color=SOFT, fontsize=8)
    axes.legend(frameon=False, ncols=3, loc="upper left", bbox_to_anchor=(0, -0.2), fontsize=8)
    return figure


def _against(summary: Summary, unit: str, value_of: Callable[[Row], float | None]) -> Figure:
    metric = _shown_metric(summary)
    rows = [row for row in _shown(summary.by_model, summary) if _value(row, metric) is not None]
    points = [(position, row, x) for position, row in enumerate(rows) if (x := value_of(row)) is not None]
    if not points:
        return _nothing(f"{unit}: not known for any model")
    figure, axes = _figure(6.4, 4.2)
    _scale(axes, [x for *_, x in points])
    for position, row, x in points:
        y = _point(axes, row.metrics[metric], x, position)
        label = f"{row.key[0]} (n {row.metrics[metric].n})"
        axes.annotate(label, (x, y), (7, 5), textcoords="offset points", fontsize=8)
    missing = [row.key[0] for row in rows if value_of(row) is None]
    axes.set_xlabel(unit + (f"\nnot known: {', '.join(missing)}" if missing else ""), color=SOFT)
    axes.set_ylabel(f"{LABELS[metric]}, 95 % interval", color=SOFT)
    axes.set_ylim(-0.02, 1.08)
    axes.set_title(f"{LABELS[metric]} against {unit}", loc="left", fontweight="bold")
    return figure


def _point(axes: Axes, estimate: Estimate, x: float, position: int) -> float:
    """Draw a known estimate with its interval in the color of a position; return its height."""
    y, color = estimate.value or 0.0, COLORS[position % len(COLORS)]
    if estimate.low is not None and estimate.high is not None:
        axes.plot([x, x], [estimate.low, estimate.high], color=color, alpha=0.45, linewidth=2)
    axes.plot([x], [y], "o", color=color, markersize=7, markeredgecolor="white")
    return y


def _scale(axes: Axes, values: Sequence[float]) -> None:
    """Use a logarithmic scale for values of different magnitude, linear about 0 where some cost nothing."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) / min(positive) >= 8:
        if len(positive) < len(values):
            axes.set_xscale("symlog", linthresh=min(positive) / 2)
            axes.set_xlim(left=-min(positive) / 8)
        else:
            axes.set_xscale("log")
            axes.set_xlim(left=min(positive) / 2)
        axes.set_xlim(right=max(positive) * 3)
        axes.xaxis.set_major_formatter("{x:g}")
    else:
        highest = max(values) or 1.0
        axes.set_xlim(-0.04 * highest, highest * 1.25)


def template_figure(summary: Summary) -> Figure:
    """Draw the score of each model with each prompt template."""
    metric = _shown_metric(summary)
    rows = [row for row in _shown(summary.by_template, summary) if _value(row, metric) is not None]
    if not rows:
        return _nothing("no sample was judged")
    models = sorted({row.key[0] for row in rows})
    templates = sorted({row.key[1] for row in rows})
    figure, axes = _figure(max(6.4, 1.6 + 1.3 * len(templates)), 4.4)
    step = 0.7 / len(models)
    for position, model in enumerate(models):
        own = [row for row in rows if row.key[0] == model]
        for row in own:
            x = templates.index(row.key[1]) + (position - (len(models) - 1) / 2) * step
            _point(axes, row.metrics[metric], x, position)
        axes.plot(
            [],
            [],
            "o",
            color=COLORS[position % len(COLORS)],
            label=f"{model} (n {sum(row.metrics[metric].n for row in own)})",
        )
    axes.set_xticks(range(len(templates)), templates)
    axes.set_xlim(-0.5, len(templates) - 0.5)
    axes.set_ylim(-0.02, 1.08)
    axes.set_ylabel(f"{LABELS[metric]}, 95 % interval", color=SOFT)
    axes.set_title(f"{LABELS[metric]} by prompt template", loc="left", fontweight="bold")
    axes.legend(frameon=False, ncols=4, loc="upper left", bbox_to_anchor=(0, -0.1), fontsize=8)
    return figure


def write_scan_plot(path: Path, result: ScanResult, metric: str) -> Path:
    """Write the chart of a scan: every setting in the first stage, and those that went on."""
    return _save(scan_figure(result, metric), path)


def scan_figure(result: ScanResult, metric: str) -> Figure:
    """Draw the first stage (a heat map of a grid, else one point a setting) and the finalists with intervals."""
    varied = [name for name in result.parameters if len(_values(result, name)) > 1]
    finalists = [setting for setting in result.settings if setting.deciding is not None]
    figure = Figure(
        (11.0, max(4.2, 1.6 + 0.32 * len(result.settings))), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    )
    left, right = figure.subplots(1, 2)
    highest = SCALES[result.metric]
    if len(varied) >= 2 and _is_grid(result, varied):
        _heat_map(figure, left, result, varied, metric)
    else:
        _in_order(left, [(setting_name(setting.point), setting.first) for setting in result.settings], metric, highest)
    left.set_title(f"First stage: {_cases(result.first_cases)}", loc="left", fontweight="bold", color=INK)
    deciding = [(setting_name(setting.point), setting.deciding or setting.first) for setting in finalists]
    _in_order(right, deciding, metric, highest)
    right.set_title(f"Deciding: {_cases(result.deciding_cases)}", loc="left", fontweight="bold", color=INK)
    return figure


def _cases(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} cases"


def _values(result: ScanResult, name: str) -> list[Value]:
    values = {setting.point[name] for setting in result.settings}
    numbers = sorted(value for value in values if not isinstance(value, str))
    return [*numbers, *sorted(value for value in values if isinstance(value, str))]


def _is_grid(result: ScanResult, varied: Sequence[str]) -> bool:
    return len(result.settings) == prod(len(_values(result, name)) for name in varied)


def _heat_map(figure: Figure, axes: Axes, result: ScanResult, varied: Sequence[str], metric: str) -> None:
    """Draw the first two varied parameters against each other: means over the others, unknown cells blank."""
    (x, xs), (y, ys) = ((name, _values(result, name)) for name in varied[:2])
    cells: dict[tuple[Value, Value], list[float]] = {}
    for setting in result.settings:
        if setting.first.value is not None:
            cells.setdefault((setting.point[y], setting.point[x]), []).append(setting.first.value)
    means = [[fmean(cells[(row, column)]) if (row, column) in cells else nan for column in xs] for row in ys]
    image = axes.imshow(means, cmap="viridis", aspect="auto", origin="lower")
    for (i, row), (j, column) in product(enumerate(ys), enumerate(xs)):
        if (row, column) in cells:
            text = axes.text(j, i, f"{means[i][j]:.3g}", ha="center", va="center", color="white", fontsize=8)
            text.set_path_effects([withStroke(linewidth=2, foreground="#00000088")])
    axes.set_xticks(range(len(xs)), [shown(value) for value in xs])
    axes.set_yticks(range(len(ys)), [shown(value) for value in ys])
    axes.tick_params(length=0, colors=SOFT)
    axes.spines[:].set_visible(False)
    over = f", means over {', '.join(varied[2:])}" if varied[2:] else ""
    fewest, most = (pick(setting.first.n for setting in result.settings) for pick in (min, max))
    axes.set_xlabel(f"{x}\n{fewest if fewest == most else f'{fewest} to {most}'} samples a setting{over}", color=SOFT)
    axes.set_ylabel(y, color=SOFT)
    figure.colorbar(image, ax=axes, label=metric)


def _in_order(axes: Axes, rows: Sequence[tuple[str, Estimate]], metric: str, highest: float) -> None:
    """Draw one line a setting, the first on top: its value and interval; an unknown one is a gap."""
    places = range(len(rows) - 1, -1, -1)
    for position, (place, (_, estimate)) in enumerate(zip(places, rows, strict=True)):
        color = COLORS[0] if position == 0 else COLORS[7]
        if estimate.low is not None and estimate.high is not None:
            axes.plot([estimate.low, estimate.high], [place, place], color=color, alpha=0.45, linewidth=2)
        if estimate.value is not None:
            axes.plot([estimate.value], [place], "o", color=color, markersize=7, markeredgecolor="white")
    axes.set_yticks(list(places), [f"{name} (n {estimate.n})" for name, estimate in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(-0.03 * highest, 1.03 * highest)
    axes.set_xlabel(f"{metric}, 95 % interval", color=SOFT)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=SOFT)


def _shown_metric(summary: Summary) -> str:
    """Return functional Pass@1, or the static one where nothing was executed."""
    measured = any(_value(row, "functional_pass_at_1") is not None for row in summary.by_model)
    return "functional_pass_at_1" if measured else "pass_at_1"


def _shown(rows: Sequence[Row], summary: Summary) -> list[Row]:
    return [row for row in rows if row.key[0] not in summary.excluded]


def _value(row: Row, metric: str) -> float | None:
    return row.metrics[metric].value


def _cost_per_sample(row: Row) -> float | None:
    return None if row.cost is None or row.n == 0 else row.cost / row.n


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure((width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    axes = figure.subplots()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=SOFT)
    axes.title.set_color(INK)
    return figure, axes


def _nothing(reason: str) -> Figure:
    figure = Figure((6.4, 2.0))
    figure.text(0.5, 0.5, reason, ha="center", va="center", color=SOFT)
    return figure


def _save(figure: Figure, path: Path) -> Path:
    """Write a PNG whose bytes depend on the figures only."""
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
    return path
