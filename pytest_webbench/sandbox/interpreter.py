"""The Python that runs apps: what it must read, who can read it, and how it starts inside."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
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
_BOOT = """
import sys, types
for name, folder in (("pytest_webbench", {root!r}), ("pytest_webbench.sandbox", {package!r})):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [folder]
{statement}
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The running interpreter.

    `packages` are its site folders, `readable` what an app may read, `shown` what a view must hold for it
    to start (links as well as their targets). `open_to_all` says whether an unprivileged user can use it.
    """

    executable: str
    packages: tuple[str, ...]
    readable: tuple[str, ...]
    shown: tuple[str, ...]
    open_to_all: bool

    def command(self, statement: str) -> list[str]:
        """Return a command that runs `statement` with this folder importable and nothing else of ours.

        The packages above are stand-ins, so that none of their own code runs or must be readable inside.
        """
        boot = _BOOT.format(root=str(_PACKAGE.parent), package=str(_PACKAGE), statement=statement)
        return [self.executable, "-I", "-B", "-X", "utf8", "-c", boot]


@cache
def interpreter() -> Interpreter:
    """Describe the running interpreter."""
    packages = tuple(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    paths = sysconfig.get_paths()
    prefixes = [f"{sys.base_prefix}/lib", *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))]
    wanted = dict.fromkeys(os.path.realpath(path) for path in (*prefixes, *packages))
    readable = tuple(path for path in (*wanted, *packages, *_SYSTEM_FILES) if os.path.exists(path))
    links = list(_links(Path(sys.executable)))
    environment = [sys.prefix] if sys.prefix != sys.base_prefix else []
    shown = (sys.base_prefix, *environment, *(str(link.parent) for link in links), *readable, str(_PACKAGE))
    needed = [links[-1], *map(Path, readable), _PACKAGE]
    return Interpreter(sys.executable, packages, readable, shown, all(map(_is_open_to_all, needed)))


def _is_open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in path.parents) and bool(path.stat().st_mode & 0o004)


def _links(path: Path) -> Iterator[Path]:
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path
