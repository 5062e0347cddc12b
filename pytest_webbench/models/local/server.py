"""The child process that serves a local model, seen from its parent."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import IO

from pytest_webbench.models import ConfigError

START_SECONDS = 120.0
STOP_SECONDS = 2.0
LAST_MOMENT_SECONDS = 0.5
SPARE_MEMORY_BYTES = 500 << 20
ILLEGAL_INSTRUCTION = (-getattr(signal, "SIGILL", 4), 132, 0xC000001D, -0x3FFFFFE3)
KILLED = (-9, 137)


def runtime() -> str:
    """Return name and version of the runtime; raise `ConfigError` where it is not installed."""
    try:
        return f"xllamacpp {metadata.version('xllamacpp')}"
    except metadata.PackageNotFoundError:
        raise ConfigError(
            "local_model",
            'a local model needs xllamacpp: pip install "pytest-webbench[local]" (there are wheels for'
            " Linux with glibc, macOS 13 and later, and Windows on x86-64)",
        ) from None


@dataclass(slots=True)
class LocalServer:
    """One server for one model file; `start` and `stop` block. `url` and `key` hold once it has started.

    `command` is what runs before the arguments MODEL CONTEXT THREADS.
    """

    model: Path
    context: int
    threads: int | None = None
    command: tuple[str, ...] = (sys.executable, "-P", str(Path(__file__).with_name("serve.py")))
    url: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)
    _errors: IO[str] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start the child and wait until it listens; raise `ConfigError` where it does not."""
        _check_memory(self.model.stat().st_size)
        arguments = [*self.command, str(self.model), str(self.context), str(self.threads or _usable_cpus())]
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            # Threads that spin while they wait lose most of their time on a busy machine.
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "WEBBENCH_LOCAL_KEY": self.key},
            start_new_session=True,
        )
        self._process = process
        limit = threading.Timer(START_SECONDS, process.kill)
        limit.start()
        address = _ready(process.stdout)
        in_time = limit.is_alive()
        limit.cancel()
        if address is None:
            process.wait()
            reason = self.failure() if in_time else f"it was not ready after {START_SECONDS:g} s"
            self.stop()
            raise ConfigError("local_model", f"the local model's server did not start: {reason}")
        self.url = f"{address}/v1"

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._process is not None and self._process.poll() is None

    def ended(self) -> bool:
        """Tell whether the child is gone, or goes within a moment."""
        if self._process is None:
            return True
        try:
            self._process.wait(LAST_MOMENT_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def failure(self) -> str:
        """Say why the child has ended."""
        status = self._process.poll() if self._process else None
        if status in ILLEGAL_INSTRUCTION:
            return "this processor lacks AVX2, which xllamacpp needs; use another model"
        if status in KILLED:
            return "it was killed, perhaps for want of memory"
        return f"exit status {status}{self._last_error()}"

    def stop(self) -> None:
        """End the child, by force if it does not go by itself."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._errors is not None:
            self._errors.close()

    def _last_error(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        return f" ({lines[-1][:200]}); is {self.model.name} a complete GGUF file?" if lines else ""


def _ready(output: IO[str] | None) -> str | None:
    for line in output or ():
        try:
            return str(json.loads(line)["ready"])
        except (ValueError, KeyError, TypeError):
            continue
    return None


def _usable_cpus() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _check_memory(size: int) -> None:
    import psutil

    available = psutil.virtual_memory().available
    if available < size + SPARE_MEMORY_BYTES:
        raise ConfigError(
            "local_model",
            f"the model needs about {(size + SPARE_MEMORY_BYTES) >> 20} MB of memory, {available >> 20} MB"
            " are available: close something, or use a smaller model",
        )
