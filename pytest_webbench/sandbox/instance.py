"""One running app, seen from the trusted side."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pytest_webbench.sandbox.contract import AppSource, Exit, Limits, SandboxBroken, Start, Status

if TYPE_CHECKING:
    from pytest_webbench.sandbox.zygote_process import ZygoteProcess

_POLL_SECONDS = 0.002
_TAIL_BYTES = 8192
_STARTS = {
    Status.NO_APP: ("structure_missing", "no app was found"),
    Status.RAISED: ("runtime", "the code raised while it was loaded"),
    Status.STARTUP_FAILED: ("runtime", "the app's startup failed"),
    Status.STOPPED_SERVING: ("runtime", "the app stopped before it served"),
}


@dataclass(slots=True)
class Instance:
    """An app in its sandbox. Made by `Sandbox.launch`; leaving its context stops the app.

    `socket_path` is the Unix socket on which the app answers HTTP. `kill` may be called from any thread,
    the rest only from the one that launched.
    """

    source: AppSource
    limits: Limits
    socket_path: str
    zygote: ZygoteProcess
    folder: str
    _log_path: Path
    _id: int = 0
    _pidfd: int = -1
    _listener: socket.socket | None = None
    _exit: Exit | None = None
    _stopped: bool = False
    _started_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def launch(self, *, fresh: bool) -> None:
        """Start a process for the app. Raise SandboxBroken if it could not be confined."""
        Path(self.socket_path).unlink(missing_ok=True)
        self._started_at = time.monotonic()
        self._exit = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.socket_path)
        log = os.open(self._log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        try:
            self._id, self._pidfd = self.zygote.start(self, self._listener.fileno(), log, fresh=fresh)
        except SandboxBroken:
            self._close_listener()
            raise
        finally:
            os.close(log)

    def wait_ready(self, deadline_seconds: float) -> Start:
        """Wait until the app listens, ended, or `deadline_seconds` passed; a late app is killed.

        The app starts to listen when it is loaded and its startup is over. Up to then a failure is a
        failed start; from then on whatever goes wrong is a failed check. An app that listens early only
        makes its checks fail.
        """
        end = time.monotonic() + deadline_seconds
        while not self._listening():
            if select.select([self._pidfd], [], [], _POLL_SECONDS)[0]:
                return self._failed_start()
            if time.monotonic() > end:
                self.kill()
                self._await_exit()
                return self._start("timeout", f"not serving after {deadline_seconds:g} s")
        self._close_listener()
        return Start(True, seconds=time.monotonic() - self._started_at)

    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._pidfd >= 0 and not select.select([self._pidfd], [], [], 0)[0]

    def kill(self) -> None:
        """End the process at once, and with it whatever a client waits for. Callable from any thread."""
        with self._lock:
            if self._pidfd >= 0:
                _signal(self._pidfd)

    def restart(self) -> None:
        """Start the app again in a new process with the same working folder; `wait_ready` follows."""
        self.kill()
        self._await_exit()
        self.launch(fresh=False)

    def stop(self) -> Exit:
        """End the app, remove its folder, and return how it ended. Further calls return the same."""
        self.kill()
        ended = self._await_exit()
        if not self._stopped:
            self._stopped = True
            self.zygote.discard(self.folder)
            Path(self.socket_path).unlink(missing_ok=True)
            self._log_path.unlink(missing_ok=True)
        return ended

    def log_tail(self) -> str:
        """Return the last 8 KB that the app wrote to stdout and stderr."""
        if self._stopped and self._exit is not None:
            return self._exit.log_tail
        with self._log_path.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL_BYTES))
            return log.read().decode(errors="backslashreplace")

    def _listening(self) -> bool:
        return self._listener is None or bool(self._listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))

    def _close_listener(self) -> None:
        """Drop the trusted side's copy, so that connections fail as soon as the app is dead."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _await_exit(self) -> Exit:
        self._close_listener()
        if self._exit is None:
            event = self.zygote.await_end(self._id)
            with self._lock:
                os.close(self._pidfd)
                self._pidfd = -1
            self._exit = Exit(log_tail=self.log_tail(), **event)
        return self._exit

    def _failed_start(self) -> Start:
        ended = self._await_exit()
        if ended.signal in (signal.SIGXCPU, signal.SIGKILL) and ended.cpu_seconds >= self.limits.cpu_seconds - 1:
            return self._start("timeout", f"used {ended.cpu_seconds:.1f} s of CPU time without serving")
        if ended.ended_for:
            return self._start("runtime", f"ended by the sandbox for {ended.ended_for}")
        if ended.signal is not None:
            return self._start("runtime", f"killed by {signal.Signals(ended.signal).name}")
        failure_class, detail = _STARTS.get(
            ended.exit_code or 0, ("runtime", f"exited with code {ended.exit_code} before it served")
        )
        last = ended.log_tail.strip().rpartition("\n")[2]
        return self._start(failure_class, f"{detail}: {last}" if last else detail)

    def _start(self, failure_class: str, detail: str) -> Start:
        return Start(False, failure_class, detail, self.log_tail(), time.monotonic() - self._started_at)


def _signal(pidfd: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        return
