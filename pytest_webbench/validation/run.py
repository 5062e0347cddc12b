"""Validate many cases, several at a time, each in a process with a sandbox of its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webbench.cases import (
    DEFINITION,
    Case,
    CaseError,
    check_unique_ids,
    find_case_files,
    is_dataset,
    load_case_file,
)
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
        ValueError: `level` is none.
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


def validate_definition(path: str | Path, *, options: Options = DAILY, level: str = "auto") -> CaseReport:
    """Validate one case, given by its folder or its `definition.toml`, in this process.

    A definition that cannot be used is a report with errors.

    Raises:
        SandboxUnavailable: this machine does not offer `level`.
        ValueError: `level` is none, or there is no definition at `path`.

    >>> validate_definition("cases/flask/jwt_login").ok  # doctest: +SKIP
    True
    """
    from pytest_webbench.sandbox import open_sandbox

    files = find_case_files([Path(path)])
    if len(files) != 1 or is_dataset(files[0]):
        raise ValueError(f"{path}: expected the folder of one case or its {DEFINITION}")
    unusable, cases = _load(files)
    if unusable:
        return unusable[0]
    with open_sandbox(level) as sandbox:
        return _validate_one(cases[0], sandbox, options)


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
    """Yield cases with their reports as they are done; leaving early ends the processes."""
    waiting = iter(cases)
    with ExitStack() as opened:
        busy: dict[object, tuple[Connection, Case]] = {}
        for case in islice(waiting, jobs):
            worker = opened.enter_context(_worker(options, level))
            worker.send(case)
            busy[worker] = worker, case
        while busy:
            for ready in wait([worker for worker, _ in busy.values()]):
                worker, case = busy.pop(ready)
                report = _received(worker)
                if following := next(waiting, None):
                    worker.send(following)
                    busy[worker] = worker, following
                yield case, report


@contextmanager
def _worker(options: Options, level: str) -> Iterator[Connection]:
    """Start a process that answers each case sent to it with its report."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, options, level))
    process.start()
    theirs.close()
    try:
        yield ours
    except BaseException:
        process.terminate()
        raise
    finally:
        ours.close()
        process.join()


def _received(worker: Connection) -> CaseReport:
    try:
        answer = worker.recv()
    except EOFError:
        raise RuntimeError("a validating process ended without an answer") from None
    if isinstance(answer, Exception):
        raise answer
    assert isinstance(answer, CaseReport)
    return answer


def _work(connection: Connection, options: Options, level: str) -> None:
    """Validate what comes until nothing more does. Ctrl-C is left to the process that sends; the sandbox is closed."""
    from pytest_webbench.sandbox import SandboxUnavailable, open_sandbox

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    try:
        with open_sandbox(level) as sandbox:
            while True:
                connection.send(_validate_one(connection.recv(), sandbox, options))
    except EOFError:
        return
    except (SandboxUnavailable, ValueError) as error:
        connection.send(error)


def _leave(*_: object) -> None:
    """End this process in good order, undisturbed by further signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _validate_one(case: Case, sandbox: Sandbox, options: Options) -> CaseReport:
    from pytest_webbench.sandbox import SandboxBroken
    from pytest_webbench.validation.case import validate_case

    try:
        return validate_case(case, sandbox, options)
    except CaseError as error:
        return CaseReport(case.name, errors=tuple(error.problems))
    except SandboxBroken as error:
        return CaseReport(case.name, errors=(f"not validated, the sandbox failed: {error}",))
