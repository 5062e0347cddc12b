"""The line that tells a waiting person what is being waited for; silent in CI and where nobody watches."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from pytest_webbench.completions.progress import FetchProgress

if TYPE_CHECKING:
    from pytest_webbench.run import Run


class TerminalWriter(Protocol):
    """The part of pytest's terminal writer that is used."""

    hasmarkup: bool

    @property
    def fullwidth(self) -> int:
        """Columns of the terminal."""

    @property
    def width_of_current_line(self) -> int:
        """Columns written to since the last line end."""


INTERVAL = 0.5
PATIENCE = 1.0
SAVE, RESTORE, CLEAR = "\x1b7", "\x1b8", "\x1b[K"


class ProgressLine:
    """Writes behind the cursor of the controlling terminal, so that whatever pytest prints next overwrites it."""

    def __init__(self, run: Run, writer: TerminalWriter) -> None:
        self._run = run
        self._writer = writer
        self._screen = _screen() if writer.hasmarkup and not os.environ.get("CI") else None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        if self._screen is not None:
            self._thread = threading.Thread(
                target=self._tell, args=(self._screen,), name="webbench-progress", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stop, and clear what was written."""
        self._ended.set()
        if self._thread is not None and self._screen is not None:
            self._thread.join()
            self._thread = None
            self._screen.write(CLEAR)
            self._screen.close()

    def _tell(self, screen: TextIO) -> None:
        while not self._ended.wait(INTERVAL):
            room = self._writer.fullwidth - self._writer.width_of_current_line - 3
            text = describe(self._run.fetcher.progress(), self._run.labels)[: max(room, 0)]
            screen.write(f"{SAVE}{CLEAR}  {text}{RESTORE}")
            screen.flush()


def _screen() -> TextIO | None:
    try:
        return open("/dev/tty", "w", buffering=1, encoding="utf-8", errors="replace")
    except OSError:
        return None


def describe(progress: FetchProgress, labels: Mapping[str, str]) -> str:
    """Say in one line what is being waited for; empty where nothing is worth a word."""
    if not progress.waiting_for or progress.waiting_for[0].seconds < PATIENCE:
        return ""
    oldest = progress.waiting_for[0]
    parts = [f"{progress.left} to go"]
    if progress.seconds_left is not None:
        parts.append(f"about {_duration(progress.seconds_left)} left")
    if progress.tokens_per_second is not None:
        parts.append(f"{progress.tokens_per_second:.1f} tokens/s")
    if progress.spend:
        parts.append(f"{progress.spend:.4f} USD")
    parts.append(f"{oldest.seconds:.0f} s for {labels.get(oldest.key, oldest.alias)}")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
