"""The tiers that need a running app: execution, examples, unit tests, exploits.

Nothing inside the sandbox reports a verdict. Each one is drawn here from what the app answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from threading import Timer
from typing import TYPE_CHECKING, Any, Literal

from pytest_webbench.cases import Case, CaseError
from pytest_webbench.sandbox.contract import AppSource, Limits, Start
from pytest_webbench.tiers.checks import Suite, load_suite
from pytest_webbench.tiers.client import Deadline
from pytest_webbench.tiers.dependencies import (
    MISSING_DEPENDENCY,
    distribution,
    lacks,
    missing_module,
    unlisted_imports,
)
from pytest_webbench.tiers.exchange import clip, printable
from pytest_webbench.tiers.overload import Turnstile, overloaded
from pytest_webbench.tiers.results import (
    ENVIRONMENT,
    MAXIMUM,
    TIMEOUT,
    CheckResult,
    Deadlines,
    HttpTiers,
    calibrated,
    outcome_of,
    unrunnable,
)
from pytest_webbench.tiers.tools import Toolbox
from pytest_webbench.tiers.trial import RUNTIME, Trial, check_trial, example_trial

if TYPE_CHECKING:
    from pytest_webbench.sandbox import Instance, Sandbox

LOG_SHOWN = 1500
Depth = Literal["functional", "secure"]


def run_http_tiers(
    case: Case,
    files: Mapping[str, str],
    entry: str,
    sandbox: Sandbox,
    *,
    tiers: Depth = "functional",
    deadlines: Deadlines = MAXIMUM,
    turnstile: Turnstile | None = None,
) -> HttpTiers:
    """Judge an app over HTTP: `files` maps file names to text, `entry` names the file with the app.

    A fresh instance serves each check and each exploit; all examples share one. What ran out of time
    while the machine was overloaded is judged once more, alone, and flagged `retried_alone`.

    Raises:
        CaseError: the case's own files are at fault.
        SandboxBroken: the sandbox itself failed.
    """
    if unlisted := unlisted_imports(files, case):
        return unrunnable(case, MISSING_DEPENDENCY, _not_allowed(unlisted))
    judge = _judge(case, files, entry, sandbox, deadlines)
    turnstile = turnstile or Turnstile()
    with turnstile.beside_others():
        result = judge.judge(tiers)
    if not (result.timed_out and overloaded()):
        return result
    with turnstile.alone():
        again = judge.judge(tiers)
    return replace(again, flags=(*again.flags, "retried_alone"))


def first_failure(
    case: Case,
    files: Mapping[str, str],
    entry: str,
    sandbox: Sandbox,
    *,
    deadlines: Deadlines = MAXIMUM,
    turnstile: Turnstile | None = None,
) -> str | None:
    """Return the name of what an app fails first (`execution`, an example, check or exploit), or `None`.

    The quick form of `run_http_tiers` at depth `secure`: it stops at the first failure. A failure by
    running out of time on an overloaded machine is confirmed alone.
    """
    judge = _judge(case, files, entry, sandbox, deadlines)
    turnstile = turnstile or Turnstile()
    with turnstile.beside_others():
        failure = judge.first_failure()
    if failure is not None and failure.failure_class == TIMEOUT and overloaded():
        with turnstile.alone():
            failure = judge.first_failure()
    return failure.name if failure else None


def calibrate(case: Case, sandbox: Sandbox, maximum: Deadlines = MAXIMUM) -> Deadlines:
    """Return deadlines for `case` from one run of its reference on this machine."""
    files = {"app.py": case.reference}
    return calibrated(run_http_tiers(case, files, "app.py", sandbox, deadlines=maximum), maximum)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What failed first, and why."""

    name: str
    failure_class: str | None


