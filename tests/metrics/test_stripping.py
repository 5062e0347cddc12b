"""Comments and docstrings go, code stays as it was typed."""

from __future__ import annotations

import io
import sys
import tokenize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webbench.metrics.stripping import strip_comments

from .rows import read_rows


@pytest.mark.parametrize(
    ("source", "stripped"),
    [
        ('"""Docstring."""\nx = 1  # one\n\n# two\ny = 2', "x = 1  \ny = 2"),
        ('def f():\n    """Docstring."""\n    return "# no comment"', 'def f():\n    return "# no comment"'),
        ("if x:\n\ty = 1\n\tz = 2", "if x:\n\ty = 1\n\tz = 2"),
        ("x = 1 + \\\n    2", "x = 1 +    2"),
        ("f(\n'column 0',\n 'column 1')", "f(\n,\n 'column 1')"),
        ("x = 1\n'after a line end'", "x = 1"),
        ("def f():\n    x = 1\n\n    'after a blank line'", "def f():\n    x = 1\n    'after a blank line'"),
        ("def f(): 'on the same line'", "def f(): 'on the same line'"),
        ("x = 'a\\\n  b'  # c", "x = 'a\\\n  b'  "),
        ("x = '''a\n\n# b'''", "x = '''a\n# b'''"),
        ("x = 'open # comment", "x = 'open "),
    ],
)
def test_what_is_removed(source: str, stripped: str) -> None:
    assert strip_comments(source).split("\n") == stripped.split("\n")


@pytest.mark.parametrize(
    "source", ["x = (1  # one", "x = '''a  # b", "x = 1 \\\n", "if x:\n        y\n    z  # comment", "x = )  # one\n"]
)
def test_text_that_ends_inside_something_stays_whole(source: str) -> None:
    assert strip_comments(source) == source


def by_tokens(source: str) -> str:
    """The same rules on top of the standard library's tokenizer."""
    lines = source.split("\n")
    kept, previous, row, column = [], tokenize.INDENT, 0, 0
    try:
        for kind, text, (first_row, first_column), end, _ in tokenize.generate_tokens(io.StringIO(source).readline):
            column = 0 if first_row > row else column
            if first_column > column:
                kept.append(lines[first_row - 1][column:first_column])
            docstring = kind == tokenize.STRING and (
                first_column == 0 or previous in (tokenize.INDENT, tokenize.NEWLINE)
            )
            kept.append("" if docstring or kind == tokenize.COMMENT else text)
            previous, (row, column) = kind, end
    except (tokenize.TokenError, SyntaxError):
        return source
    return "\n".join(line for line in "".join(kept).split("\n") if line.strip())


FRAGMENTS = ["'", '"', '"""doc"""', "'''", "\\\n", "\\'", "\n", "\n    ", "\n\t", "\n  ", "# c", "(", ")", "[", "]"]
FRAGMENTS += ["x", " = ", "r'a'", 'f"b"', "xr", "u", "\r", "\r\n", "\f", ";", ":", "1", "é", "if x:", "'''a\nb'''"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tokenize has other rules from Python 3.12 on")
@settings(max_examples=500)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(lambda parts: "".join(parts).strip()))
def test_the_rules_are_those_of_tokenize(source: str) -> None:
    torn_string = "\\\n" in source and "'''" in source
    assert strip_comments(source) == by_tokens(source) or torn_string


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tokenize has other rules from Python 3.12 on")
def test_golden_texts_lose_what_tokenize_says() -> None:
    for row in read_rows("golden_codebleu.jsonl"):
        for text in (row["reference"].strip(), row["hypothesis"].strip()):
            assert strip_comments(text) == by_tokens(text), row["id"]
