"""Which report goes into which file of the run folder and of the report folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.records import Record
from pytest_webbench.reports.accumulated import (
    BENCHMARK,
    COMPARISON,
    accumulate,
    comparison_table,
    read_benchmark,
    write_benchmark,
)
from pytest_webbench.reports.csv_tables import csv_files
from pytest_webbench.reports.markdown import summary_markdown
from pytest_webbench.reports.scores import midpoint_scores
from pytest_webbench.statistics.summary import Summary

LATEST = "latest"


def write_run_reports(folder: Path, summary: Summary, records: Sequence[Record]) -> list[Path]:
    """Write everything that a run folder's records give; return the files."""
    texts = {
        "summary.json": summary_json(summary),
        "summary.md": summary_markdown(summary),
        "midpoint_scores.txt": midpoint_scores(records),
        **csv_files(summary, records),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


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


def summary_json(summary: Summary) -> str:
    """Return `summary.json`; NaN never occurs, unknown is null."""
    return json.dumps(_plain(asdict(summary)), indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
