"""The completion store: completions by the key of their request, whatever keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from pytest_webbench.models import Completion, Request

POSTGRESQL = ("postgresql://", "postgres://")


class StoreError(Exception):
    """The store cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A request and the completion it brought."""

    request: Request
    completion: Completion


class CompletionStore(Protocol):
    """Completions by key. A completion is safe from a kill of the process once `put` has returned.

    Any thread may use it. Methods raise `StoreError` where the store cannot be read or written.
    """

    def get(self, key: str) -> Completion | None:
        """Return the completion stored under `key`, if any."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Completion]:
        """Return what is stored of `keys`."""

    def put(self, request: Request, completion: Completion) -> None:
        """Store a completion, replacing an earlier one of the same request."""

    def claim(self, key: str) -> bool:
        """Whether this process may ask for `key` now, because no other one that uses this store is asking.

        `release` ends a claim, and so does the end of the process, however it ends.
        """

    def release(self, key: str) -> None:
        """End a claim."""

    def models_returned(self, endpoint: str, model_id: str) -> frozenset[str]:
        """Return the names that a server gave its model in the completions stored so far."""

    def samples_of(self, endpoint: str, model_id: str) -> int:
        """Return how many samples of a prompt a model has at most."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Stored]:
        """Go through everything in order of the keys."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Release what the store holds."""


def is_url(location: str) -> bool:
    """Whether `location` names a database server, not a file."""
    return location.startswith(POSTGRESQL)


def is_there(location: str) -> bool:
    """Whether there is a store to be read: a database server is taken to have one."""
    return is_url(location) or Path(location).exists()


def open_store(location: str | Path) -> CompletionStore:
    """Open the store at a file (SQLite) or a `postgresql://` URL; it is made where there is none.

    Raises:
        StoreError: it cannot be opened, or is not a store of this version or older.
    """
    if is_url(str(location)):
        from pytest_webbench.completions.postgres import PostgresStore

        return PostgresStore(str(location))
    from pytest_webbench.completions.sqlite import SqliteStore

    return SqliteStore(Path(location))
