"""Running the apps: what the header says, and what happens where nothing can be run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from project import records

Bench = Callable[..., pytest.RunResult]
REFERENCE = ("--model=reference", "--webbench-samples=1")

NO_SANDBOX = """
import pytest_webbench.sandbox as sandbox

def unavailable(level, *, strict=False):
    raise sandbox.SandboxUnavailable("no isolation here: install bubblewrap")

sandbox.open_sandbox = unavailable
"""


@pytest.fixture
def no_sandbox(cases: Path, pytester: pytest.Pytester) -> None:
    """A machine where no sandbox can be had."""
    pytester.makeconftest(NO_SANDBOX)


def test_the_reference_passes_functionally(cases: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    result = bench(*REFERENCE, *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["webbench sandbox: *escape attempts held back"])
    for record in records(cases):
        assert (record["functional_pass"], record["points"]) == (True, 100.0)
        assert record["sandbox"].startswith("webbench sandbox: ")


@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_nothing_is_executed_and_the_run_exits_3(
    cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    result = bench(*REFERENCE, *workers)
    assert result.ret == 3
    result.stdout.fnmatch_lines(["NOTHING WAS EXECUTED: no isolation here: install bubblewrap"])
    for record in records(cases):
        assert (record["status"], record["failure_class"]) == ("infrastructure_error", "not_assessed")
        assert set(record["tiers"].values()) == {"passed", "not_assessed"}
        assert record["web_codebleu"] > 0.99


@pytest.mark.usefixtures("no_sandbox")
def test_the_static_tiers_need_no_sandbox(bench: Bench) -> None:
    assert bench(*REFERENCE, "--webbench-tiers=static").ret == 0


@pytest.mark.usefixtures("no_sandbox")
def test_strict_refuses_to_run(bench: Bench) -> None:
    result = bench(*REFERENCE, "--webbench-sandbox-strict")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webbench-sandbox-strict: no isolation here: install bubblewrap"])
