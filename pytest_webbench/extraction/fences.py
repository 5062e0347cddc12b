"""Fenced blocks of a reply, found line by line, with the forgiveness that models need.

A fence is at least three backticks or tildes behind any indentation, list or quote marks. A fence within
a triple-quoted string of Python is text, a fence anywhere else ends the block.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from dataclasses import dataclass, field

from pytest_webbench.extraction import names
from pytest_webbench.extraction.openers import Language, Opener, opener_in
from pytest_webbench.extraction.python import parse
from pytest_webbench.extraction.strings import StringTracker

_QUOTE = re.compile(r"[ \t]*>")
_FAILED_EXTENSIONS = 8
_LINES_OF_LEAD = 8


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its lines joined by LF, without the fence's indentation and quote marks."""

    text: str
    language: Language
    tag: str
    name: str | None
    closed: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """All non-empty blocks of a text in order, and the text outside them."""

    blocks: tuple[Block, ...]
    outside: str


@dataclass(frozen=True, slots=True)
class _End:
    """A block holds the lines before `stop`, then `rest` if set; reading goes on at line `resume`."""

    stop: int
    resume: int
    closed: bool
    rest: str | None = None


def scan(text: str) -> Scan:
    """Find the fenced blocks of a text (LF line ends) in time linear in its length."""
    return _Scanner(text.split("\n")).run()


@dataclass(slots=True)
class _Scanner:
    """`lead` holds the last lines of prose since the block before, `wrapper` a Markdown block's fence."""

    lines: list[str]
    blocks: list[Block] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    lead: deque[str] = field(default_factory=lambda: deque(maxlen=_LINES_OF_LEAD))
    wrapper: str | None = None
    failed_extensions: int = 0

    def run(self) -> Scan:
        at = 0
        while at < len(self.lines):
            at = self._step(at)
        return Scan(tuple(self.blocks), "\n".join(self.outside))

    def _step(self, at: int) -> int:
        opener = opener_in(self.lines[at])
        if opener is None:
            self._pass_over(self.lines[at])
            return at + 1
        if self._wraps(opener, self.lines[at]):
            return at + 1
        self._pass_over(opener.prose)
        end = self._end(at, opener)
        self._add(opener, self._content(at, end, opener).removeprefix("\ufeff"), end.closed)
        return end.resume

    def _pass_over(self, line: str) -> None:
        self.outside.append(line)
        if line.strip():
            self.lead.append(line)

    def _wraps(self, opener: Opener, line: str) -> bool:
        """Tell whether a fence opens or closes a wrapper of Markdown, whose inside is read like the reply."""
        if self.wrapper is None:
            self.wrapper = opener.run if opener.language == "markdown" else None
            return self.wrapper is not None
        closes = opener.run.startswith(self.wrapper) and line.strip(" \t>") == opener.run
        self.wrapper = None if closes else self.wrapper
        return closes

    def _end(self, at: int, opener: Opener) -> _End:
        quoted = self._is_quoted(at, opener)
        strings = StringTracker() if opener.language in ("python", "unknown") else None
        if strings is not None and opener.first_line is not None:
            strings.read(opener.first_line, opener.run)
        skipped: int | None = None
        short: int | None = None
        for number in range(at + 1, len(self.lines)):
            line = self.lines[number]
            if quoted and line.strip() and not _QUOTE.match(line):
                return _End(number, number, closed=False)
            mark = opener.closing(line)
            if mark is not None and strings is not None and strings.inside is not None:
                skipped = number if skipped is None and not mark["info"].strip() else skipped
            end = self._end_at(number, mark, opener, strings)
            if end is not None:
                return end if skipped is None else self._extended(at, opener, end, skipped)
            short = number if short is None and opener.closes_short(line) else short
        end, before = (
            _End(len(self.lines), len(self.lines), closed=False),
            short if skipped is None else skipped,
        )
        return end if before is None else self._extended(at, opener, end, before)

    def _end_at(
        self, number: int, mark: re.Match[str] | None, opener: Opener, strings: StringTracker | None
    ) -> _End | None:
        """Return the end of the block if it is at this line: a fence, the next opener or a glued closer."""
        line = self.lines[number]
        if mark is not None and (strings is None or strings.inside is None):
            reopens = bool(mark["info"].strip()) and opener_in(line) is not None
            return _End(number, number if reopens else number + 1, closed=not reopens)
        column = None if strings is None else strings.read(line, opener.run)
        return None if column is None else _End(number, number + 1, closed=True, rest=line[:column])

    def _extended(self, at: int, opener: Opener, end: _End, skipped: int) -> _End:
        """Keep an end beyond a fence that was skipped (line number) only if the block parses with it."""
        if self.failed_extensions < _FAILED_EXTENSIONS:
            if isinstance(parse(self._content(at, end, opener)), ast.Module):
                return end
            self.failed_extensions += 1
        return _End(skipped, skipped + 1, closed=True)

    def _content(self, at: int, end: _End, opener: Opener) -> str:
        lines = self.lines[at + 1 : end.stop]
        if end.rest is not None:
            lines.append(end.rest)
        if self._is_quoted(at, opener):
            lines = _without_quotes(lines, opener.marks.count(">"))
        lines = _without_indent(lines, len(opener.marks.replace(">", "").expandtabs(4)))
        if opener.first_line is not None:
            lines.insert(0, opener.first_line)
        text = "\n".join(lines)
        return text if end.closed else _without_half_closer(text, opener.run)

    def _is_quoted(self, at: int, opener: Opener) -> bool:
        return ">" in opener.marks and at + 1 < len(self.lines) and bool(_QUOTE.match(self.lines[at + 1]))

    def _add(self, opener: Opener, text: str, closed: bool) -> None:
        lead = tuple(self.lead)
        self.lead.clear()
        self.outside.append("")
        inner = scan(text).blocks if len(opener.run) > 3 and opener.language == "unknown" else ()
        if inner and not isinstance(parse(text), ast.Module):
            self.blocks.extend(inner)
        elif text.strip():
            self.blocks.append(_block(opener, text, lead, closed))


def _block(opener: Opener, text: str, lead: tuple[str, ...], closed: bool) -> Block:
    own = opener.name or names.from_comment(text)
    name = own or names.from_lead(lead)
    if name is not None and not opener.may_be_named(name):
        name = None
    says_python = opener.language == "unknown" and own is not None and own.endswith(".py")
    return Block(text, "python" if says_python else opener.language, opener.tag, name, closed)


def _without_quotes(lines: list[str], depth: int) -> list[str]:
    """Remove quote marks, each with the blank behind it where every line has one."""
    for _ in range(depth):
        bare = [_QUOTE.sub("", line, count=1) for line in lines]
        spaced = all(line[:1] in ("", " ") for line in bare)
        lines = [line.removeprefix(" ") for line in bare] if spaced else bare
    return lines


def _without_indent(lines: list[str], width: int) -> list[str]:
    """Remove up to `width` leading blanks from each line, but no more than the first line of code has."""
    first = next((line for line in lines if line.strip()), "")
    width = min(width, len(first) - len(first.lstrip(" \t")))
    if width == 0:
        return lines
    indent = re.compile(rf"[ \t]{{1,{width}}}")
    return [indent.sub("", line, count=1) if line[:1] in (" ", "\t") else line for line in lines]


def _without_half_closer(text: str, run: str) -> str:
    text = text.rstrip("\n")
    head, _, last = text.rpartition("\n")
    if last.strip() and not last.strip().strip(run[0]):
        return head.rstrip("\n")
    return text.rstrip("`") if run[0] == "`" else text
