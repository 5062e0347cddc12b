"""A scan as a table, as sentences, and as the files of its run folder."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pytest_webbench.reports.files import why_no_plots
from pytest_webbench.reports.markdown import markdown_table
from pytest_webbench.reports.tables import UNKNOWN, Table, number, share
from pytest_webbench.reports.terminal import TRUNCATION_WARNING
from pytest_webbench.statistics.metrics import SCALES
from pytest_webbench.statistics.scans import LEVEL, Against, ScanResult, setting_name, shown
from pytest_webbench.statistics.summary import Estimate

CHART = "scan.png"
NAMES = {
    "points": "points",
    "functional_pass_at_1": "Pass@1 functional",
    "pass_at_1": "Pass@1 static",
    "web_codebleu": "Web-CodeBLEU",
}
NAMED = 3
LEAST = ("p", "all cases", "truncated", "coverage")
"""Columns that a narrow terminal can do without, the least important first."""


def scan_table(result: ScanResult) -> Table:
    """Return one row a setting, best first: its figures, and the best one's lead over it."""
    two_stages = result.deciding_cases != result.first_cases
    headings = (
        *result.parameters,
        "n",
        "coverage",
        "truncated",
        "first stage",
        *(("deciding", "all cases") if two_stages else ()),
        "lead of best",
        "p",
        "p corrected",
    )
    leads, digits = {one.setting: one for one in result.against}, _digits(result)
    rows = [
        (
            *(shown(setting.point[name]) for name in result.parameters),
            str(setting.judged),
            share(setting.judged, setting.expected),
            share(setting.truncated, setting.judged),
            _value(setting.first, digits),
            *((_value(setting.deciding, digits), _value(setting.overall, digits)) if two_stages else ()),
            *_lead(leads.get(setting.setting), digits),
        )
        for setting in result.settings
    ]
    return Table(f"{result.model}: {NAMES[result.metric]} by setting", headings, tuple(rows))


def scan_lines(result: ScanResult) -> list[str]:
    """Say in sentences what was tried and what can be said of it."""
    best, shown_of_best = setting_name(result.best.point), result.best.deciding or result.best.first
    if result.best.first.value is None:
        return [f"no sample was judged: nothing can be said of {result.model}"]
    if not result.against:
        return [f"{best} alone was tried: there is nothing to compare it with"]
    labels = {setting.setting: setting_name(setting.point) for setting in result.settings}
    apart = [labels[one.setting] for one in result.against if one.told_apart]
    alike = [labels[one.setting] for one in result.against if not one.told_apart]
    lines = [
        _tried(result),
        f"p is corrected for {counted(result.comparisons, 'comparison')}, all pairs of what was compared (Holm)",
        f"highest: {best}, {NAMES[result.metric]} {_value(shown_of_best, _digits(result))}",
    ]
    if apart:
        lines.append(f"on these cases it is better than {_list(apart)} (p corrected at most {LEVEL:g})")
    if alike:
        lines.append(f"it cannot be told apart from {_list(alike)}: take any of them, or more samples and cases")
    return [*lines, *_cut(result)]


def _cut(result: ScanResult) -> list[str]:
    cut = [
        f"{setting_name(setting.point)} ({share(setting.truncated, setting.judged)})"
        for setting in result.settings
        if setting.judged and setting.truncated / setting.judged > TRUNCATION_WARNING
    ]
    return [f"answers were cut at max_tokens with {_list(cut)}; a higher one may change the order"] if cut else []


def _tried(result: ScanResult) -> str:
    tried = f"{len(result.settings)} settings of {result.model} were tried"
    if result.deciding_cases == result.first_cases:
        return f"{tried} and compared on {_list(result.first_cases)}"
    finalists = sum(setting.deciding is not None for setting in result.settings)
    others = counted(len(result.deciding_cases), "other case")
    return f"{tried} on {_list(result.first_cases)}; the best {finalists} of them were compared on {others}"


def write_scan(folder: Path, result: ScanResult) -> list[Path]:
    """Write `scan.md`, `scan.csv`, `scan.json` and, with matplotlib, `scan.png`; return the files."""
    table = scan_table(result)
    text = "\n\n".join(
        (
            f"# webbench scan of {result.model}",
            "\n".join(f"- {line}" for line in scan_lines(result)),
            markdown_table(table),
        )
    )
    files = {
        "scan.md": text + "\n",
        "scan.csv": _csv(table),
        "scan.json": json.dumps(asdict(result), indent=1, allow_nan=False) + "\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    written = [folder / name for name in files]
    if why_no_plots():
        return written
    from pytest_webbench.reports.plots import write_scan_plot

    return [*written, write_scan_plot(folder / CHART, result, NAMES[result.metric])]


def _digits(result: ScanResult) -> int:
    return 1 if SCALES[result.metric] > 1 else 3


def _value(estimate: Estimate | None, digits: int) -> str:
    if estimate is None or estimate.value is None:
        return UNKNOWN
    interval = "" if estimate.low is None else f" [{estimate.low:.{digits - 1}f}, {estimate.high:.{digits - 1}f}]"
    return f"{estimate.value:.{digits}f}{interval}"


def _lead(lead: Against | None, digits: int) -> tuple[str, str, str]:
    if lead is None or lead.difference is None:
        return "", "", ""
    interval = "" if lead.low is None else f" [{lead.low:+.{digits - 1}f}, {lead.high:+.{digits - 1}f}]"
    return f"{lead.difference:+.{digits}f}{interval}", number(lead.p, 4), number(lead.p_corrected, 4)


def counted(count: int, noun: str) -> str:
    """Return `1 case`, `2 cases`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _csv(table: Table) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.headings, *table.rows])
    return text.getvalue()
