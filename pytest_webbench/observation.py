"""What an agent's reviewer may see of running code: the case's public examples, never its hidden checks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from pytest_webbench.cases import Case
from pytest_webbench.extraction import Code
from pytest_webbench.models import InfrastructureError
from pytest_webbench.tiers.results import HttpTiers
from pytest_webbench.workbench import Workbench

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


@dataclass(slots=True)
class Observer:
    """Runs public examples one after the other in one thread, with a workbench of its own.

    The loop that asks models never waits for an app, and the items' workbench is not shared between threads.
    """

    workbench: Workbench
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "webbench-observe"))

    async def observe(self, case: Case, code: Code) -> str:
        """Start the code, send it the public examples, and return what happened as text.

        Raises `InfrastructureError` (`sandbox`, `environment`) where it could not be run.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._observe, case, code)

    def examine(self) -> str:
        """Return why nothing can be run on this machine; empty where it can."""
        self._thread.submit(self.workbench.examine).result()
        return self.workbench.why_no_sandbox

    def close(self) -> None:
        """End the thread and the sandbox."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.workbench.close()
        self._thread.shutdown()

    def _observe(self, case: Case, code: Code) -> str:
        result = self.workbench.run(public(case), code, code.text or "")
        if result is None:
            raise InfrastructureError("sandbox", self.workbench.why_no_sandbox)
        if result.execution == "not_assessed":
            raise InfrastructureError(result.failure_class or "sandbox", result.message)
        return "\n".join(_told(result))


def public(case: Case) -> Case:
    """Return a case as an agent may know it: no hidden check, no exploit."""
    criteria = tuple(name for name in case.criteria if name != "unit_tests")
    return replace(case, criteria=criteria, checks=(), exploits=(), unit_tests_setup="", unit_tests_teardown="")


def _told(result: HttpTiers) -> Iterator[str]:
    """Tell outcomes only, and no address in memory, so that the same code is always told the same way."""
    if result.execution == "failed":
        yield f"The application did not start: {_steady(result.message)}"
        return
    yield "The application started."
    for check in result.checks:
        request = check.name.partition(" ")[2]
        status = check.response.partition("\n")[0] or "no answer"
        outcome = "as expected" if check.passed else "NOT as expected"
        yield f"- {request}: {outcome} ({_steady(check.message or status)})"


def _steady(text: str) -> str:
    return _ADDRESS.sub("0x...", text.strip())
