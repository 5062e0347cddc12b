"""Load a case's trusted code: checks, exploits, setup and teardown."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Literal

from pytest_webbench.cases import Case, CaseError, Source
from pytest_webbench.tiers.asserts import compile_source
from pytest_webbench.tiers.tools import TOOLS

Tier = Literal["unit_tests", "exploits"]
_PREFIX: dict[Tier, str] = {"unit_tests": "check_", "exploits": "exploit_"}


@dataclass(frozen=True, slots=True)
class Check:
    """One `check_*` or `exploit_*` function; `parameters` name the tools it asks for."""

    name: str
    tier: Tier
    parameters: tuple[str, ...]
    function: FunctionType


@dataclass(frozen=True, slots=True)
class Hooks:
    """Compiled setup and teardown of one tier; `None` where the case has none."""

    setup: CodeType | None
    teardown: CodeType | None


@dataclass(frozen=True, slots=True)
class Suite:
    """All trusted code of a case, compiled."""

    checks: tuple[Check, ...]
    exploits: tuple[Check, ...]
    around_examples: Hooks
    around_checks: Hooks


def load_suite(case: Case) -> Suite:
    """Compile the case's trusted code once; later calls with equal sources reuse it.

    Raises:
        CaseError: a file does not load, a function asks for an unknown tool, a name occurs twice.
    """
    hooks = (case.examples_setup, case.examples_teardown, case.unit_tests_setup, case.unit_tests_teardown)
    return _load(case.checks, case.exploits, case.path, hooks)


@cache
def _load(checks: tuple[Source, ...], exploits: tuple[Source, ...], path: Path, hooks: tuple[str, ...]) -> Suite:
    setup, teardown, check_setup, check_teardown = (
        _compile(Source(text, path)) if text.strip() else None for text in hooks
    )
    return Suite(
        checks=_unique(tuple(check for source in checks for check in _functions(source, "unit_tests")), path),
        exploits=_unique(tuple(check for source in exploits for check in _functions(source, "exploits")), path),
        around_examples=Hooks(setup, teardown),
        around_checks=Hooks(check_setup, check_teardown),
    )


def _functions(source: Source, tier: Tier) -> Iterator[Check]:
    namespace: dict[str, Any] = {"__name__": source.path.stem, "__file__": str(source.path)}
    code = _compile(source)
    try:
        exec(code, namespace)
    except Exception as error:
        raise CaseError(source.path, [f"does not load: {type(error).__name__}: {error}"]) from error
    for name, function in namespace.items():
        if name.startswith(_PREFIX[tier]) and inspect.isfunction(function):
            yield Check(name, tier, _parameters(source, name, function), function)


def _compile(source: Source) -> CodeType:
    try:
        return compile_source(source)
    except SyntaxError as error:
        raise CaseError(source.path, [f"line {error.lineno}: {error.msg}"]) from error


def _parameters(source: Source, name: str, function: FunctionType) -> tuple[str, ...]:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise CaseError(source.path, [f"{name} would never run: a check is a plain function"])
    parameters = tuple(inspect.signature(function).parameters)
    unknown = [parameter for parameter in parameters if parameter not in TOOLS]
    if unknown:
        known = ", ".join(TOOLS)
        problems = [f"{name} asks for {parameter!r}, known are {known}" for parameter in unknown]
        raise CaseError(source.path, problems)
    return parameters


def _unique(checks: tuple[Check, ...], path: Path) -> tuple[Check, ...]:
    names = [check.name for check in checks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CaseError(path, [f"{name} is defined in more than one file of the case" for name in twice])
    return checks
