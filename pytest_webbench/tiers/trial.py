"""One example, check or exploit tried on one running app, and what is made of its outcome."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Literal

import httpx2
import pytest

from pytest_webbench.cases import Example
from pytest_webbench.tiers.asserts import bounded_comparisons, explanation
from pytest_webbench.tiers.checks import Check, Hooks
from pytest_webbench.tiers.exchange import clip
from pytest_webbench.tiers.results import TIMEOUT, CheckResult
from pytest_webbench.tiers.tools import Toolbox

CHECK_FAILED = "check_failed"
RUNTIME = "runtime"
Tier = Literal["examples", "unit_tests", "exploits"]
_DYING_SECONDS = 0.3
"""A dying process drops its connections a moment before it is gone."""
_FAILED = (AssertionError, pytest.fail.Exception)


@dataclass(frozen=True, slots=True)
class Trial:
    """What to do to an app: `action`, between the setup and teardown in `hooks`."""

    name: str
    tier: Tier
    hooks: Hooks
    action: Callable[[Toolbox], object]
    file: str = ""

    def run(self, tools: Toolbox) -> CheckResult:
        """Run setup, action and, whatever happened, teardown; the first thing raised decides."""
        started = time.monotonic()
        with bounded_comparisons():
            error = _error_of(lambda: self._set_up_and_act(tools))
            error = _first(error, _error_of(lambda: _run_hook(self.hooks.teardown, tools)))
        failure_class = _failure_class(error, tools) if error else None
        return CheckResult(
            name=self.name,
            tier=self.tier,
            passed=_passed(self.tier, error, failure_class),
            message=clip(_message(error, tools, self.file)) if error else "",
            request=tools.recorder.request,
            response=tools.recorder.response,
            seconds=time.monotonic() - started,
            failure_class=failure_class,
        )

    def _set_up_and_act(self, tools: Toolbox) -> None:
        _run_hook(self.hooks.setup, tools)
        self.action(tools)
        if tools.expired:
            raise TimeoutError("it ended only when the deadline had passed")


def check_trial(check: Check, hooks: Hooks) -> Trial:
    """Return the trial of a check or exploit."""
    return Trial(
        name=check.name,
        tier=check.tier,
        hooks=hooks,
        action=lambda tools: check.function(**tools.select(check.parameters)),
        file=check.function.__code__.co_filename,
    )


def example_trial(number: int, example: Example, hooks: Hooks) -> Trial:
    """Return the trial of a public example; `number` counts from 1."""
    return Trial(
        name=f"example_{number} {example.method} {example.path}",
        tier="examples",
        hooks=hooks,
        action=lambda tools: _send(example, tools),
    )


def _send(example: Example, tools: Toolbox) -> None:
    """Send the public request: it runs if nothing crashes and the status is as promised."""
    response = tools.client.request(
        example.method,
        example.path,
        json=example.json,
        data=example.form,
        content=example.body,
        headers=example.headers,
    )
    line = f"{example.method} {example.path}"
    if response.status_code >= 500:
        pytest.fail(f"{line} answered {response.status_code}")
    if example.status not in (None, response.status_code):
        pytest.fail(f"{line} answered {response.status_code}, expected {example.status}")
    if not tools.alive:
        pytest.fail(f"the app stopped after {line}")


def _run_hook(code: CodeType | None, tools: Toolbox) -> None:
    if code is not None:
        exec(code, {"client": tools.client})


def _error_of(action: Callable[[], object]) -> BaseException | None:
    """Whatever a check raises is an answer about the app; only an interrupt of the run goes on."""
    try:
        action()
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
        return error
    return None


def _first(*errors: BaseException | None) -> BaseException | None:
    return next((error for error in errors if error is not None), None)


def _failure_class(error: BaseException, tools: Toolbox) -> str:
    if tools.expired or isinstance(error, httpx2.TimeoutException | TimeoutError):
        return TIMEOUT
    if isinstance(error, httpx2.TransportError | ConnectionError):
        tools.wait_for_end(_DYING_SECONDS)
    return CHECK_FAILED if tools.alive or isinstance(error, _FAILED) else RUNTIME


def _passed(tier: Tier, error: BaseException | None, failure_class: str | None) -> bool | None:
    """An exploit that ends in anything but a failed assert was not really tried."""
    if error is None:
        return True
    if tier == "exploits" and (failure_class == TIMEOUT or not isinstance(error, _FAILED)):
        return None
    return False


def _message(error: BaseException, tools: Toolbox, file: str) -> str:
    where = _place(error, file)
    if isinstance(error, _FAILED):
        return explanation(error) + where
    lines = [f"{type(error).__name__}: {error}{where}"]
    if tools.expired:
        lines.insert(0, "the deadline passed")
    elif not tools.alive:
        lines.insert(0, "the app stopped")
    if last := tools.recorder.last:
        lines.append(f"last answer ({last.line}): {clip(last.response, 500)}")
    return "\n".join(lines)


def _place(error: BaseException, file: str) -> str:
    """Name the innermost line of the check's own file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"\n  ({Path(file).name}, line {lines[-1]})" if lines else ""
