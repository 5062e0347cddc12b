"""The syntax tier: does Python parse the file that would be written?"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from pytest_webbench.extraction.python import Problem, compile_problem, parse
from pytest_webbench.tiers import TierResult


@dataclass(frozen=True, slots=True)
class SyntaxResult(TierResult):
    """The syntax verdict, with the exception's type name and line (1-based) where it failed.

    Code that parses but does not compile (`return` at top level) passes: `compiles` is then false and
    `compile_message` says why, because its execution must fail.
    """

    error_type: str | None = None
    line: int | None = None
    compiles: bool = False
    compile_message: str = ""


def check(code: str) -> SyntaxResult:
    """Judge code by `ast.parse` of its UTF-8 bytes; never raises, whatever the text."""
    tree = parse(code)
    if not isinstance(tree, ast.Module):
        message = _describe(tree)
        return SyntaxResult(False, message, "syntax_error", tree.error_type, tree.line, False, message)
    problem = compile_problem(code)
    return SyntaxResult(
        passed=True, compiles=problem is None, compile_message="" if problem is None else _describe(problem)
    )


def _describe(problem: Problem) -> str:
    where = "" if problem.line is None else f" (line {problem.line})"
    return f"{problem.error_type}: {problem.message}{where}"
