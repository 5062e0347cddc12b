"""Check files compiled so that a plain assert explains itself, inside and outside pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webbench.cases import Source
from pytest_webbench.tiers.asserts import compile_source, explanation


def test_outside_a_pytest_run_the_values_are_shown_as_well(tmp_path):
    script = """
from pathlib import Path
from pytest_webbench.cases import Source
from pytest_webbench.tiers.asserts import bounded_comparisons, compile_source, explanation
source = Source("def f(x):\\n    assert x + 1 == 3, 'three is wanted'\\n", Path("checks.py"))
names = {}
exec(compile_source(source), names)
try:
    with bounded_comparisons():
        names["f"](1)
except AssertionError as failure:
    print(explanation(failure))
"""
    answer = subprocess.run([sys.executable, "-O", "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout == "three is wanted\nassert (1 + 1) == 3\n"


def test_an_assert_without_words_still_says_something():
    assert explanation(AssertionError()) == "assertion failed"


def test_terminal_colours_are_removed():
    assert explanation(AssertionError("\x1b[31mred\x1b[0m")) == "red"


def test_a_traceback_leads_to_the_file_and_line():
    source = Source("\n\nassert 1 == 2\n", Path("cases/flask/x/checks.py"))
    with pytest.raises(AssertionError) as failure:
        exec(compile_source(source), {})
    assert (str(failure.traceback[-1].path), failure.traceback[-1].lineno) == (str(source.path), 2)
