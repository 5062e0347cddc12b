"""Validate many cases, several at a time, each in a process with a sandbox of its own."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webbench.cases import Case, CaseError, check_unique_ids, is_dataset, load_case_file
from pytest_webbench.validation.report import DAILY, CaseReport, Options, Validation
from pytest_webbench.validation.results import Results

if TYPE_CHECKING:
    from pytest_webbench.sandbox import Sandbox

Progress = Callable[[CaseReport, int, int], None]


def validate(
    files: Sequence[Path],
    *,
    options: Options = DAILY,
    level: str = "auto",
    jobs: int = 1,
    results: Path | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Validate the cases in `files` (definitions and datasets) with `jobs` processes.

    `results` names the file in which clean results are kept and found again. `progress` is called with
    each report as it comes, how many there are by then, and how many there will be.

    Raises:
        SandboxUnavailable: this machine does not offer `level`.
    """
    kept = Results(results)
    unusable, cases = _load(files)
    total = len(unusable) + len(cases)
    reports: list[CaseReport] = []
    for report in chain(unusable, _validated(cases, kept, options, level, jobs)):
        reports.append(report)
        if progress is not None:
            progress(report, len(reports), total)
    return Validation(tuple(sorted(reports, key=lambda report: report.case)))


def _validated(cases: Sequence[Case], kept: Results, options: Options, level: str, jobs: int) -> Iterator[CaseReport]:
    """Yield the kept reports, then the new ones as they are done."""
    waiting = []
    for case in cases:
        report = kept.find(case, options)
        if report is None:
            waiting.append(case)
        else:
            yield report
    for case, report in _in_parallel(waiting, options, level, jobs):
        kept.keep(case, options, report)
        yield report


def _load(files: Sequence[Path]) -> tuple[list[CaseReport], list[Case]]:
    """Read all files; those that cannot be used have their report at once, as have datasets."""
    reports: list[CaseReport] = []
    cases: list[Case] = []
    for file in files:
        try:
            loaded = load_case_file(file)
            check_unique_ids([*cases, *loaded])
        except CaseError as error:
            reports.append(CaseReport("/".join(file.parent.parts[-2:]), errors=tuple(error.problems)))
            continue
        if is_dataset(file):
            reports += [CaseReport(case.name) for case in loaded]
        else:
            cases += loaded
    return reports, cases


def _in_parallel(cases: Sequence[Case], options: Options, level: str, jobs: int) -> Iterator[tuple[Case, CaseReport]]:
    """Yield cases with their reports as they are done; leaving early drops what has not begun."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_validate_one, case, options, level): case for case in cases}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _validate_one(case: Case, options: Options, level: str) -> CaseReport:
    from pytest_webbench.sandbox import SandboxBroken
    from pytest_webbench.validation.case import validate_case

    try:
        return validate_case(case, _sandbox(level), options)
    except CaseError as error:
        return CaseReport(case.name, errors=tuple(error.problems))
    except SandboxBroken as error:
        return CaseReport(case.name, errors=(f"not validated, the sandbox failed: {error}",))


@cache
def _sandbox(level: str) -> Sandbox:
    """Return this process's sandbox, open until the process ends."""
    from pytest_webbench.sandbox import open_sandbox

    sandbox = open_sandbox(level)
    atexit.register(sandbox.close)
    return sandbox
