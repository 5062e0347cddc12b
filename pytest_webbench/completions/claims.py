"""Which process asks for what, among those that share a file: locks on its bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FIRST_DIGITS = 15
"""Of a key's hexadecimal digits: the byte whose lock stands for the key, below 2 ** 60."""


class FileClaims:
    """Claims on keys (hexadecimal). The operating system ends those of a process that ends.

    The file stays empty: bytes beyond its end can be locked. Where the platform has no such locks (Windows)
    every claim is granted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self, key: str) -> bool:
        """Take the claim on `key`; False if another process has it."""
        if sys.platform == "win32":
            return True
        import fcntl

        try:
            fcntl.lockf(self._opened(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(key))
        except BlockingIOError:
            return False
        return True

    def release(self, key: str) -> None:
        """End the claim on `key`."""
        if sys.platform == "win32" or self._descriptor is None:
            return
        import fcntl

        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _byte(key))

    def close(self) -> None:
        """End all claims of this process."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        return self._descriptor


def _byte(key: str) -> int:
    return int(key[:FIRST_DIGITS], 16)
