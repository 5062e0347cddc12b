"""Where strings begin and end in lines of Python that may not parse."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|(?P<comment>\#.*)|(?P<ticks>`{3,}|~{3,}(?=\s*\Z))"
)
_ENDS = {quote: re.compile(rf"\\.|{quote}") for quote in ('"""', "'''")}


class StringTracker:
    """Reads a block line by line; `inside` is the triple quote that is open after the last line, if any."""

    def __init__(self) -> None:
        self.inside: str | None = None

    def read(self, line: str, run: str) -> int | None:
        """Read one line; return the column of a closing run glued to its code, if any.

        Outside strings and comments Python has no backticks, and no line of it ends in tildes.
        """
        at = 0
        while (token := self._token(line, at)) is not None:
            if token["ticks"] and token["ticks"].startswith(run):
                return token.start()
            if token["comment"]:
                return _behind_comment(line, token.start(), run)
            self.inside, at = (token[0] if token[0] in _ENDS else None), token.end()
        return None

    def _token(self, line: str, at: int) -> re.Match[str] | None:
        """Return the next token outside triple-quoted strings."""
        if self.inside is not None:
            end = next((m for m in _ENDS[self.inside].finditer(line, at) if m[0] == self.inside), None)
            if end is None:
                return None
            self.inside, at = None, end.end()
        return _TOKEN.search(line, at)


def _behind_comment(line: str, start: int, run: str) -> int | None:
    bare = line.rstrip()
    column = len(bare) - len(run)
    glued = run[0] == "`" and bare.endswith(run) and "`" not in line[start:column]
    return column if glued else None
