"""What this machine offers for isolation, and which level follows from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from pytest_webbench.sandbox import confine
from pytest_webbench.sandbox.contract import Level, SandboxUnavailable
from pytest_webbench.sandbox.interpreter import interpreter

UNPRIVILEGED_UID = 65534
"""Whom root turns into: `nobody` on every Linux."""

_LANDLOCK_FOR_KERNEL_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Machine:
    """What was found: bubblewrap's working command line, Landlock's ABI, seccomp; and why not, where not."""

    bubblewrap: tuple[str, ...] | None
    bubblewrap_uid: int | None
    bubblewrap_problem: str
    landlock: int
    seccomp: bool


@dataclass(frozen=True, slots=True)
class Walls:
    """The mechanisms that a sandbox uses. `landlock` is the ABI version, 0 for none."""

    namespaces: bool
    landlock: int
    seccomp: bool

    @property
    def level(self) -> Level:
        """The level that these mechanisms amount to."""
        if self.namespaces and self.landlock and self.seccomp:
            return Level.FULL
        if self.seccomp and (self.namespaces or self.landlock >= _LANDLOCK_FOR_KERNEL_LEVEL):
            return Level.KERNEL
        return Level.WEAK if self.namespaces or self.landlock or self.seccomp else Level.OFF

    def describe(self, machine: Machine) -> str:
        """Return what holds and what is missing, in one line."""
        here = ["namespaces, tmpfs"] * self.namespaces + [f"landlock abi{self.landlock}"] * bool(self.landlock)
        here += ["seccomp"] * self.seccomp + ["rlimits"]
        if self.level in (Level.FULL, Level.OFF):
            return ", ".join(here)
        return f"{', '.join(here)}; MISSING {'; '.join(_missing(self, machine))}"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the zygote turns into (None: nobody else), and the capabilities that it and its apps keep."""

    uid: int | None
    zygote: int
    apps: int


def identity(walls: Walls, machine: Machine) -> Identity | None:
    """Return who apps run as: never as root with its powers. None at the off level: as whoever runs this."""
    root = os.geteuid() == 0
    if walls.namespaces:
        inherited = not root or machine.bubblewrap_uid is not None
        return Identity(None if inherited else UNPRIVILEGED_UID, confine.CAP_SYS_ADMIN, 0)
    if walls.level is Level.OFF:
        return None
    if not root:
        return Identity(None, 0, 0)
    if interpreter().open_to_all:
        return Identity(UNPRIVILEGED_UID, 0, 0)
    if walls.landlock and confine.has_capability(confine.CAP_DAC_READ_SEARCH):
        return Identity(UNPRIVILEGED_UID, confine.CAP_DAC_READ_SEARCH, confine.CAP_DAC_READ_SEARCH)
    return Identity(None, 0, 0)


@cache
def machine() -> Machine:
    """Find out, by trying, what works here."""
    command, uid, problem = _working_bubblewrap()
    return Machine(command, uid, problem, confine.landlock_abi(), confine.seccomp_works())


def _working_bubblewrap() -> tuple[tuple[str, ...] | None, int | None, str]:
    """Return the command line that works, the uid to start it as, and else what is wrong with it."""
    if shutil.which("bwrap") is None:
        return None, None, "bubblewrap is not installed"
    problem = ""
    for uid, user_namespace in _ways():
        command = confine.bubblewrap(interpreter().shown, user_namespace=user_namespace)
        become = None if user_namespace else UNPRIVILEGED_UID
        rehearsal = f"from pytest_webbench.sandbox import confine\nconfine.rehearse({become})"
        tried = subprocess.run(
            [*command, *interpreter().command(rehearsal)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
            env={"PATH": os.defpath},
            check=False,
        )
        if tried.returncode == 0:
            return tuple(command), uid, ""
        problem = problem or tried.stderr.strip().rpartition("\n")[2] or "bwrap failed"
    return None, None, problem


def _ways() -> list[tuple[int | None, bool]]:
    """Return (uid to start bubblewrap as, in a user namespace) in order of preference."""
    if os.geteuid() != 0:
        return [(None, True)]
    as_nobody = [(UNPRIVILEGED_UID, True)] if interpreter().open_to_all else []
    return [*as_nobody, (None, False)]


def choose(asked: str, *, strict: bool) -> Walls:
    """Return the mechanisms to use for the level `asked`; raise SandboxUnavailable if they cannot be had."""
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(
            f"no sandbox on {sys.platform}: nothing is executed. Run on Linux (WSL2, a VM or a container),"
            " or use --webbench-tiers static"
        )
    level = None if asked == "auto" else Level(asked)
    if level is Level.OFF:
        return Walls(False, 0, False)
    found = machine()
    best = Walls(found.bubblewrap is not None, found.landlock, found.seccomp)
    without = Walls(False, found.landlock, found.seccomp)
    if strict and best.level is not Level.FULL:
        raise SandboxUnavailable(f"the full sandbox is not available: {'; '.join(_missing(best, found))}")
    if level is None and best.level in (Level.FULL, Level.KERNEL):
        return best
    if level is Level.WEAK:
        return without
    if level is Level.KERNEL and Level.KERNEL in (without.level, best.level):
        return without if without.level is Level.KERNEL else best
    if level is best.level:
        return best
    raise SandboxUnavailable(
        f"the {level or 'kernel'} sandbox is not available: {'; '.join(_missing(best, found))}."
        " Nothing is executed; --webbench-tiers static works without it"
    )


def _missing(walls: Walls, found: Machine) -> list[str]:
    """Return what keeps `walls` from being full, each with its remedy."""
    missing = []
    if not walls.namespaces:
        missing.append(f"namespaces and tmpfs -> disk quota by patrol only: {_bubblewrap_remedy(found)}")
    if not walls.landlock:
        missing.append(
            "landlock: needs Linux 5.13 or newer with Landlock enabled (6.12 for the kernel level) and landlockpy"
        )
    elif not walls.namespaces and walls.landlock < _LANDLOCK_FOR_KERNEL_LEVEL:
        missing.append(f"landlock abi6 (found abi{walls.landlock}): needs Linux 6.12 or newer")
    if not walls.seccomp:
        missing.append("seccomp: apt-get install libseccomp2 and pip install pyseccomp")
    return missing


def _bubblewrap_remedy(found: Machine) -> str:
    if found.bubblewrap is not None:
        return "available with --webbench-sandbox full"
    if "not installed" in found.bubblewrap_problem:
        return "apt-get install bubblewrap"
    remedy = "allow user namespaces (sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu 24.04)"
    return f"{found.bubblewrap_problem}: {remedy}"
