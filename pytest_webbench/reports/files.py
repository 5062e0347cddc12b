"""Which report goes into which file of the run folder and of the report folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.gate import Verdict
from pytest_webbench.prompts import Template, prompts_json
from pytest_webbench.records import Record
from pytest_webbench.reports.accumulated import (
    BENCHMARK,
    COMPARISON,
    accumulate,
    comparison_table,
    read_benchmark,
    write_benchmark,
)
from pytest_webbench.reports.conversations import write_conversations
from pytest_webbench.reports.csv_tables import write_csv_files
from pytest_webbench.reports.markdown import summary_markdown
from pytest_webbench.reports.references import PROMPTS, write_references
from pytest_webbench.reports.scores import midpoint_scores
from pytest_webbench.statistics.comparison import RunComparison
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import Summary

LATEST = "latest"
PARTS = ("csv", "json", "markdown", "plots", "html", "conversations")
LARGEST_PAGE = 100_000


def write_run_reports(
    folder: Path,
    summary: Summary,
    samples: Samples,
    verdict: Verdict | None = None,
    *,
    records: Callable[[], Sequence[Record]],
    only: Collection[str] = PARTS,
) -> list[Path]:
    """Write what a run folder's records give, or `only` some parts of it; return the files.

    `records` is called for the page and the conversations alone, which are left out of a run of more than
    LARGEST_PAGE samples unless they are all that is wanted. Plots need matplotlib and are left out without it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    if "csv" in only:
        files += write_csv_files(folder, summary, samples)
    if "json" in only:
        files.append(_write(folder / "summary.json", summary_json(summary, verdict)))
    if "markdown" in only:
        files.append(_write(folder / "summary.md", summary_markdown(summary, verdict)))
        files.append(_write(folder / "midpoint_scores.txt", midpoint_scores(summary)))
    if "plots" in only:
        files += _plots(folder, summary)
    if "conversations" in only and (len(samples) <= LARGEST_PAGE or set(only) == {"conversations"}):
        files += write_conversations(folder, records())
    if "html" in only and (len(samples) <= LARGEST_PAGE or set(only) == {"html"}):
        from pytest_webbench.reports.html import write_page

        files.append(write_page(folder, summary, samples, records()))
    return files


def write_asked(folder: Path, cases: Sequence[Case], templates: Sequence[Template]) -> None:
    """Write what was asked: the cases' reference solutions and `prompts.json`, for the page and other readers."""
    folder.mkdir(parents=True, exist_ok=True)
    write_references(folder, cases)
    _write(folder / PROMPTS, prompts_json(cases, templates))


def keep_asked(source: Path, folder: Path, cases: Sequence[Case]) -> None:
    """Write what was asked into a run folder made from another one: the cases may have changed, the prompts not."""
    write_references(folder, cases)
    if (source / PROMPTS).exists():
        shutil.copyfile(source / PROMPTS, folder / PROMPTS)


def append_step_summary(text: str) -> None:
    """Show a summary in markdown on the page of the CI job, where GITHUB_STEP_SUMMARY names its file."""
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if page:
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


def why_no_plots() -> str:
    """Say how to get the charts where they are left out; empty where they are drawn."""
    if find_spec("matplotlib") is not None:
        return ""
    return "no PNG charts: they need matplotlib, pip install 'pytest-webbench[plots]'"


def _plots(folder: Path, summary: Summary) -> list[Path]:
    if why_no_plots():
        return []
    from pytest_webbench.reports.plots import COMPARISON as CHART
    from pytest_webbench.reports.plots import write_comparison_plot, write_run_plots

    files = write_run_plots(folder, summary)
    entries = read_benchmark(folder.parent.parent / BENCHMARK)
    return [*files, write_comparison_plot(folder / CHART, entries)] if entries else files


def _write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def write_accumulated(
    report_dir: Path, cases: Sequence[Case], records: Sequence[Record], built_in: Sequence[str], template: str
) -> None:
    """Bring `benchmark.json` and `comparison_table.csv` up to date."""
    entries = accumulate(read_benchmark(report_dir / BENCHMARK), cases, records, built_in, template)
    write_benchmark(report_dir / BENCHMARK, entries)
    (report_dir / COMPARISON).write_text(comparison_table(entries), "utf-8")


def point_latest_at(folder: Path) -> None:
    """Let `latest` of the report folder lead to a run folder (a file with its path where links cannot be made)."""
    latest = folder.parent.parent / LATEST
    target = os.path.relpath(folder, latest.parent)
    part = latest.with_name(f".{LATEST}-{os.getpid()}")
    try:
        part.symlink_to(target, target_is_directory=True)
        part.replace(latest)
    except OSError:
        part.unlink(missing_ok=True)
        latest.with_suffix(".txt").write_text(target + "\n", "utf-8")


def summary_json(summary: Summary, verdict: Verdict | None = None) -> str:
    """Return `summary.json`, with the gate's verdict where there is one; NaN never occurs, unknown is null."""
    gate = None if verdict is None else {**asdict(verdict), "exit_status": verdict.exit_status}
    return json.dumps(_plain({**asdict(summary), "gate": gate}), indent=1, allow_nan=False) + "\n"


def comparison_json(comparison: RunComparison) -> str:
    """Return a comparison of two runs as JSON."""
    return json.dumps(_plain(asdict(comparison)), indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
