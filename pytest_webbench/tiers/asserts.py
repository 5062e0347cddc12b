"""Compile check files so that a failing plain `assert` explains itself as in a pytest test.

pytest offers its rewriting publicly only as an import hook: it wants an importable module name and a
running session. Checks are files outside any package, and they also run where no session exists, in
`webbench validate`. The function below the hook, `rewrite_asserts`, serves both; it has kept its
signature since pytest 5. This module is the only one that knows pytest's internals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from _pytest.assertion import util
from _pytest.assertion.rewrite import rewrite_asserts

from pytest_webbench.cases import Source

COMPARED_AT_MOST = 4000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def compile_source(source: Source) -> CodeType:
    """Compile `source` with rewritten asserts; tracebacks lead to its own file.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(source.text, filename=str(source.path))
    rewrite_asserts(tree, source.text.encode(), str(source.path))
    return compile(tree, str(source.path), "exec", dont_inherit=True)


@contextmanager
def bounded_comparisons() -> Iterator[None]:
    """Within a pytest run, let pytest explain comparisons of small values only.

    Its line-by-line comparison of two texts can take hours where an app sends megabytes.
    """
    explain = util._reprcompare

    def explain_small(operator: str, left: object, right: object) -> str | None:
        return explain(operator, left, right) if explain and _is_small(left) and _is_small(right) else None

    util._reprcompare = explain_small
    try:
        yield
    finally:
        util._reprcompare = explain


def _is_small(value: object) -> bool:
    text = value if isinstance(value, str | bytes) else _representation(value)
    return text is not None and len(text) <= COMPARED_AT_MOST


def _representation(value: object) -> str | None:
    """Return `repr(value)`, or `None` where an answer is nested too deeply to have one."""
    try:
        return repr(value)
    except RecursionError:
        return None


def explanation(failure: BaseException) -> str:
    """Return what the failing assert says of itself, without terminal colours."""
    return _COLOUR.sub("", str(failure)) or "assertion failed"
