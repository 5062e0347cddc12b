"""Tell a slow app from a slow machine: who timed out under load gets one more try, alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def overloaded() -> bool:
    """Whether more processes want a core than there are cores (average of the last minute)."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


class Turnstile:
    """Lets samples of all processes of this user run side by side, or one of them alone.

    Two file locks: everybody passes the gate; who wants to be alone keeps it shut while the others
    leave. The locks of a killed process open by themselves.
    """

    def __init__(self, folder: Path | None = None) -> None:
        base = folder or Path(tempfile.gettempdir()) / f"webbench-{os.getuid()}"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._gate = base / "gate.lock"
        self._room = base / "room.lock"

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """Hold a place among others; waits while somebody is alone."""
        import fcntl

        with _locked(self._gate, fcntl.LOCK_EX):
            room = _lock(self._room, fcntl.LOCK_SH)
        try:
            yield
        finally:
            os.close(room)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until all others have left, and keep them out."""
        import fcntl

        with _locked(self._gate, fcntl.LOCK_EX), _locked(self._room, fcntl.LOCK_EX):
            yield


@contextmanager
def _locked(path: Path, operation: int) -> Iterator[None]:
    descriptor = _lock(path, operation)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, operation: int) -> int:
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, operation)
    return descriptor
