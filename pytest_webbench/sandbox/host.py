"""The sandbox as the trusted side holds it: one zygote per framework, one process per app instance."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pytest_webbench.sandbox import confine, levels
from pytest_webbench.sandbox.contract import AppSource, Level, Limits
from pytest_webbench.sandbox.folders import OwnedFolder, roomy_temporary_folder, short_temporary_folder
from pytest_webbench.sandbox.instance import Instance
from pytest_webbench.sandbox.levels import Walls
from pytest_webbench.sandbox.zygote_process import ZygoteProcess

if TYPE_CHECKING:
    from pytest_webbench.sandbox.probe import ProbeReport


def open_sandbox(level: str = "auto", *, strict: bool = False) -> Sandbox:
    """Open a sandbox at `level`: `auto`, `full`, `kernel`, `weak` or `off`.

    `auto` takes the best that this machine offers and refuses what is below the kernel level; `strict`
    refuses what is below full. Raise SandboxUnavailable, with what is missing and how to get it.

        with open_sandbox() as sandbox, sandbox.launch(source) as instance:
            instance.wait_ready(10)
    """
    return Sandbox(levels.choose(level, strict=strict))


class Sandbox:
    """Launches apps. Zygotes start when they are first needed and end with `close`. For one thread."""

    def __init__(self, walls: Walls) -> None:
        self.walls = walls
        self._machine = levels.machine()
        self._zygotes: dict[str, ZygoteProcess] = {}
        self._scratch = OwnedFolder(short_temporary_folder(), 0o700)
        self._work = None if walls.namespaces else OwnedFolder(roomy_temporary_folder(), 0o711)
        self._launches = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def level(self) -> Level:
        """The level that the mechanisms in use amount to."""
        return self.walls.level

    @property
    def header(self) -> str:
        """One line for people: the level, what holds, what is missing and how to get it."""
        return f"webbench sandbox: {self.level} ({self.walls.describe(self._machine)})"

    def launch(self, source: AppSource, limits: Limits | None = None) -> Instance:
        """Start an app in a process and a working folder of its own; `wait_ready` tells when it serves.

        Raise SandboxBroken if the app could not be confined.
        """
        self._launches += 1
        number = self._launches
        instance = Instance(
            source=source,
            limits=limits or Limits(),
            socket_path=str(self._scratch.path / f"{number}.sock"),
            zygote=self._zygote(source.framework),
            folder=self._new_folder(number),
            _log_path=self._scratch.path / f"{number}.log",
        )
        instance.launch(fresh=True)
        return instance

    def probe(self) -> ProbeReport:
        """Try to break out with an app made for that, and return what was held back."""
        from pytest_webbench.sandbox.probe import probe

        return probe(self)

    def retire(self, framework: str) -> None:
        """End the zygote of `framework`, with its apps; the next launch would start another."""
        if framework in self._zygotes:
            self._zygotes.pop(framework).close()

    def close(self) -> None:
        """End all zygotes and apps, and remove every temporary file."""
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()
        for folder in (self._scratch, self._work):
            if folder is not None:
                folder.remove()

    def _zygote(self, framework: str) -> ZygoteProcess:
        zygote = self._zygotes.get(framework)
        if zygote is not None and not zygote.running:
            zygote.close()
        if zygote is None or not zygote.running:
            self._zygotes[framework] = ZygoteProcess(framework, self.walls, self._machine, self._scratch.path)
        return self._zygotes[framework]

    def _new_folder(self, number: int) -> str:
        if self._work is None:
            return f"{confine.BOX}/{number}"
        folder = self._work.path / str(number)
        folder.mkdir(mode=0o700)
        who = levels.identity(self.walls, self._machine)
        if who is not None and who.uid is not None:
            os.chown(folder, who.uid, who.uid)
        return str(folder)
