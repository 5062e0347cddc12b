"""The examples in the metrics' docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["", ".codebleu", ".keywords", ".pass_at_k"])
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(import_module(f"pytest_webbench.metrics{name}"))
    assert result.attempted > 0
    assert result.failed == 0
