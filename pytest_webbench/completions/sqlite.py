"""The completion store in one SQLite file, safe for several processes of this machine at once."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_webbench.completions.claims import FileClaims
from pytest_webbench.completions.rows import (
    COLUMNS,
    completion_from_row,
    completion_to_row,
    request_from_json,
    request_to_text,
)
from pytest_webbench.completions.store import Stored, StoreError
from pytest_webbench.models import Completion, Request

SCHEMA_VERSION = 1
APPLICATION_ID = 0x57656242  # "WebB"
BUSY_SECONDS = 30.0

_SCHEMA = """
CREATE TABLE completions (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    text TEXT NOT NULL,
    finish_reason TEXT,
    refusal INTEGER NOT NULL,
    blocked TEXT,
    model_returned TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    latency_seconds REAL,
    cost REAL,
    sdk TEXT,
    created_at TEXT,
    flags TEXT NOT NULL,
    raw TEXT NOT NULL
) STRICT
"""
_PUT = f"INSERT OR REPLACE INTO completions (key, request, {COLUMNS}) VALUES ({', '.join('?' * 15)})"
_OF_MODEL = "json_extract(request, '$.endpoint') = ? AND json_extract(request, '$.model_id') = ?"
_KEYS_PER_QUERY = 500


class SqliteStore:
    """A `CompletionStore` in a file; claims are locks on the file beside it whose name ends with `-claims`.

    Raises `StoreError` where the file is not a store of this version or older.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._claims = FileClaims(path.with_name(f"{path.name}-claims"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot open the completion store {path}: {error}") from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise StoreError(f"{path} is not a usable completion store ({error}): move it away") from error
        except StoreError:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get(self, key: str) -> Completion | None:
        """Return the completion stored under `key`, if any."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, Completion]:
        """Return what is stored of `keys`."""
        wanted = list(keys)
        found: dict[str, Completion] = {}
        for start in range(0, len(wanted), _KEYS_PER_QUERY):
            chunk = wanted[start : start + _KEYS_PER_QUERY]
            marks = ", ".join("?" * len(chunk))
            rows = self._query(f"SELECT key, {COLUMNS} FROM completions WHERE key IN ({marks})", chunk)
            found |= {row[0]: completion_from_row(row[1:]) for row in rows}
        return found

    def put(self, request: Request, completion: Completion) -> None:
        """Store a completion, replacing an earlier one of the same request."""
        with self._lock:
            try:
                self._db.execute(_PUT, (request.key, request_to_text(request), *completion_to_row(completion)))
            except sqlite3.Error as error:
                raise StoreError(f"cannot write to the completion store {self.path}: {error}") from error

    def claim(self, key: str) -> bool:
        """Take the claim on `key`, unless another process has it."""
        try:
            return self._claims.take(key)
        except OSError as error:
            raise StoreError(f"cannot lock {self._claims.path}: {error.strerror}") from error

    def release(self, key: str) -> None:
        """End the claim on `key`."""
        self._claims.release(key)

    def models_returned(self, endpoint: str, model_id: str) -> frozenset[str]:
        """Return the names that a server gave its model in the completions stored so far."""
        query = f"SELECT DISTINCT model_returned FROM completions WHERE {_OF_MODEL} AND model_returned IS NOT NULL"
        return frozenset(name for (name,) in self._query(query, (endpoint, model_id)))

    def samples_of(self, endpoint: str, model_id: str) -> int:
        """Return how many samples of a prompt a model has at most."""
        query = f"SELECT max(json_extract(request, '$.sample')) FROM completions WHERE {_OF_MODEL}"
        highest = self._query(query, (endpoint, model_id))[0][0]
        return 0 if highest is None else int(highest) + 1

    def __len__(self) -> int:
        return int(self._query("SELECT count(*) FROM completions", ())[0][0])

    def __iter__(self) -> Iterator[Stored]:
        """Go through all rows in order of their keys."""
        last = ""
        query = f"SELECT key, request, {COLUMNS} FROM completions WHERE key > ? ORDER BY key LIMIT 200"
        while rows := self._query(query, (last,)):
            for key, request, *columns in rows:
                yield Stored(request_from_json(json.loads(request)), completion_from_row(columns))
                last = key

    def close(self) -> None:
        """Close the file and end all claims."""
        self._claims.close()
        with self._lock:
            self._db.close()

    def _query(self, sql: str, values: Iterable[str]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(sql, tuple(values)).fetchall()
            except sqlite3.Error as error:
                raise StoreError(f"cannot read the completion store {self.path}: {error}") from error

    def _prepare(self) -> None:
        self._check()
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("BEGIN IMMEDIATE")
        if self._pragma("user_version") == 0:
            self._db.execute(_SCHEMA)
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._db.execute("COMMIT")

    def _check(self) -> None:
        version, application = self._pragma("user_version"), self._pragma("application_id")
        tables = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application not in (0, APPLICATION_ID) or (tables and application == 0):
            raise StoreError(f"{self.path} is the database of another program: choose another --webbench-store")
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer pytest-webbench (store version {version},"
                f" this one reads {SCHEMA_VERSION}): upgrade pytest-webbench, or choose another"
                " --webbench-store"
            )

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])
