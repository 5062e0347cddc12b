"""The completion store in a PostgreSQL database, for hosts that share no disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, LiteralString, Self
from urllib.parse import urlsplit

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
CONNECT_SECONDS = 10
WATCHFUL: dict[str, Any] = {
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""For libpq: a server that is gone is noticed within half a minute (milliseconds and seconds)."""
UNUSABLE = (
    "--webbench-store: not a usable postgresql:// URL; percent-encode what is special in its password,"
    " or give that by PGPASSWORD or .pgpass"
)
EXTRA = 'pip install "pytest-webbench[postgres]"'
_SCHEMA_LOCK = 0x57656242  # "WebB"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS webbench_store (version INTEGER NOT NULL);
INSERT INTO webbench_store SELECT 1 WHERE NOT EXISTS (SELECT FROM webbench_store);
CREATE TABLE IF NOT EXISTS webbench_completions (
    key TEXT COLLATE "C" PRIMARY KEY,
    endpoint TEXT NOT NULL,
    model_id TEXT NOT NULL,
    sample INTEGER NOT NULL,
    request TEXT NOT NULL,
    text TEXT NOT NULL,
    finish_reason TEXT,
    refusal INTEGER NOT NULL,
    blocked TEXT,
    model_returned TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    latency_seconds DOUBLE PRECISION,
    cost DOUBLE PRECISION,
    sdk TEXT,
    created_at TEXT,
    flags TEXT NOT NULL,
    raw TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS webbench_completions_model ON webbench_completions (endpoint, model_id)
"""
_PUT = (
    f"INSERT INTO webbench_completions (key, endpoint, model_id, sample, request, {COLUMNS})"
    f" VALUES ({', '.join(['%s'] * 18)}) ON CONFLICT (key) DO UPDATE SET "
    + ", ".join(f"{name} = EXCLUDED.{name}" for name in COLUMNS.split(", "))
)
_OF_MODEL = "FROM webbench_completions WHERE endpoint = %s AND model_id = %s"


class PostgresStore:
    """A `CompletionStore` in the tables `webbench_completions` and `webbench_store` of a database.

    Claims are advisory locks of this connection, which the server releases when it ends. `url` is what libpq
    takes, `postgresql://user@host/database`; its password, as that of PGPASSWORD or .pgpass, is never shown.
    """

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise StoreError(f"a store in PostgreSQL needs psycopg: {EXTRA}") from None
        self._error = psycopg.Error
        self._name = _without_password(url)
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise StoreError(UNUSABLE) from None
        try:
            self._db = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS, **WATCHFUL)
        except psycopg.Error as error:
            raise StoreError(f"cannot open the completion store {self._name}: {error}") from None
        try:
            self._prepare()
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
        rows = self._query(f"SELECT key, {COLUMNS} FROM webbench_completions WHERE key = ANY(%s)", [list(keys)])
        return {row[0]: completion_from_row(row[1:]) for row in rows}

    def put(self, request: Request, completion: Completion) -> None:
        """Store a completion, replacing an earlier one of the same request."""
        place = (request.key, request.endpoint, request.model_id, request.sample, request_to_text(request))
        with self._telling("write to"):
            self._db.execute(_PUT, (*place, *completion_to_row(completion)))

    def claim(self, key: str) -> bool:
        """Take the claim on `key`, unless another connection has it."""
        return bool(self._query("SELECT pg_try_advisory_lock(%s)", [_number(key)])[0][0])

    def release(self, key: str) -> None:
        """End the claim on `key`."""
        self._query("SELECT pg_advisory_unlock(%s)", [_number(key)])

    def models_returned(self, endpoint: str, model_id: str) -> frozenset[str]:
        """Return the names that a server gave its model in the completions stored so far."""
        query = f"SELECT DISTINCT model_returned {_OF_MODEL} AND model_returned IS NOT NULL"
        return frozenset(name for (name,) in self._query(query, [endpoint, model_id]))

    def samples_of(self, endpoint: str, model_id: str) -> int:
        """Return how many samples of a prompt a model has at most."""
        highest = self._query(f"SELECT max(sample) {_OF_MODEL}", [endpoint, model_id])[0][0]
        return 0 if highest is None else int(highest) + 1

    def __len__(self) -> int:
        return int(self._query("SELECT count(*) FROM webbench_completions", [])[0][0])

    def __iter__(self) -> Iterator[Stored]:
        """Go through all rows in order of their keys."""
        last = ""
        query = f"SELECT key, request, {COLUMNS} FROM webbench_completions WHERE key > %s ORDER BY key LIMIT 200"
        while rows := self._query(query, [last]):
            for key, request, *columns in rows:
                yield Stored(request_from_json(json.loads(request)), completion_from_row(columns))
                last = key

    def close(self) -> None:
        """Close the connection and end all claims."""
        self._db.close()

    def _prepare(self) -> None:
        with self._telling("prepare"), self._db.transaction():
            self._db.execute("SELECT pg_advisory_xact_lock(%s)", [_SCHEMA_LOCK])
            self._db.execute(_SCHEMA)
        version = self._query("SELECT version FROM webbench_store", [])[0][0]
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self._name} was written by a newer pytest-webbench (store version {version}, this one reads"
                f" {SCHEMA_VERSION}): upgrade pytest-webbench, or choose another --webbench-store"
            )

    def _query(self, sql: LiteralString, values: list[Any]) -> list[tuple[Any, ...]]:
        with self._telling("read"):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _telling(self, action: str) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise StoreError(f"cannot {action} the completion store {self._name}: {error}") from error


def _number(key: str) -> int:
    """Return the 64-bit number whose advisory lock stands for a key."""
    return int(key[:15], 16)


def _without_password(url: str) -> str:
    """Return what can be shown of a URL; one whose password is cut in two by its own characters is refused."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (it raises where it is no number)
    except ValueError:
        raise StoreError(UNUSABLE) from None
    if url.count("@") > 1 or "#" in url:
        raise StoreError(UNUSABLE)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
