"""Validation of cases as text."""

from __future__ import annotations

from pytest_webbench.validation import CaseReport, Validation
from pytest_webbench.validation.case import KILLED_AT_LEAST
from pytest_webbench.validation.report import SET_KILLED_AT_LEAST


def case_lines(report: CaseReport) -> list[str]:
    """Return the lines about one case: verdict and figures, then each problem and each surviving mutant."""
    verdict = "ok" if report.ok else "INVALID"
    figures = [f"{report.checks} checks"] if report.checks else []
    if report.wrong:
        figures.append(f"{sum(map(bool, report.wrong.values()))} of {len(report.wrong)} wrong solutions caught")
    if report.exploits:
        figures.append(f"{sum(map(bool, report.exploits.values()))} of {len(report.exploits)} exploits proven")
    if report.killed is not None:
        figures.append(f"{report.mutants - len(report.survivors)} of {report.mutants} mutants killed")
    lines = [f"{verdict:<8}{report.case}: {', '.join(figures)}"]
    lines += [f"  error: {problem}" for problem in report.errors]
    lines += [f"  warning: {problem}" for problem in report.warnings]
    for survivor in report.survivors:
        lines.append(f"  survivor {survivor.id} (line {survivor.line})")
        lines += [f"    {line}" for line in survivor.diff.splitlines()]
    return lines


def total_line(validation: Validation) -> str:
    """Return one line about all cases."""
    valid = sum(report.ok for report in validation.reports)
    parts = [f"{valid} of {len(validation.reports)} cases valid"]
    if validation.killed is not None:
        least = f" (expected at least {100 * SET_KILLED_AT_LEAST:.0f} % over several cases)"
        killed_share = f"{100 * validation.killed:.1f} % of the mutants killed"
        parts.append(killed_share + (least if validation.killed < SET_KILLED_AT_LEAST else ""))
    killed = {report.case: report.killed for report in validation.reports}
    weak = [case for case, share in killed.items() if share is not None and share < KILLED_AT_LEAST]
    if weak:
        parts.append(f"below {100 * KILLED_AT_LEAST:.0f} %: {', '.join(weak)}")
    return ", ".join(parts)
