"""Removes comments and docstrings from Python text, as CodeBLEU's tree parts want it.

The rules are those of the published package on Python 3.11's `tokenize` module. They hold here on every
Python version, since the text is scanned for the few characters that matter and not split into tokens:
a score does not depend on the interpreter that computes it, and takes a fraction of the time.
"""

from __future__ import annotations

import re

STRING_PREFIXES = frozenset({"", "b", "r", "u", "f", "br", "rb", "fr", "rf"})
BLANKS = " \t\f"

_PLAIN = re.compile(r"""[^#'"()\[\]{}\\\n]*""")
_INDENTATION = re.compile(rf"[{BLANKS}]*")
_COMMENT = re.compile(r"#[^\r\n]*")
_CONTINUATION = re.compile(r"\\\r?\n")
_STRING = {q: re.compile(rf"{q}[^\n{q}\\]*(?:\\(?:\r?\n|.)[^\n{q}\\]*)*{q}") for q in "'\""}
_TRIPLE = {q: re.compile(rf"(?s){q * 3}[^{q}\\]*(?:(?:\\.|{q}(?!{q * 2}))[^{q}\\]*)*{q * 3}") for q in "'\""}
_TORN = re.compile(r"""(['"])(?:(?!\1)[^\n\\]|\\.)*\\\r?\n(?:[^\n]*\\\r?\n)*(?:[^\n]+\n?|\n|(?P<end>\Z))""")
"""A string that goes on after a line end behind a backslash, and is not closed on the last such line."""


def strip_comments(source: str) -> str:
    """Return `source` without comments, docstrings and blank lines; unchanged if it ends inside something.

    A string is a docstring where it follows a line end or an indentation directly, or stands in column 0.
    White space between tokens is kept as it is, lines joined by a backslash become one.
    """
    try:
        kept = _Scanner(source).kept()
    except _Unfinished:
        return source
    return "\n".join(line for line in kept.split("\n") if line.strip())


class _Unfinished(Exception):
    """The text ends inside a string, a bracket or a joined line, or dedents to where no block began."""


class _Scanner:
    """Goes through a text once. `docstring_place`: a string here would be a docstring."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.depth = 0
        self.indents = [0]
        self.docstring_place = True
        self._pieces: list[str] = []
        self._kept_to = 0

    def kept(self) -> str:
        """Return the text without what is to be removed."""
        joined = False
        while self.position < len(self.source):
            if self.depth or joined or self._begin_statement():
                joined = self._scan_line()
        if self.depth or joined:
            raise _Unfinished
        return "".join(self._pieces) + self.source[self._kept_to :]

    def _remove(self, start: int, stop: int) -> None:
        self._pieces.append(self.source[self._kept_to : start])
        self._kept_to = self.position = stop

    def _begin_statement(self) -> bool:
        """Step over indentation, or over a whole line without a statement (and return False)."""
        source, line_start = self.source, self.position
        start = _end_of(_INDENTATION, source, line_start)
        if start == len(source):
            self.position = start
            return False
        if source[start] in "#\r\n":
            stop = source.find("\n", start) + 1 or len(source)
            self.docstring_place = False
            self.position = stop
            if source[start] == "#":
                self._remove(line_start, stop)
            return False
        self._indent(source[line_start:start], start)
        return True

    def _indent(self, blanks: str, start: int) -> None:
        column = len(blanks) if blanks.isspace() and not blanks.strip(" ") else _column(blanks)
        if column == self.indents[-1]:
            return
        self.position = start
        self.docstring_place = column > self.indents[-1]
        if self.docstring_place:
            self.indents.append(column)
        else:
            while self.indents[-1] > column:
                self.indents.pop()
            if self.indents[-1] != column:
                raise _Unfinished

    def _scan_line(self) -> bool:
        """Go to the end of the line; return whether the next one is joined to it by a backslash."""
        source, size = self.source, len(self.source)
        while True:
            start = self.position
            stop = _end_of(_PLAIN, source, start)
            if stop == size:
                self.position = size
                return False
            character = source[stop]
            if character in "'\"":
                if self._string(start, stop):
                    return False
                continue
            if character == "\\":
                continuation = _CONTINUATION.match(source, stop)
                if continuation:
                    blank = source[start:stop].rstrip(BLANKS)
                    self.docstring_place = self.docstring_place and not blank
                    self._remove(start + len(blank), continuation.end())
                    return True
            elif character == "#":
                self._remove(stop, _end_of(_COMMENT, source, stop))
                continue
            elif character == "\n":
                self.docstring_place = self.depth <= 0
                self.position = stop + 1
                return False
            elif character in "([{":
                self.depth += 1
            elif character in ")]}":
                self.depth -= 1
            self.docstring_place = False
            self.position = stop + 1

    def _string(self, start: int, quote: int) -> bool:
        """Step over the string at `quote`; return whether that ends the line."""
        source = self.source
        prefix = source[start:quote].lstrip(BLANKS)
        first = prefix.lower() in STRING_PREFIXES
        token = quote - len(prefix)
        in_place = first and (self.docstring_place or token == 0 or source[token - 1] == "\n")
        self.docstring_place = False
        mark = source[quote]
        if source.startswith(mark * 3, quote):
            string = _TRIPLE[mark].match(source, quote)
            if not string:
                raise _Unfinished
        else:
            string = _STRING[mark].match(source, quote)
        if string:
            if in_place:
                self._remove(token, string.end())
            self.position = string.end()
            return False
        torn = _TORN.match(source, quote)
        if not torn:
            self.position = quote + 1
            return False
        if torn["end"] is not None:
            raise _Unfinished
        self.position = torn.end()
        return True


def _column(blanks: str) -> int:
    return len(blanks.rpartition("\f")[2].expandtabs(8))


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
