"""What judging an app over HTTP yields."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pytest_webbench.cases import Case
from pytest_webbench.records import Outcome

ENVIRONMENT = "environment"
TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long to wait, in seconds: for the start, for one check, for one request."""

    start: float = 20.0
    check: float = 30.0
    request: float = 10.0


MAXIMUM = Deadlines()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One example, check or exploit.

    `passed` is `None` where an exploit could not be tried; for an exploit `True` means that the attack
    was repelled. `request` and `response` are the last ones, 2 KB each.
    """

    name: str
    tier: Literal["examples", "unit_tests", "exploits"]
    passed: bool | None
    message: str = ""
    request: str = ""
    response: str = ""
    seconds: float = 0.0
    failure_class: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class HttpTiers:
    """The four tiers that need a running app.

    `failure_class` is that of the first failure; `environment` means that this machine lacks an allowed
    package, which is no failure of the model (`execution` is then `not_assessed`). `start_seconds` is
    the time to the first answerable moment.
    """

    execution: Outcome
    examples: Outcome = "not_assessed"
    unit_tests: Outcome = "not_assessed"
    exploits: Outcome = "not_assessed"
    checks: tuple[CheckResult, ...] = ()
    failure_class: str | None = None
    message: str = ""
    start_seconds: float = 0.0
    flags: tuple[str, ...] = ()

    def share(self, tier: str) -> float | None:
        """Return the share (0 to 1) of `tier` that passed; `None` where it was not assessed."""
        outcome: Outcome = getattr(self, tier)
        if outcome == "not_assessed":
            return None
        results = [result.passed is True for result in self.checks if result.tier == tier]
        return sum(results) / len(results) if results else float(outcome == "passed")

    @property
    def timed_out(self) -> bool:
        """Whether waiting ended anything: the start, an example, a check, an exploit."""
        return TIMEOUT in {self.failure_class, *(result.failure_class for result in self.checks)}


def outcome_of(results: tuple[CheckResult, ...], tier: str) -> Outcome:
    """Summarize `tier`: a failure decides, then a gap, then success; no result is `not_assessed`."""
    verdicts = {result.passed for result in results if result.tier == tier}
    if False in verdicts:
        return "failed"
    if None in verdicts or not verdicts:
        return "not_assessed"
    return "passed"


def unrunnable(case: Case, failure_class: str, message: str) -> HttpTiers:
    """Return the outcome of an app that does not start: every declared tier failed with 0 of n."""
    declared: dict[str, Outcome] = {tier: "failed" for tier in ("examples", "unit_tests") if tier in case.criteria}
    return HttpTiers(
        execution="failed",
        examples=declared.get("examples", "not_assessed"),
        unit_tests=declared.get("unit_tests", "not_assessed"),
        failure_class=failure_class,
        message=message,
    )


def calibrated(reference: HttpTiers, maximum: Deadlines = MAXIMUM) -> Deadlines:
    """Return deadlines from the times the reference took: ten times each, within `maximum`.

    No deadline is under a quarter of the maximum: short times say little about a loaded machine.
    """
    slowest = max((result.seconds for result in reference.checks), default=0.0)
    return Deadlines(
        start=_bounded(10 * reference.start_seconds, maximum.start),
        check=_bounded(10 * slowest, maximum.check),
        request=_bounded(10 * slowest, maximum.request),
    )


def _bounded(seconds: float, maximum: float) -> float:
    return min(max(seconds, maximum / 4), maximum)