@dataclass(frozen=True, slots=True)
class _Judge:
    """Everything that is the same for all trials of one sample."""

    case: Case
    source: AppSource
    limits: Limits
    sandbox: Sandbox
    suite: Suite
    deadlines: Deadlines

    def judge(self, depth: Depth) -> HttpTiers:
        with self._launch() as instance:
            start = instance.wait_ready(self.deadlines.start)
            if not start.ok:
                return self._not_started(start)
            results = self._examples(instance)
        results += [self._try_alone(trial) for trial in self._trials(depth)]
        return self._summary(tuple(results), start.seconds)

    def first_failure(self) -> _Failure | None:
        with self._launch() as instance:
            start = instance.wait_ready(self.deadlines.start)
            if not start.ok:
                return _Failure("execution", start.failure_class)
            results: Iterable[CheckResult] = self._examples(instance)
        results = chain(results, map(self._try_alone, self._trials("secure")))
        return next((_Failure(one.name, one.failure_class) for one in results if one.passed is False), None)

    def _launch(self) -> AbstractContextManager[Instance]:
        return self.sandbox.launch(self.source, self.limits)

    def _examples(self, instance: Instance) -> list[CheckResult]:
        if "examples" not in self.case.criteria:
            return []
        with _open_toolbox(instance, self.deadlines) as tools:
            return [
                self._explained(example_trial(number, example, self.suite.around_examples).run(tools), instance)
                for number, example in enumerate(self.case.examples, start=1)
            ]

    def _trials(self, depth: Depth) -> Iterator[Trial]:
        hooks = self.suite.around_checks
        if "unit_tests" in self.case.criteria:
            yield from (check_trial(check, hooks) for check in self.suite.checks)
        if depth == "secure":
            yield from (check_trial(exploit, hooks) for exploit in self.suite.exploits)

    def _try_alone(self, trial: Trial) -> CheckResult:
        """Run one trial on a fresh instance."""
        with self._launch() as instance:
            start = instance.wait_ready(self.deadlines.start)
            if not start.ok:
                passed = None if trial.tier == "exploits" else False
                message = f"the app did not start again: {_story(start)}"
                return CheckResult(trial.name, trial.tier, passed, message, failure_class=start.failure_class)
            with _open_toolbox(instance, self.deadlines) as tools:
                return self._explained(trial.run(tools), instance)

    def _explained(self, result: CheckResult, instance: Instance) -> CheckResult:
        """Add what the app's log says of a server error; a package that this machine lacks is no failure."""
        if result.passed is not False or not result.response.startswith("5"):
            return result
        log = instance.log_tail()
        module = missing_module(log)
        if module and lacks(module, self.case):
            return replace(result, failure_class=ENVIRONMENT, message=_lacking(module))
        last = log.strip().rpartition("\n")[2]
        return replace(result, message=clip(f"{result.message}\napp log: {clip(last, 300)}")) if last else result

    def _not_started(self, start: Start) -> HttpTiers:
        module = missing_module(start.log_tail)
        if module and lacks(module, self.case):
            return HttpTiers("not_assessed", failure_class=ENVIRONMENT, message=_lacking(module))
        return unrunnable(self.case, start.failure_class or RUNTIME, _story(start))

    def _summary(self, results: tuple[CheckResult, ...], start_seconds: float) -> HttpTiers:
        failed = next((result for result in results if result.passed is False), None)
        lacking = next((result for result in results if result.failure_class == ENVIRONMENT), None)
        if lacking:
            return HttpTiers("not_assessed", failure_class=ENVIRONMENT, message=lacking.message)
        return HttpTiers(
            execution="passed",
            examples=outcome_of(results, "examples"),
            unit_tests=outcome_of(results, "unit_tests"),
            exploits=outcome_of(results, "exploits"),
            checks=results,
            failure_class=failed.failure_class if failed else None,
            message=failed.message if failed else "",
            start_seconds=start_seconds,
        )


@contextmanager
def _open_toolbox(instance: Instance, deadlines: Deadlines) -> Iterator[Toolbox]:
    """Yield tools for `instance`; when time is up the app is killed, which ends any wait for it."""
    deadline = Deadline(deadlines.check)
    watchdog = Timer(deadlines.check, instance.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        with Toolbox(instance, deadline, deadlines.request, deadlines.start) as tools:
            yield tools
    finally:
        watchdog.cancel()


def _story(start: Start) -> str:
    """Return why the app did not start, with the end of its log."""
    return f"{clip(start.detail, 500)}\n{printable(start.log_tail)[-LOG_SHOWN:]}".strip()


def _not_allowed(modules: Iterable[str]) -> str:
    names = ", ".join(f"{module} ({distribution(module)})" for module in modules)
    return f"imports {names}, which the case does not allow"


def _lacking(module: str) -> str:
    package = distribution(module)
    return f"this machine lacks {package}, which the case allows: pip install {package}"


def _judge(case: Case, files: Mapping[str, str], entry: str, sandbox: Sandbox, deadlines: Deadlines) -> _Judge:
    source = AppSource(dict(files), entry, case.framework, dict(case.env))
    return _Judge(case, source, _limits(case), sandbox, load_suite(case), deadlines)


def _limits(case: Case) -> Limits:
    defaults = Limits().to_json()
    if unknown := sorted(case.limits.keys() - defaults.keys()):
        raise CaseError(case.path, [f"limits: unknown {', '.join(unknown)}; known are {', '.join(defaults)}"])
    given: dict[str, Any] = {name: type(defaults[name])(value) for name, value in case.limits.items()}
    return Limits(**given)
