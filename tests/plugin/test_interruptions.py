"""Whatever ends a run: finished samples are recorded, the rest is reported as missing, a second run completes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from loopback import DEFAULT_TEXT, Loopback, completion
from project import PYTEST, records, run_json, write_case

SAMPLES = 12
ARGUMENTS = (
    "--model=some",
    f"--webbench-samples={SAMPLES // 2}",
    "--webbench-tiers=static",
    "--webbench-concurrency=1",
)


@pytest.fixture
def slow(cases: Path, request: pytest.FixtureRequest) -> Iterator[Loopback]:
    """Serve the model `some`, one answer every 0.25 s; its text is the fixture's parameter."""
    with Loopback(latency=0.25, answer=lambda seen: completion(getattr(request, "param", DEFAULT_TEXT))) as server:
        (cases / "webbench.toml").write_text(
            f"[models.some]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n", "utf-8"
        )
        yield server


def start(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a run, and wait until some of its samples are recorded."""
    process = subprocess.Popen(
        [*PYTEST, *ARGUMENTS, "--webbench-run-id=first", *arguments],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    ledger = root / "reports" / "runs" / "first" / "records.jsonl"
    wait_until(lambda: ledger.exists() and ledger.read_text().count("\n") >= 3)
    return process


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def completes(root: Path, server: Loopback, bench: Callable[..., pytest.RunResult], finished: int) -> None:
    """Assert that a second run judges every sample and asks for no stored completion again."""
    asked = len(server.bodies)
    result = bench(*ARGUMENTS, "--webbench-run-id=second", "--webbench-report-only")
    assert result.ret == 0
    assert len(records(root, "second")) == SAMPLES
    assert len(server.bodies) - asked <= SAMPLES - finished


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_run_reports_what_it_has(
    slow: Loopback, cases: Path, bench: Callable[..., pytest.RunResult], number: int, workers: tuple[str, ...]
) -> None:
    process = start(cases, *workers)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    finished = len(records(cases, "first"))
    assert 3 <= finished < SAMPLES
    assert f"some: {SAMPLES - finished} of {SAMPLES} samples not judged" in output
    completes(cases, slow, bench, finished)


@pytest.mark.parametrize("slow", ["I would rather not."], indirect=True)
def test_nothing_is_asked_while_the_reports_are_written(
    slow: Loopback, cases: Path, bench: Callable[..., pytest.RunResult], workers: tuple[str, ...]
) -> None:
    (cases / "conftest.py").write_text(
        "import time\n\n\ndef pytest_terminal_summary(terminalreporter):\n    time.sleep(1.5)\n", "utf-8"
    )
    result = bench(*ARGUMENTS, "--exitfirst", *workers)
    assert result.ret == (2 if workers else 3)
    assert len(slow.bodies) <= 5


def test_a_killed_run_keeps_every_finished_sample(
    slow: Loopback, cases: Path, bench: Callable[..., pytest.RunResult], workers: tuple[str, ...]
) -> None:
    process = start(cases, *workers)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=60)
    finished = len(records(cases, "first"))
    assert 3 <= finished < SAMPLES
    assert len(run_json(cases, "first")["expected"]) == SAMPLES
    shown = subprocess.run(
        [sys.executable, "-m", "pytest_webbench", "report", "first"],
        cwd=cases,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"some: {SAMPLES - finished} of {SAMPLES} samples not judged" in shown.stdout
    wait_until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))
    completes(cases, slow, bench, finished)


def test_a_killed_worker_costs_at_most_the_sample_it_had(
    slow: Loopback, cases: Path, bench: Callable[..., pytest.RunResult]
) -> None:
    process = start(cases, "-n", "2")
    victim = psutil.Process(process.pid).children()[0]
    os.kill(victim.pid, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert len(records(cases, "first")) == SAMPLES - 1
    assert f"some: 1 of {SAMPLES} samples not judged (1 infrastructure)" in output
    completes(cases, slow, bench, SAMPLES)


def test_a_line_that_a_killed_run_left_unfinished_is_cut_off(
    cases: Path, bench: Callable[..., pytest.RunResult]
) -> None:
    write_case(cases, "gamma")
    arguments = ("--model=reference", "--webbench-samples=1", "--webbench-tiers=static", "--webbench-run-id=torn")
    bench(*arguments)
    ledger = cases / "reports" / "runs" / "torn" / "records.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:2]) + '{"run_id": "to', "utf-8")
    bench(*arguments)
    assert len(records(cases, "torn")) == 5
