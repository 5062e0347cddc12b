"""Work grows in step with the text: counted in function calls, so that no clock is involved."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pytest_webbench.metrics import Reference

VIEW = """
@app.route("/things/{n}", methods=["GET", "POST"])
def view_{n}(page=1):
    total = {n}
    if request.method == "POST":
        total += page
    elif page > 3:
        total = page
    for item in things:
        while total:
            total = total - item
    return jsonify([total for thing in things if thing])
"""


def program(lines: int) -> str:
    return "".join(VIEW.format(n=n) for n in range(lines // VIEW.count("\n")))


def nested_loops(depth: int) -> str:
    body = "".join("    " * level + f"for x{level} in y{level}:\n" for level in range(depth))
    return body + "    " * depth + "z = x0 + z\n"


def branches(number: int) -> str:
    return "".join(f"if a:\n    b = {n}\nprint(b)\n" for n in range(number))


def calls_to_score(text: str) -> int:
    """Number of Python and C functions called to prepare a text and compare it with itself."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        Reference(text).base_parts(text)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("make", "size"),
    [(program, 200), (branches, 100), (nested_loops, 15)],
    ids=["lines", "branches on one variable", "nested loops"],
)
def test_work_grows_in_step_with_the_text(make: Callable[[int], str], size: int) -> None:
    short, long = make(size), make(10 * size)
    assert calls_to_score(long) / calls_to_score(short) < 1.2 * len(long) / len(short)


def test_a_loop_in_a_loop_does_not_double_the_work() -> None:
    assert calls_to_score(nested_loops(20)) < 3 * calls_to_score(nested_loops(10))


def test_unfinished_brackets_cost_no_more_than_others() -> None:
    assert calls_to_score("x = " + "(" * 20_000) < 12 * calls_to_score("x = " + "(" * 2_000)
