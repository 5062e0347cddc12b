"""Finished runs judged again: the same records wherever it is done, no model asked."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest
from loopback import Loopback, completion, error
from project import records

from pytest_webbench import load_records

Bench = Callable[..., pytest.RunResult]
CHANGING = {"run_id", "duration_seconds", "versions", "sandbox", "started_at", "from_store"}


def webbench(root: Path, *arguments: str, status: int = 0) -> str:
    """Run the command; return what it showed."""
    command = [sys.executable, "-m", "pytest_webbench", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def verdicts(folder: Path) -> dict[tuple[str, int], str]:
    """Return the records of a run folder without what differs from one judging to the next."""
    found = {}
    for record in load_records(folder):
        plain = {name: value for name, value in asdict(record).items() if name not in CHANGING}
        found[record.case_name, record.sample] = re.sub(r"Date: [^\\]+", "Date: ...", json.dumps(plain))
    return found


@pytest.fixture
def run(cases: Path, bench: Bench) -> Path:
    """A run of six samples: passed, failed, without code, and one that could not be had."""
    good = (cases / "cases/flask/alpha/reference.py").read_text("utf-8")
    replies = [f"```python\n{good}\n```", "```python\nx = 1\n```", "no code here", f"```python\n{good}\n```"]
    script = [*map(completion, replies), error(400, "too long", code="context_length_exceeded")]
    with Loopback(script=script, answer=lambda seen: completion(f"```python\n{good}\n```")) as server:
        entry = f"[models.some]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n"
        (cases / "webbench.toml").write_text(entry, "utf-8")
        bench("--model=some", "--webbench-samples=3", "--webbench-concurrency=1", "--webbench-report-only")
        assert len(server.log) == 6
    assert len({record["status"] for record in records(cases)}) == 3
    return (cases / "reports" / "latest").resolve()


def test_judging_again_gives_the_same_records_and_leaves_the_run_alone(run: Path, cases: Path) -> None:
    before = (run / "records.jsonl").read_bytes()
    printed = webbench(cases, "rescore", "latest")
    assert "verdicts that changed: none" in printed
    assert (run / "records.jsonl").read_bytes() == before
    again = run.with_name(f"{run.name}-rescored")
    assert verdicts(again) == verdicts(run)
    assert {record.run_id for record in load_records(again)} == {again.name}
    described = json.loads((again / "run.json").read_text("utf-8"))
    assert described["rescored"] == run.name
    assert {"index.html", "summary.json", "prompts.json", "completions.jsonl"} <= {
        path.name for path in again.iterdir()
    }
    webbench(cases, "rescore", run.name)
    assert run.with_name(f"{run.name}-rescored-2").is_dir()


def test_a_case_that_changed_changes_the_verdicts(run: Path, cases: Path) -> None:
    checks = cases / "cases/flask/alpha/checks.py"
    checks.write_text(checks.read_text("utf-8") + "\n\ndef check_more(client):\n    assert 0, 'never'\n", "utf-8")
    printed = webbench(cases, "rescore", "latest")
    assert "from passed to model_failure" in printed


def test_what_the_store_lacks_is_not_judged_and_said(run: Path, cases: Path) -> None:
    (cases / ".webbench" / "completions.sqlite").unlink()
    webbench(cases, "export", "nothing.jsonl", status=4)
    (cases / "empty.jsonl").write_text("", "utf-8")
    webbench(cases, "import", "empty.jsonl")
    printed = webbench(cases, "rescore", "latest")
    assert "6 of 6 samples not judged" in printed
    again = load_records(run.with_name(f"{run.name}-rescored"))
    assert {record.failure_class for record in again} == {"not_stored", "context_length"}


def test_a_case_that_is_gone_is_named(run: Path, cases: Path) -> None:
    for name in ("definition.toml", "reference.py", "checks.py"):
        (cases / "cases/flask/beta" / name).unlink()
    assert "flask/beta" in webbench(cases, "rescore", "latest", status=4)


def test_a_ray_cluster_gives_the_same_records(run: Path, cases: Path) -> None:
    pytest.importorskip("ray")
    webbench(cases, "rescore", "latest", "--engine", "ray", "--jobs", "2", "--out", "spread")
    assert verdicts(cases / "spread") == verdicts(run)


def test_a_killed_worker_of_the_cluster_costs_only_time(cases: Path, bench: Bench) -> None:
    pytest.importorskip("ray")
    good = (cases / "cases/flask/alpha/reference.py").read_text("utf-8")
    with Loopback(answer=lambda seen: completion(f"```python\n{good}\n```")) as server:
        entry = f"[models.some]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n"
        (cases / "webbench.toml").write_text(entry, "utf-8")
        bench("--model=some", "--webbench-samples=20", "--webbench-report-only")
    command = [sys.executable, "-m", "pytest_webbench", "rescore", "latest", "--engine=ray", "--jobs=2", "--out=spread"]
    with subprocess.Popen(command, cwd=cases, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as spreading:
        judging = wait_for_a_worker(spreading)
        judging.kill()
        printed, _ = spreading.communicate()
    assert spreading.returncode == 0, printed
    assert "verdicts that changed: none" in printed
    assert len(load_records(cases / "spread")) == 40


def wait_for_a_worker(driver: subprocess.Popen[str]) -> psutil.Process:
    """Return a process that judges for `driver`, once it has judged something."""
    while driver.poll() is None:
        for process in psutil.Process(driver.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if process.name().startswith("ray::") and process.children():
                    return process
        time.sleep(0.01)
    pytest.fail(f"no worker was seen before the end: {driver.communicate()[0]}")
