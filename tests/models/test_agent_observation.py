"""What a reviewer is told of running code: outcomes of the public examples, always in the same words."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from project import write_case

from pytest_webbench.cases import Case, load_case
from pytest_webbench.extraction import Code
from pytest_webbench.models import InfrastructureError
from pytest_webbench.observation import Observer
from pytest_webbench.tiers.results import CheckResult, HttpTiers, unrunnable
from pytest_webbench.workbench import Workbench

CODE = Code("x = 1", "fence_app")


class Standin:
    """A workbench that runs nothing."""

    why_no_sandbox = "no namespaces"

    def __init__(self, run: Callable[[Case], HttpTiers | None]) -> None:
        self._run = run

    def run(self, case: Case, code: Code, text: str) -> HttpTiers | None:
        assert (code, text) == (CODE, CODE.text)
        return self._run(case)

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_case(write_case(tmp_path, "alpha"))


def observed(case: Case, run: Callable[[Case], HttpTiers | None]) -> str:
    observer = Observer(cast(Workbench, Standin(run)))
    try:
        return asyncio.run(observer.observe(case, CODE))
    finally:
        observer.close()


def test_each_example_is_told_with_its_outcome(case: Case) -> None:
    checks = (
        CheckResult("example_1 GET /a", "examples", True, response="200 OK\nDate: now\n\nhello"),
        CheckResult("example_2 POST /b", "examples", False, "POST /b answered 500\napp log: <X object at 0x7f62ad90>"),
    )
    assert observed(case, lambda _: HttpTiers("passed", checks=checks)) == (
        "The application started.\n"
        "- GET /a: as expected (200 OK)\n"
        "- POST /b: NOT as expected (POST /b answered 500\napp log: <X object at 0x...>)"
    )


def test_an_app_that_does_not_start_is_told_with_the_reason(case: Case) -> None:
    told = observed(case, lambda given: unrunnable(given, "runtime", "NameError: name 'reqest' is not defined"))
    assert told == "The application did not start: NameError: name 'reqest' is not defined"


def test_the_sandbox_is_given_no_hidden_check(case: Case) -> None:
    given: list[Case] = []

    def run(one: Case) -> HttpTiers:
        given.append(one)
        return HttpTiers("passed")

    assert case.checks
    observed(case, run)
    assert (given[0].checks, given[0].exploits) == ((), ())
    assert "unit_tests" not in given[0].criteria
    assert given[0].examples == case.examples


@pytest.mark.parametrize(
    ("result", "failure", "message"),
    [
        (None, "sandbox", "no namespaces"),
        (HttpTiers("not_assessed", failure_class="environment", message="lacks jwt"), "environment", "lacks jwt"),
    ],
)
def test_what_cannot_be_run_is_no_observation(case: Case, result: Any, failure: str, message: str) -> None:
    with pytest.raises(InfrastructureError, match=message) as caught:
        observed(case, lambda _: result)
    assert caught.value.failure_class == failure


def test_the_loop_goes_on_while_an_app_is_observed(case: Case) -> None:
    went_on = threading.Event()

    def run(_: Case) -> HttpTiers:
        assert went_on.wait(10)
        return HttpTiers("passed")

    async def both(observer: Observer) -> None:
        async def other() -> None:
            went_on.set()

        await asyncio.gather(observer.observe(case, CODE), other())

    observer = Observer(cast(Workbench, Standin(run)))
    asyncio.run(both(observer))
    observer.close()
