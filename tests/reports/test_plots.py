"""PNG charts: drawn from the figures, unknown is a gap, the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page.runs import records_of, write_run

from pytest_webbench.statistics.summary import Summary, summarise

plots = pytest.importorskip("pytest_webbench.reports.plots", reason="matplotlib is not installed: the extra 'plots'",
                            exc_type=ImportError)  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """Figures of four models, one of which has neither price nor times."""
    return summarise("run", records_of(write_run(tmp_path_factory.mktemp("run"))))


def score(alias: str, codebleu: float | None, static: float | None) -> dict[str, Any]:
    """Return the scores of a model for one case."""
    return {"alias": alias, "web_codebleu": codebleu, "pass_at_1": static, "functional_pass_at_1": None}


def said(figure: Any) -> str:
    """Return every text of a figure."""
    axes = figure.axes[0]
    labels = [axes.get_xlabel(), *(label.get_text() for label in axes.get_xticklabels()), axes.get_title(loc="left")]
    return "\n".join([*labels, *(text.get_text() for text in axes.texts)])


def points(figure: Any) -> Sequence[Any]:
    """Return the points that are drawn."""
    return [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())]


def test_every_chart_of_a_run_is_a_png_and_repeatable(tmp_path: Path, summary: Summary) -> None:
    files = plots.write_run_plots(tmp_path, summary)
    assert [file.name for file in files] == ["score_vs_cost.png", "score_vs_time.png", "prompt_templates.png"]
    first = [file.read_bytes() for file in files]
    assert all(data.startswith(PNG) for data in first)
    assert [file.read_bytes() for file in plots.write_run_plots(tmp_path, summary)] == first


def test_a_model_without_a_known_cost_is_named_and_not_drawn(summary: Summary) -> None:
    figure = plots.cost_figure(summary)
    assert "not known: mystery" in said(figure)
    assert len(points(figure)) == 3


def test_where_no_cost_is_known_the_chart_says_so(summary: Summary) -> None:
    unknown = replace(summary, by_model=tuple(replace(row, cost=None) for row in summary.by_model))
    figure = plots.cost_figure(unknown)
    assert not figure.axes
    assert "not known for any model" in figure.texts[0].get_text()


def test_every_model_of_a_known_size_is_within_the_chart_against_size(summary: Summary) -> None:
    sizes = {"llama": 70.0, "local": 0.5}
    models = {alias: replace(facts, size_b=sizes.get(alias)) for alias, facts in summary.models.items()}
    figure = plots.size_figure(replace(summary, models=models))
    low, high = figure.axes[0].get_xlim()
    assert sorted(point.get_xdata()[0] for point in points(figure)) == [0.5, 70.0]
    assert low < 0.5 < 70 < high
    assert "not known: gemini, mystery" in said(figure)


def test_without_a_known_size_there_is_no_chart_against_it(tmp_path: Path, summary: Summary) -> None:
    plots.write_run_plots(tmp_path, summary)
    assert not (tmp_path / "score_vs_size.png").exists()


def test_templates_show_a_point_for_each_model_and_template(summary: Summary) -> None:
    assert len(points(plots.template_figure(summary))) == 8


def test_an_excluded_model_is_in_no_chart(summary: Summary) -> None:
    without = replace(summary, excluded={"gemini": "retired"})
    assert "gemini" not in said(plots.cost_figure(without))
    assert len(points(plots.template_figure(without))) == 6


def test_the_comparison_has_bars_for_what_was_measured_only(tmp_path: Path) -> None:
    entries = [
        {"id": "a", "scores": {"x": score("llama", 0.4, 1.0), "y": score("agent", 0.5, None), "z": None}},
        {"id": "b", "scores": {"x": score("llama", 0.6, 0.0)}},
    ]
    assert plots.comparison_values(entries) == {
        "agent": {"web_codebleu": (0.5, 1)},
        "llama": {"pass_at_1": (0.5, 2), "web_codebleu": (0.5, 2)},
    }
    assert len(plots.comparison_figure(entries).axes[0].patches) == 3
    assert plots.write_comparison_plot(tmp_path / "c.png", entries).read_bytes().startswith(PNG)


def test_a_comparison_of_nothing_is_no_empty_axes() -> None:
    assert not plots.comparison_figure([{"id": "a", "scores": {"x": None}}]).axes
