"""Samples run side by side, or one of them alone."""

from __future__ import annotations

import fcntl
import select
import subprocess
import sys
import time
from pathlib import Path

from pytest_webbench.tiers import overload
from pytest_webbench.tiers.overload import Turnstile, overloaded

HOLD = """
import sys
from pathlib import Path
from pytest_webbench.tiers.overload import Turnstile
with getattr(Turnstile(Path(sys.argv[1])), sys.argv[2])():
    print("in", flush=True)
    sys.stdin.read(1)
"""


def holder(folder: Path, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_several_pass_beside_others(tmp_path):
    first, second = holder(tmp_path, "beside_others"), holder(tmp_path, "beside_others")
    with Turnstile(tmp_path).beside_others():
        assert [first.stdout.readline(), second.stdout.readline()] == ["in\n", "in\n"]
    first.communicate("x")
    second.communicate("x")


def wait_for_shut_gate(folder: Path) -> None:
    """Return when somebody holds the gate."""
    with (folder / "gate.lock").open("a") as gate:
        while True:
            try:
                fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(gate, fcntl.LOCK_UN)
            time.sleep(0.01)


def test_who_wants_to_be_alone_waits_for_the_others_and_keeps_new_ones_out(tmp_path):
    beside = holder(tmp_path, "beside_others")
    assert beside.stdout.readline() == "in\n"
    alone = holder(tmp_path, "alone")
    wait_for_shut_gate(tmp_path)
    late = holder(tmp_path, "beside_others")
    beside.communicate("x")
    assert alone.stdout.readline() == "in\n"
    assert select.select([late.stdout], [], [], 0.5)[0] == []
    alone.communicate("x")
    assert late.stdout.readline() == "in\n"
    late.communicate("x")
    assert alone.returncode == late.returncode == 0


def test_who_is_beside_others_keeps_out_who_wants_to_be_alone(tmp_path):
    beside = holder(tmp_path, "beside_others")
    assert beside.stdout.readline() == "in\n"
    alone = holder(tmp_path, "alone")
    wait_for_shut_gate(tmp_path)
    assert select.select([alone.stdout], [], [], 0.3)[0] == []
    beside.communicate("x")
    assert alone.communicate("x")[0] == "in\n"


def test_the_place_of_a_killed_process_is_free(tmp_path):
    dead = holder(tmp_path, "alone")
    assert dead.stdout.readline() == "in\n"
    dead.kill()
    dead.wait()
    with Turnstile(tmp_path).beside_others():
        assert (tmp_path / "room.lock").exists()


def test_more_load_than_cores_is_overload(monkeypatch):
    monkeypatch.setattr(overload.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(overload.os, "getloadavg", lambda: (2.5, 0.0, 0.0))
    assert overloaded()
    monkeypatch.setattr(overload.os, "getloadavg", lambda: (1.9, 9.0, 9.0))
    assert not overloaded()
