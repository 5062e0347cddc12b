"""What goes into the sandbox and what comes out of it: the words that both sides share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Literal


class Level(StrEnum):
    """How strongly an app is walled in, from the strongest to none."""

    FULL = "full"
    KERNEL = "kernel"
    WEAK = "weak"
    OFF = "off"


class SandboxUnavailable(RuntimeError):
    """The asked-for isolation cannot be had here; the message says what is missing and how to get it."""


class SandboxBroken(RuntimeError):
    """The sandbox itself failed (not the app): an infrastructure error, never a verdict."""


@dataclass(frozen=True, slots=True)
class AppSource:
    """One generated app.

    `files` maps relative POSIX paths to text; `entry` is the one to load; `framework` is `Flask`, `FastAPI`
    or `Django`; `env` is added to the app's fixed environment; `expects="router"` mounts a lone Blueprint
    or APIRouter on a fresh app instead of calling the app missing.
    """

    files: Mapping[str, str]
    entry: str
    framework: str
    env: Mapping[str, str] = field(default_factory=dict)
    allow_subprocess: bool = False
    expects: Literal["app", "router"] = "app"

    def __post_init__(self) -> None:
        if self.entry not in self.files:
            raise ValueError(f"entry {self.entry!r} is not among the files")
        for name in self.files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"{name!r} is not a relative path below the working folder")


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings of one app process: seconds, bytes and counts.

    `disk_bytes` and `disk_files` bound the working folder: a hard quota at the full level, a patrol that
    kills the app within a quarter of a second elsewhere. `wall_seconds` ends an app that nobody stopped.
    """

    cpu_seconds: int = 10
    memory_bytes: int = 768 << 20
    file_bytes: int = 16 << 20
    open_files: int = 256
    processes: int = 64
    disk_bytes: int = 32 << 20
    disk_files: int = 4096
    wall_seconds: float = 120.0

    def to_json(self) -> dict[str, float]:
        """Return the limits as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Start:
    """Whether an app came up. Everything but `ok` is a diagnostic that the app could have influenced.

    `failure_class` is `structure_missing` (no app object), `runtime` (it raised, exited or was killed) or
    `timeout` (still not serving at the deadline, or out of CPU time); `detail` is one line for people.
    """

    ok: bool
    failure_class: str | None = None
    detail: str = ""
    log_tail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Exit:
    """How an app process ended: diagnostics, never a verdict. `max_rss` is in bytes.

    `ended_for` names the limit for which the sandbox ended it (`disk_bytes`, `disk_files`, `wall_seconds`).
    """

    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    max_rss: int
    log_tail: str
    ended_for: str | None = None


class Status:
    """Exit codes by which the loader inside tells why an app did not come up."""

    NO_APP = 81
    RAISED = 82
    STARTUP_FAILED = 83
    STOPPED_SERVING = 84
