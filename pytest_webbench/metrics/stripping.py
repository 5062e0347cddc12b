"""Removes comments and docstrings from Python text, as CodeBLEU's tree parts want it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable


def strip_comments(source: str) -> str:
    """Return `source` without comments, docstrings and blank lines; unchanged if it has no token structure.

    A string is a docstring where it follows a line end or an indentation, or stands in column 0.
    White space between tokens is kept as it is.
    """
    lines: list[str] = []
    stream = io.StringIO(source)

    def readline() -> str:
        lines.append(stream.readline())
        return lines[-1]

    try:
        return _without_blank_lines(_code_of(tokenize.generate_tokens(readline), lines))
    except (tokenize.TokenError, SyntaxError):
        return source


def _code_of(tokens: Iterable[tokenize.TokenInfo], lines: list[str]) -> str:
    """Join the tokens that are code, with the white space that stands before them on their line."""
    parts: list[str] = []
    previous, row, column = tokenize.INDENT, 0, 0
    for kind, text, (start_row, start_column), (end_row, end_column), _ in tokens:
        if start_row > row:
            column = 0
        parts.append(lines[start_row - 1][column:start_column] if start_column > column else "")
        docstring = kind == tokenize.STRING and (
            start_column == 0 or previous in (tokenize.INDENT, tokenize.NEWLINE)
        )
        if not docstring and kind != tokenize.COMMENT:
            parts.append(text)
        previous, row, column = kind, end_row, end_column
    return "".join(parts)


def _without_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())
