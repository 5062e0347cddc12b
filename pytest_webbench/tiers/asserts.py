"""Compile check files so that a failing plain `assert` explains itself as in a pytest test.

pytest offers its rewriting publicly only as an import hook: it wants an importable module name and a
running session. Checks are files outside any package, and they also run where no session exists, in
`webbench validate`. The function below the hook, `rewrite_asserts`, serves both; it has kept its
signature since pytest 5, and this module is the only one that knows it.
"""

from __future__ import annotations

import ast
import re
from types import CodeType

from _pytest.assertion.rewrite import rewrite_asserts

from pytest_webbench.cases import Source

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def compile_source(source: Source) -> CodeType:
    """Compile `source` with rewritten asserts; tracebacks lead to its own file.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(source.text, filename=str(source.path))
    rewrite_asserts(tree, source.text.encode(), str(source.path))
    return compile(tree, str(source.path), "exec", dont_inherit=True)


def explanation(failure: BaseException) -> str:
    """Return what the failing assert says of itself, without terminal colours."""
    return _COLOUR.sub("", str(failure)) or "assertion failed"
