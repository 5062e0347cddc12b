"""A sandbox without walls for tests: each instance is a plain child process serving a WSGI `app`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pytest_webbench.sandbox.contract import AppSource, Limits, Start

SERVER = Path(__file__).with_name("standin_server.py")


@dataclass
class StandInInstance:
    folder: Path
    socket_path: Path = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.socket_path = self.folder / "app.sock"
        self._spawn()

    def _spawn(self) -> None:
        self.socket_path.unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(SERVER), str(self.socket_path)],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def wait_ready(self, deadline: float) -> Start:
        begin = time.monotonic()
        ready = self.folder / "ready"
        while not ready.exists():
            if self.process.poll() is not None:
                return Start(False, "runtime", "it stopped", self.log_tail())
            if time.monotonic() > begin + deadline:
                return Start(False, "timeout", "not ready", self.log_tail())
            time.sleep(0.002)
        return Start(True, seconds=time.monotonic() - begin)

    def alive(self) -> bool:
        return self.process.poll() is None

    def restart(self) -> None:
        self.kill()
        (self.folder / "ready").unlink(missing_ok=True)
        self._spawn()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def log_tail(self) -> str:
        return (self.folder / "log").read_text()[-2000:]


class StandIn:
    """Counts its launches; `launch` writes the files and starts the server on `app.py`."""

    def __init__(self) -> None:
        self.launches = 0

    @contextmanager
    def launch(self, source: AppSource, limits: Limits) -> Iterator[StandInInstance]:
        self.launches += 1
        self.limits = limits
        with tempfile.TemporaryDirectory(prefix="standin", ignore_cleanup_errors=True) as folder:
            for name, text in source.files.items():
                (Path(folder) / name).write_text(text)
            instance = StandInInstance(Path(folder))
            try:
                yield instance
            finally:
                instance.kill()
