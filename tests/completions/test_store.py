"""The completion store: durable at once, shared by processes, clear about files it cannot use."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_webbench.completions.store import CompletionStore, Stored, StoreError, open_store
from pytest_webbench.models import Completion, Message, Parameters, Request

FULL = Completion(
    text="```python\nname = 'été'\n```",
    finish_reason="stop",
    refusal=True,
    blocked="safety",
    model_returned="m-1",
    input_tokens=1,
    output_tokens=0,
    latency_seconds=0.5,
    cost=0.0,
    sdk="openai 3",
    created_at="2026-11-30T00:00:00+00:00",
    flags=("a", "b"),
    raw={"choices": [None]},
)
EMPTY = Completion(text=None, finish_reason=None)


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be made, by kind of database."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return str(tmp_path / "deep" / "completions.sqlite")


@pytest.fixture
def store(location: str) -> Iterator[CompletionStore]:
    with open_store(location) as opened:
        yield opened


def request(sample: int) -> Request:
    parameters = Parameters(temperature=0.8, extra=(("min_p", 0.1),))
    return Request((Message("user", "é\ud800"),), "m", "e", parameters, sample)


@pytest.mark.parametrize("completion", [FULL, EMPTY, Completion(text="\ud800\x00", finish_reason="stop")])
def test_a_completion_comes_back_as_it_was(store: CompletionStore, completion: Completion) -> None:
    store.put(request(0), completion)
    assert store.get(request(0).key) == completion


def test_what_is_not_stored_is_none(store: CompletionStore) -> None:
    assert store.get("0" * 64) is None
    assert store.get_many([]) == {}


def test_many_are_found_at_once(store: CompletionStore) -> None:
    for sample in range(3):
        store.put(request(sample), EMPTY)
    keys = [request(sample).key for sample in range(1500)]
    assert set(store.get_many(keys)) == set(keys[:3])


def test_a_second_answer_replaces_the_first(store: CompletionStore) -> None:
    store.put(request(0), EMPTY)
    store.put(request(0), FULL)
    assert len(store) == 1
    assert store.get(request(0).key) == FULL


def test_all_rows_are_gone_through_with_their_requests(store: CompletionStore) -> None:
    for sample in range(450):
        store.put(request(sample), EMPTY)
    rows = list(store)
    assert {row.request.sample for row in rows} == set(range(450))
    assert rows == sorted(rows, key=lambda row: row.request.key)
    assert Stored(request(0), EMPTY) in rows


def _put_many(location: str, first: int) -> None:
    with open_store(location) as store:
        for sample in range(first, first + 50):
            store.put(request(sample), FULL)


def test_several_processes_write_at_the_same_time(location: str) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_put_many, args=(location, 50 * number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    with open_store(location) as store:
        assert len(store) == 150


PRELUDE = """
import os, signal, sys
from pathlib import Path
from pytest_webbench.completions.store import open_store
from pytest_webbench.models import *
store = open_store(sys.argv[1])
"""


def run_beside(location: str, code: str) -> subprocess.Popen[str]:
    """Start a process that opens the store and runs `code`."""
    command = [sys.executable, "-c", PRELUDE + code, location]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_row_outlives_a_kill_right_after_put(location: str) -> None:
    code = (
        "store.put(Request((), 'm', 'e', Parameters(), 0), Completion('x', 'stop'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert run_beside(location, code).wait(30) == -9
    with open_store(location) as store:
        assert len(store) == 1


def test_a_key_is_claimed_by_one_process_at_a_time(location: str, store: CompletionStore) -> None:
    claim = "print(store.claim('ab' * 32), store.claim('cd' * 32), flush=True)\nsys.stdin.readline()\n"
    assert store.claim("ab" * 32)
    with run_beside(location, claim) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "False True\n"
        assert not store.claim("cd" * 32)
        store.release("ab" * 32)
        with run_beside(location, claim) as third:
            assert third.stdout is not None
            assert third.stdout.readline() == "True False\n"


def test_the_claims_of_a_killed_process_end(location: str, store: CompletionStore) -> None:
    with run_beside(location, "print(store.claim('ab' * 32), flush=True)\nsys.stdin.readline()\n") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert not store.claim("ab" * 32)
        other.kill()
    deadline = time.monotonic() + 10
    while not store.claim("ab" * 32):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_store_from_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    open_store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match=r"newer pytest-webbench .*99"):
        open_store(path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE completions (x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_store(path)
    assert path.read_bytes() == before


def _text(path: Path) -> None:
    path.write_text("not a database, but long enough to be taken for one " * 10, encoding="utf-8")


@pytest.mark.parametrize("make", [_text, Path.mkdir], ids=["text", "folder"])
def test_a_file_that_is_no_database_is_told(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    path = tmp_path / "store.sqlite"
    make(path)
    with pytest.raises(StoreError, match=r"store\.sqlite"):
        open_store(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.touch()
    with open_store(path) as store:
        assert len(store) == 0


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with open_store(path) as store:
        with sqlite3.connect(path) as db:
            db.execute("DROP TABLE completions")
        db.close()
        with pytest.raises(StoreError, match="cannot write"):
            store.put(request(0), EMPTY)


def test_a_database_from_a_newer_version_is_refused(postgres_url: str) -> None:
    import psycopg

    open_store(postgres_url).close()
    with psycopg.connect(postgres_url) as db:
        db.execute("UPDATE webbench_store SET version = 99")
    with pytest.raises(StoreError, match=r"newer pytest-webbench .*99"):
        open_store(postgres_url)


def test_a_database_that_cannot_be_reached_is_told_without_its_password(postgres_url: str) -> None:
    for url in (postgres_url.replace("sesame", "wrong-word"), "postgresql://bench:wrong-word@127.0.0.1:9/bench"):
        with pytest.raises(StoreError, match=r"cannot open the completion store postgresql://127\.0\.0\.1/") as told:
            open_store(url)
        assert "wrong-word" not in str(told.value)


def test_a_connection_that_is_lost_is_told(postgres_url: str) -> None:
    import psycopg

    with open_store(postgres_url) as store:
        with psycopg.connect(postgres_url, autocommit=True) as db:
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(StoreError, match="cannot write to the completion store"):
            store.put(request(0), EMPTY)
