"""What validating a case yields, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Options:
    """How thoroughly to validate: runs of the reference, mutants tried (`None`: all), and their seed."""

    repeat: int = 3
    mutants: int | None = 20
    seed: int = 0

    def covers(self, other: Options) -> bool:
        """Whether a result obtained with these options answers what `other` asks."""
        if self.mutants is not None and (other.mutants is None or other.mutants > self.mutants):
            return False
        return self.repeat >= other.repeat and (self.mutants is None or self.seed == other.seed)


DAILY = Options()
SET_KILLED_AT_LEAST = 0.9
"""Share of all mutants of several cases that their checks must notice."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no check noticed."""

    id: str
    line: int
    diff: str


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case. `errors` make it invalid; `warnings` are worth a look.

    `wrong` maps a wrong solution to the checks and exploits that caught it, `exploits` an exploit to the
    wrong solutions against which it succeeded. `weak` names checks that apps without any function pass.
    `mutants` were tried, `survivors` were noticed by no check.
    """

    case: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    repetitions: int = 0
    checks: int = 0
    flaky: tuple[str, ...] = ()
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exploits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weak: tuple[str, ...] = ()
    mutants: int = 0
    survivors: tuple[Survivor, ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the case is valid."""
        return not self.errors

    @property
    def killed(self) -> float | None:
        """Share (0 to 1) of the tried mutants that a check noticed; `None` without mutants."""
        return 1 - len(self.survivors) / self.mutants if self.mutants else None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with the derived values besides."""
        return asdict(self) | {"ok": self.ok, "killed": self.killed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a report from `to_json`'s object."""
        known = {item.name for item in fields(cls)}
        plain = {key: value for key, value in data.items() if key in known}
        for key in ("errors", "warnings", "flaky", "weak"):
            plain[key] = tuple(plain[key])
        for key in ("wrong", "exploits"):
            plain[key] = {name: tuple(values) for name, values in plain[key].items()}
        plain["survivors"] = tuple(Survivor(**survivor) for survivor in plain["survivors"])
        return cls(**plain)


@dataclass(frozen=True, slots=True)
class Validation:
    """All reports of one call, in the order of the cases."""

    reports: tuple[CaseReport, ...]

    @property
    def ok(self) -> bool:
        """Whether there are cases, all are valid, and the checks of several notice enough mutants together."""
        enough = len(self.reports) == 1 or self.killed is None or self.killed >= SET_KILLED_AT_LEAST
        return bool(self.reports) and all(report.ok for report in self.reports) and enough

    @property
    def killed(self) -> float | None:
        """Share (0 to 1) of all tried mutants that were noticed; `None` without mutants."""
        mutants = sum(report.mutants for report in self.reports)
        survivors = sum(len(report.survivors) for report in self.reports)
        return 1 - survivors / mutants if mutants else None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "ok": self.ok,
            "killed": self.killed,
            "cases": [report.to_json() for report in self.reports],
        }
