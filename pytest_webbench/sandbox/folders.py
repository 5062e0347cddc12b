"""Temporary folders that the next run removes if their owner was killed before it could."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "webbench-sandbox-"
_ROOM_FOR_WORK = 1 << 30
_YOUNG_SECONDS = 60.0
_SHORT = 60


class OwnedFolder:
    """A new folder that is locked for as long as its owner lives, and removed by `remove`."""

    def __init__(self, parent: Path, mode: int) -> None:
        _remove_abandoned(parent)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        self.path.chmod(mode)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder and all that is in it. A second call does nothing."""
        if self._lock >= 0:
            remove_folder(self.path)
            os.close(self._lock)
            self._lock = -1


def short_temporary_folder() -> Path:
    """Return a folder whose name leaves room for a Unix socket's path (108 bytes)."""
    folder = tempfile.gettempdir()
    return Path(folder if len(folder) < _SHORT else "/tmp")


def roomy_temporary_folder() -> Path:
    """Return a folder for working folders: in memory where there is room, for SQLite's many fsyncs."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_FOR_WORK
    return memory if roomy else Path(tempfile.gettempdir())


def remove_folder(folder: Path) -> None:
    """Remove `folder` whatever an app made of it: a thousand levels deep, or unreadable."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--one-file-system", "--"]):
            subprocess.run([*command, folder], stderr=subprocess.DEVNULL, check=False)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            remove_folder(folder)


def _is_abandoned(folder: Path) -> bool:
    """Return whether the folder is ours, not brand-new, and nobody holds its lock."""
    try:
        status = folder.lstat()
        if status.st_uid != os.geteuid() or time.time() - status.st_mtime < _YOUNG_SECONDS:
            return False
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
