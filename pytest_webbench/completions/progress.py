"""Where the fetching of completions stands, for the progress line and the summary."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_webbench.models import Completion


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request in flight: model alias, completion key, seconds since it was sent."""

    alias: str
    key: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """Counts of completions known so far; `sent` counts requests, retries included.

    `spend` is this run's cost in USD as far as known; `unpriced` completions came at an unknown one.
    `waiting_for` holds the requests in flight, the oldest first. Times are in seconds.
    """

    total: int
    stored: int
    sent: int
    done: int
    failed: int
    waiting_for: tuple[Waiting, ...]
    output_tokens: int
    spend: float
    unpriced: int
    seconds: float

    @property
    def in_flight(self) -> int:
        """Requests that were sent and not yet answered."""
        return len(self.waiting_for)

    @property
    def left(self) -> int:
        """Completions still to come."""
        return self.total - self.stored - self.done - self.failed

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens a second since the first request, over all requests together."""
        return self.output_tokens / self.seconds if self.output_tokens and self.seconds else None

    @property
    def seconds_left(self) -> float | None:
        """Time until the last completion at the speed so far."""
        return self.left * self.seconds / self.done if self.done else None


class Tally:
    """Counts what happens to each completion; any thread may call it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._stored: set[str] = set()
        self._asked: set[str] = set()
        self._done: set[str] = set()
        self._failed: set[str] = set()
        self._in_flight: dict[str, tuple[str, float]] = {}
        self._sent = 0
        self._output_tokens = 0
        self._unpriced = 0
        self._first: float | None = None

    def stored(self, keys: Iterable[str]) -> None:
        """Note completions found in the store."""
        with self._lock:
            self._stored.update(keys)

    def asked(self, key: str) -> None:
        """Note a completion that a model must be asked for."""
        with self._lock:
            self._asked.add(key)
            self._failed.discard(key)

    def found(self, key: str) -> None:
        """Note a completion that a model was to be asked for and that another run stored meanwhile."""
        with self._lock:
            self._asked.discard(key)
            self._stored.add(key)

    def sent(self, alias: str, key: str) -> None:
        """Note a request that leaves now."""
        with self._lock:
            now = self._now()
            self._first = now if self._first is None else self._first
            self._in_flight[key] = (alias, now)
            self._sent += 1

    def returned(self, key: str) -> None:
        """Note the end of a request, good or bad."""
        with self._lock:
            self._in_flight.pop(key, None)

    def answered(self, key: str, completion: Completion) -> None:
        """Note a completion that arrived."""
        with self._lock:
            self._done.add(key)
            self._output_tokens += completion.output_tokens or 0
            self._unpriced += completion.cost is None

    def failed(self, key: str) -> None:
        """Note a completion that will not come."""
        with self._lock:
            self._failed.add(key)

    def progress(self, spend: float) -> FetchProgress:
        """Return the counts as they are now."""
        with self._lock:
            now = self._now()
            waiting = [Waiting(alias, key, now - since) for key, (alias, since) in self._in_flight.items()]
            return FetchProgress(
                total=len(self._stored | self._asked),
                stored=len(self._stored - self._asked),
                sent=self._sent,
                done=len(self._done),
                failed=len(self._failed),
                waiting_for=tuple(sorted(waiting, key=lambda one: -one.seconds)),
                output_tokens=self._output_tokens,
                spend=spend,
                unpriced=self._unpriced,
                seconds=0.0 if self._first is None else now - self._first,
            )
