"""Validate one case: does it tell right from wrong, and does it do so every time?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_webbench.cases import Case
from pytest_webbench.scaffold import MARKER
from pytest_webbench.tiers.checks import load_suite
from pytest_webbench.tiers.http import first_failure, run_http_tiers
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.tiers.results import MAXIMUM, Deadlines, HttpTiers, calibrated
from pytest_webbench.validation.idle import idle_apps
from pytest_webbench.validation.mutants import all_mutants, choose
from pytest_webbench.validation.report import DAILY, CaseReport, Options, Survivor

if TYPE_CHECKING:
    from pytest_webbench.sandbox import Sandbox

KILLED_AT_LEAST = 0.75
ENTRY = "app.py"


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the apps of one case are judged."""

    case: Case
    sandbox: Sandbox
    deadlines: Deadlines = MAXIMUM
    turnstile: Turnstile | None = None

    def judge(self, code: str) -> HttpTiers:
        """Judge `code` in full, exploits included."""
        return run_http_tiers(
            self.case,
            {ENTRY: code},
            ENTRY,
            self.sandbox,
            tiers="secure",
            deadlines=self.deadlines,
            turnstile=self.turnstile,
        )

    def notices(self, code: str) -> bool:
        """Whether anything fails for `code`."""
        files = {ENTRY: code}
        failure = first_failure(
            self.case, files, ENTRY, self.sandbox, deadlines=self.deadlines, turnstile=self.turnstile
        )
        return failure is not None


def validate_case(
    case: Case, sandbox: Sandbox, options: Options = DAILY, turnstile: Turnstile | None = None
) -> CaseReport:
    """Try everything on `case`; where it is unfinished or its reference fails, nothing else is tried.

    Raises:
        CaseError: a file of the case does not load.
        SandboxBroken: the sandbox itself failed.
    """
    started = time.monotonic()
    report = CaseReport(case.name, errors=tuple(_unfinished(case)))
    bench = Bench(case, sandbox, turnstile=turnstile)
    if report.ok:
        runs = [bench.judge(case.reference)]
        bench = replace(bench, deadlines=calibrated(runs[0]))
        runs += [bench.judge(case.reference) for _ in range(options.repeat - 1)]
        report = _with_reference(report, runs)
    if report.ok:
        report = _with_wrong(report, bench)
        report = _with_idle_apps(report, bench)
        report = _with_mutants(report, bench, options)
    return replace(report, seconds=round(time.monotonic() - started, 1))


def _unfinished(case: Case) -> Iterator[str]:
    suite = load_suite(case)
    texts = {"definition.toml": case.path.read_text(), "reference.py": case.reference}
    texts |= {source.path.name: source.text for source in (*case.checks, *case.exploits)}
    texts |= {f"wrong/{name}.py": text for name, text in case.wrong.items()}
    for name, text in texts.items():
        if MARKER in text:
            yield f"{name}: {MARKER} is still to be filled in ({text.count(MARKER)} times)"
    if "unit_tests" not in case.criteria:
        yield "criteria: unit_tests is missing, so that the case checks nothing"
    if not suite.checks:
        yield "checks.py: there is no check_* function"
    if not case.wrong:
        yield "wrong/: there is no wrong solution"


def _with_reference(report: CaseReport, runs: Sequence[HttpTiers]) -> CaseReport:
    """Name what fails for the reference always, and what fails sometimes."""
    errors = [f"reference does not run: {run.message}" for run in runs if run.execution != "passed"][:1]
    failures: Counter[str] = Counter()
    messages: dict[str, str] = {}
    for result in (result for run in runs for result in run.checks if result.passed is not True):
        failures[result.name] += 1
        messages.setdefault(result.name, result.message)
    flaky = tuple(name for name, count in failures.items() if count < len(runs))
    for name, count in failures.items():
        how_often = f"{count} of {len(runs)} times" if name in flaky else "always"
        errors.append(f"reference fails {name} ({how_often}): {messages[name]}")
    checks = sum(result.tier == "unit_tests" for result in runs[0].checks)
    return replace(report, errors=tuple(errors), repetitions=len(runs), checks=checks, flaky=flaky)


def _with_wrong(report: CaseReport, bench: Bench) -> CaseReport:
    """Name the checks that catch each wrong solution, and the wrong solutions that each exploit breaks."""
    judged = {name: bench.judge(code) for name, code in bench.case.wrong.items()}
    caught = {
        name: tuple(result.name for result in tiers.checks if result.passed is False) for name, tiers in judged.items()
    }
    exploits = {
        exploit.name: tuple(name for name, by in caught.items() if exploit.name in by)
        for exploit in load_suite(bench.case).exploits
    }
    errors = [*_wrong_errors(judged, caught)]
    errors += [f"{name} succeeds against no wrong solution" for name, broken in exploits.items() if not broken]
    return replace(report, errors=(*report.errors, *errors), wrong=caught, exploits=exploits)


def _wrong_errors(judged: Mapping[str, HttpTiers], caught: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for name, tiers in judged.items():
        if tiers.execution != "passed":
            yield f"wrong/{name}.py does not run, so it shows nothing: {tiers.message}"
        elif not caught[name]:
            yield f"wrong/{name}.py passes everything"


def _with_idle_apps(report: CaseReport, bench: Bench) -> CaseReport:
    """No app without function may pass; checks that all of them pass are weak."""
    judged = {name: bench.judge(code) for name, code in idle_apps(bench.case.framework).items()}
    errors = [f"{name} passes all checks" for name, tiers in judged.items() if tiers.unit_tests == "passed"]
    passed = [
        {result.name for result in tiers.checks if result.passed and result.tier == "unit_tests"}
        for tiers in judged.values()
    ]
    weak = tuple(sorted(set.intersection(*passed)))
    warnings = [f"{name} passes for apps that do nothing" for name in weak]
    return replace(report, errors=(*report.errors, *errors), warnings=(*report.warnings, *warnings), weak=weak)


def _with_mutants(report: CaseReport, bench: Bench, options: Options) -> CaseReport:
    """Count the planted faults that the checks notice; known equivalent mutants are left out."""
    case = bench.case
    mutants = all_mutants(case.reference)
    equivalent = {entry.split()[0].rstrip(":") for entry in case.equivalent_mutants}
    stale = sorted(equivalent - {mutant.id for mutant in mutants})
    eligible = [mutant for mutant in mutants if mutant.id not in equivalent]
    chosen = choose(eligible, options.mutants, f"{options.seed} {case.name}")
    survivors = tuple(
        Survivor(mutant.id, mutant.line, mutant.diff) for mutant in chosen if not bench.notices(mutant.code)
    )
    report = replace(report, mutants=len(chosen), survivors=survivors)
    errors = [f"equivalent_mutants: the reference has no mutant {name}" for name in stale]
    if report.killed is not None and report.killed < KILLED_AT_LEAST:
        errors.append(
            f"the checks notice {report.killed:.0%} of {len(chosen)} mutants, expected at least {KILLED_AT_LEAST:.0%}"
        )
    return replace(report, errors=(*report.errors, *errors))
