"""What this machine offers for isolation, and which level follows from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import confine
from .contract import Level, SandboxUnavailable

UNPRIVILEGED_UID = 65534
"""Whom root turns into: `nobody` on every Linux."""

_LANDLOCK_FOR_KERNEL_LEVEL = 6
_SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/usr/share/zoneinfo",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib32",
    "/lib64",
)


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter of the zygote: what it must read, and whether an unprivileged user can."""

    executable: str
    packages: tuple[str, ...]
    readable: tuple[str, ...]
    readable_by_all: bool


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


@cache
def python() -> Python:
    """Describe the running interpreter."""
    packages = tuple(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    paths = sysconfig.get_paths()
    prefixes = [f"{sys.base_prefix}/lib", *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))]
    wanted = dict.fromkeys(os.path.realpath(path) for path in (*prefixes, *packages))
    readable = tuple(path for path in (*wanted, *packages, *_SYSTEM_FILES) if os.path.exists(path))
    folders = [Path(sys.executable).resolve(), *map(Path, readable), Path(__file__).parent]
    return Python(sys.executable, packages, readable, all(map(_open_to_all, folders)))


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in path.parents) and bool(path.stat().st_mode & 0o004)


def view() -> list[str]:
    """Return the paths that a namespace must show for the zygote to start, links as well as targets."""
    chain = _links(Path(sys.executable))
    venv = [sys.prefix] if sys.prefix != sys.base_prefix else []
    package = str(Path(__file__).parent)
    return list(
        dict.fromkeys([sys.base_prefix, *venv, *(str(path.parent) for path in chain), *python().readable, package])
    )


def _links(path: Path) -> Iterator[Path]:
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path


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
        command = confine.bubblewrap(view(), user_namespace=user_namespace)
        tried = subprocess.run(
            [*command, sys.executable, "-I", "-S", "-c", ""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
            env={"PATH": os.defpath + ":/usr/sbin"},
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
    as_nobody = [(UNPRIVILEGED_UID, True)] if python().readable_by_all else []
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
        missing.append(f"namespaces and tmpfs -> no disk quota: {_bubblewrap_remedy(found)}")
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
        return "not asked for"
    if "not installed" in found.bubblewrap_problem:
        return "apt-get install bubblewrap"
    remedy = "allow user namespaces (sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu 24.04)"
    return f"{found.bubblewrap_problem}: {remedy}"
