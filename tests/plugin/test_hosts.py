"""Runs over several hosts that share no files: pytest-xdist by ssh."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hosts import Host, host, why_no_hosts
from loopback import Loopback, completion
from project import records

from pytest_webbench.ledger import read_run

pytestmark = pytest.mark.skipif(bool(why_no_hosts()), reason=why_no_hosts())


@pytest.fixture
def hosts(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Host]]:
    """Two hosts with the project of the fixture `cases`."""
    keys = tmp_path_factory.mktemp("keys")
    with ExitStack() as stack:
        yield [stack.enter_context(host(number, cases, keys)) for number in (1, 2)]


@pytest.fixture
def model(cases: Path, hosts: list[Host]) -> Iterator[Loopback]:
    """A model in a table that the hosts do not have."""
    good = (cases / "cases/flask/alpha/reference.py").read_text("utf-8")
    with Loopback(answer=lambda seen: completion(f"```python\n{good}\n```"), latency=0.2) as server:
        entry = f"[models.some]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n"
        (cases / "webbench.toml").write_text(entry, "utf-8")
        yield server


def test_hosts_that_share_no_files_judge_what_the_controller_fetches(
    cases: Path, hosts: list[Host], model: Loopback
) -> None:
    result = run_on(hosts, cases, "--webbench-samples=5")
    assert result.returncode == 0, result.stdout
    assert len(model.log) == 10
    found = records(cases)
    assert [record["status"] for record in found].count("passed") == 5
    assert {record["failure_class"] for record in found} == {None, "check_failed"}
    assert all("full" in record["sandbox"] for record in found)


def test_a_lost_host_is_reported_and_costs_no_record(cases: Path, hosts: list[Host], model: Loopback) -> None:
    def pull_the_plug_soon() -> None:
        while len(model.log) < 12:
            time.sleep(0.02)
        hosts[0].pull_the_plug()

    soon = threading.Thread(target=pull_the_plug_soon)
    soon.start()
    result = run_on(hosts, cases, "--webbench-samples=20", "--webbench-concurrency=2")
    soon.join()
    assert f"host root@{hosts[0].address} is gone; its samples go to root@{hosts[1].address}" in result.stdout
    assert "INTERNALERROR" not in result.stdout
    statuses = Counter(record.status for record in read_run(cases / "reports" / "latest").records)
    assert statuses == {"passed": statuses["passed"], "model_failure": 20, "infrastructure_error": 1}
    assert statuses.total() == 40, result.stdout
    assert result.returncode == 3
    assert len(model.log) == 40


def run_on(hosts: list[Host], cases: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with a worker on each host."""
    tx = [argument for one in hosts for argument in ("--tx", one.tx)]
    command = [sys.executable, "-m", "pytest", "-d", *tx, "--model=some", "--webbench-report-only", *arguments]
    return subprocess.run(command, cwd=cases, capture_output=True, text=True, check=False, timeout=120)
