"""Replies that no one would call an answer: extraction never fails on them and comes to an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webbench.extraction import extract_code

from .samples import APP, fenced

FRAGMENTS = st.sampled_from(
    [
        "```",
        "```python\n",
        "~~~",
        "````",
        "\n",
        "> ",
        "- ",
        "    ",
        '"""',
        "'''",
        "'",
        "#",
        "x = 1",
        "def f():",
        APP,
        "<think>",
        "</think>",
        "<|channel|>final<|message|>",
        "{",
        "}",
        '"code": ',
        ">>> ",
        "... ",
        "1 | ",
        "\ud800",
        "\0",
        "@app.get('/')",
        "# app.py",
        "\r",
        "\ufeff",
        "<|im_end|>",
        "prose",
        "[",
        "\\",
    ]
)


@given(st.lists(FRAGMENTS, max_size=30).map("".join), st.sampled_from(["stop", "length", None]))
def test_no_reply_whatever_makes_extraction_fail(reply, finish_reason):
    code = extract_code(reply, "flask", finish_reason)
    assert (code.text is None) == (code.rule == "none")
    assert code.text is not None or code.failure_class in ("no_code", "truncated")
    assert not code.files or code.files[code.entry] == code.text


STORMS = {
    "backticks in lines": "```\n" * 20_000,
    "one line of backticks": "`" * 80_000,
    "openers": "```python\n" * 20_000,
    "growing fences": "\n".join("`" * (3 + n % 60) + "python" for n in range(5_000)),
    "triple quotes": '```python\nx = """\n```\n' * 5_000,
    "quote marks": "> " * 40_000 + "\n" + "> ```\n" * 10_000,
    "list marks": "- " * 40_000 + "```",
    "numbers": "1. " * 30_000 + "```\n" + "1. 2. 3. ``" * 1_000,
    "think tags": "</think>\n" * 20_000,
    "open think tags": "<think>" * 20_000,
    "think pairs": "<think>a</think>" * 10_000,
    "end tokens": "<|im_end|>" * 20_000,
    "assignments": "x = (\n" * 20_000,
    "imports in prose": "import this\nand so on, don't you\n" * 5_000,
    "blocks": "```python\nx = 1\n```\n" * 3_000,
    "file names": "a." * 40_000 + "py\n```python\nx = 1\n```",
    "braces": "{" * 50_000 + "}" * 50_000,
    "digits": "1" * 100_000,
    "spaces": " " * 100_000 + "x",
    "blanks before a token": "x" + " \n" * 50_000 + "<|im_end|>",
    "quotes in a line": "```python\n" + "'\"" * 50_000 + "\n```",
    "long program": fenced(APP + "\n" + "y = [1, 2, 'three']\n" * 10_000),
}


@pytest.mark.parametrize("reply", STORMS.values(), ids=STORMS)
def test_degenerate_replies_come_to_an_end(reply):
    assert extract_code(reply, "flask", "length").rule
