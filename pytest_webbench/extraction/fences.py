"""Fenced blocks of a reply, found line by line, with the forgiveness that models need.

A fence is at least three backticks or tildes behind any indentation, list or quote marks. Python has no
backticks outside strings and comments, so inside a Python block a small scanner keeps track of strings:
a fence within a triple-quoted string is text, a fence anywhere else ends the block.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from pytest_webbench.extraction import names
from pytest_webbench.extraction.python import parse

Language = Literal["python", "unknown", "markdown", "other"]

_MARKS = r"[ \t]*(?:(?:>|[-*+][ \t]|\d{1,3}[.)][ \t])[ \t]*)*"
_FENCE = re.compile(rf"(?P<marks>{_MARKS})(?P<run>`{{3,}}|~{{3,}})(?P<info>.*)\Z")
_GLUED_TO_PROSE = re.compile(r"(?P<prose>[^`]*[^`\s][^`]*)(?P<run>`{3,})(?P<info>[^`]+)\Z")
_QUOTE = re.compile(r"[ \t]*>")

_PYTHON_TAG = re.compile(r"(?:python|py|ipython|pycon|sage)(?:[23](?:\.\d+)?|-repl)?\Z")
_UNKNOWN_TAGS = frozenset({"", "text", "txt", "plain", "plaintext", "code", "none", "flask", "fastapi", "django"})
_MARKDOWN_TAGS = frozenset({"markdown", "md", "mdx"})
_OTHER_TAGS = frozenset(
    "bash sh shell console zsh fish powershell ps1 cmd bat terminal json jsonc yaml yml toml ini xml html css"
    " js javascript jsx ts typescript sql diff patch dockerfile docker makefile http env csv jinja jinja2"
    " html+django htmldjango nginx graphql log output".split()
)
_TAG = re.compile(r"[\s{.]*(?:language-|lang-|lang=)?([\w+#.-]*)")
_PLAIN_INFO = re.compile(r"\s*[\w+#./-]*\s*\Z")
_ATTRIBUTES = re.compile(r"[={}]|\.\w+(?:\s|\Z)")
_CODE_ON_FENCE = re.compile(
    r"\s*(?:python3?|py)?\s*((?:from\s+[\w.]+\s+import\b|import\s+[\w.]|@\w|(?:async\s+)?def\s+\w"
    r"|class\s+\w+\s*[(:]|\w+\s*=\s*[\w.]+\().*)\Z",
    re.I,
)
_PYTHON_TOKEN = re.compile(
    r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|(?P<comment>\#.*)|(?P<ticks>`{3,})"
)
_STRING_ENDS = {quote: re.compile(rf"\\.|{quote}") for quote in ('"""', "'''")}
_FAILED_EXTENSIONS = 8


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its lines joined by LF, without the fence's indentation and quote marks.

    `lead` holds the non-blank lines of prose (at most eight) between the block before and this one.
    """

    text: str
    language: Language
    tag: str
    name: str | None
    lead: tuple[str, ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """All non-empty blocks of a text in order, and the text outside them."""

    blocks: tuple[Block, ...]
    outside: str


@dataclass(frozen=True, slots=True)
class _Opener:
    run: str
    marks: str
    language: Language
    tag: str
    name: str | None
    first_line: str | None
    lead: str

    def closes(self, mark: re.Match[str]) -> bool:
        return mark["run"].startswith(self.run)


@dataclass(frozen=True, slots=True)
class _End:
    """Where a block ends: lines before `stop` are its, `rest` replaces line `stop`, reading resumes at `resume`."""

    stop: int
    resume: int
    closed: bool
    rest: str | None = None


def scan(text: str) -> Scan:
    """Find the fenced blocks of a text (LF line ends) in time linear in its length."""
    return _Scanner(text.split("\n")).run()


@dataclass(slots=True)
class _Scanner:
    lines: list[str]
    blocks: list[Block] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    lead: deque[str] = field(default_factory=lambda: deque(maxlen=8))
    wrapper: str | None = None
    failed_extensions: int = 0

    def run(self) -> Scan:
        at = 0
        while at < len(self.lines):
            at = self._step(at)
        return Scan(tuple(self.blocks), "\n".join(self.outside))

    def _step(self, at: int) -> int:
        line = self.lines[at]
        opener = _opener(line)
        if opener is None or self._wraps(opener, line):
            self._pass_over(line if opener is None else "")
            return at + 1
        if opener.lead:
            self._pass_over(opener.lead)
        end = self._end(at, opener)
        self._add(opener, self._content(at, end, opener), end.closed)
        return end.resume

    def _pass_over(self, line: str) -> None:
        self.outside.append(line)
        if line.strip():
            self.lead.append(line)

    def _wraps(self, opener: _Opener, line: str) -> bool:
        """Tell whether a fence opens or closes a wrapper of Markdown, whose inside is read like the reply."""
        if self.wrapper is None:
            self.wrapper = opener.run if opener.language == "markdown" else None
            return self.wrapper is not None
        closes = opener.run.startswith(self.wrapper) and line.strip(" \t>") == opener.run
        self.wrapper = None if closes else self.wrapper
        return closes

    def _end(self, at: int, opener: _Opener) -> _End:
        quoted = _is_quoted(self.lines, at, opener)
        tracks_strings = opener.language in ("python", "unknown")
        inside: str | None = None
        if tracks_strings and opener.first_line:
            inside, _ = _advance(inside, opener.first_line, opener.run)
        skipped: int | None = None
        for number in range(at + 1, len(self.lines)):
            line = self.lines[number]
            if quoted and line.strip() and not _QUOTE.match(line):
                return _End(number, number, closed=False)
            mark = _FENCE.match(line) if opener.run[0] * 3 in line else None
            if mark and opener.closes(mark):
                bare = not mark["info"].strip()
                if inside is None:
                    reopens = not bare and _opener(line) is not None
                    end = _End(number, number if reopens else number + 1, closed=not reopens)
                    return end if skipped is None else self._extended(at, opener, end, skipped)
                skipped = number if bare and skipped is None else skipped
            elif tracks_strings:
                inside, column = _advance(inside, line, opener.run)
                if column is not None:
                    end = _End(number, number + 1, closed=True, rest=line[:column])
                    return end if skipped is None else self._extended(at, opener, end, skipped)
        if skipped is not None:
            return _End(skipped, skipped + 1, closed=True)
        return _End(len(self.lines), len(self.lines), closed=False)

    def _extended(self, at: int, opener: _Opener, end: _End, skipped: int) -> _End:
        """Keep an end beyond fences within a string only if the block parses with it."""
        if self.failed_extensions < _FAILED_EXTENSIONS:
            if isinstance(parse(self._content(at, end, opener)), ast.Module):
                return end
            self.failed_extensions += 1
        return _End(skipped, skipped + 1, closed=True)

    def _content(self, at: int, end: _End, opener: _Opener) -> str:
        lines = self.lines[at + 1 : end.stop]
        if end.rest is not None:
            lines.append(end.rest)
        if _is_quoted(self.lines, at, opener):
            lines = _without_quotes(lines, opener.marks.count(">"))
        lines = _without_indent(lines, len(opener.marks.replace(">", "").expandtabs(4)))
        if opener.first_line is not None:
            lines.insert(0, opener.first_line)
        text = "\n".join(lines)
        return text if end.closed else _without_half_closer(text, opener.run)

    def _add(self, opener: _Opener, content: str, closed: bool) -> None:
        text = content.removeprefix("\ufeff")
        lead = tuple(self.lead)
        self.lead.clear()
        self.outside.append("")
        if not text.strip():
            return
        if len(opener.run) > 3 and opener.language == "unknown" and (inner := scan(text).blocks):
            if not isinstance(parse(text), ast.Module):
                self.blocks.extend(inner)
                return
        self.blocks.append(_block(opener, text, lead, closed))


def _block(opener: _Opener, text: str, lead: tuple[str, ...], closed: bool) -> Block:
    name = opener.name or names.from_comment(text) or names.from_lead(lead)
    language = opener.language
    if name is not None and language == "unknown" and name.endswith(".py"):
        language = "python" if opener.name or names.from_comment(text) else "unknown"
    if name is not None and not _may_be_named(language, opener.tag, name):
        name = None
    return Block(text, language, opener.tag, name, lead, closed)


def _may_be_named(language: Language, tag: str, name: str) -> bool:
    """A name in the prose may speak of another file: it must fit the block's language."""
    if language == "unknown":
        return True
    if language == "python" or name.endswith(".py"):
        return language == "python" and name.endswith(".py")
    return tag not in ("bash", "sh", "shell", "console", "zsh", "powershell", "cmd", "terminal", "output") or (
        name.endswith(".sh")
    )


def _opener(line: str) -> _Opener | None:
    if "```" not in line and "~~~" not in line:
        return None
    mark = _FENCE.match(line)
    if mark is not None:
        if mark["run"][0] == "`" and "`" in mark["info"]:
            return None
        return _read_info(mark["run"], mark["marks"], mark["info"], lead="")
    mark = _GLUED_TO_PROSE.match(line)
    return None if mark is None else _read_info(mark["run"], "", mark["info"], lead=mark["prose"])


def _read_info(run: str, marks: str, info: str, lead: str) -> _Opener | None:
    """Read an info string; `None` where it is prose behind a stray fence."""
    code = _CODE_ON_FENCE.match(info)
    if code is not None:
        return _Opener(run, marks, "python", "", None, code[1], lead)
    name = names.from_info(info)
    first = _TAG.match(info)
    tag = "" if first is None else first[1].lower()
    language = _language(tag, name)
    known = tag in _OTHER_TAGS or language == "markdown" or bool(_PYTHON_TAG.match(tag))
    if lead:
        return _Opener(run, marks, language, tag, name, None, lead) if known else None
    if not (known or name or _PLAIN_INFO.match(info) or _ATTRIBUTES.search(info)):
        return None
    return _Opener(run, marks, language, tag, name, None, lead)


def _language(tag: str, name: str | None) -> Language:
    if _PYTHON_TAG.match(tag) or (name is not None and name.endswith(".py")):
        return "python"
    if tag in _MARKDOWN_TAGS:
        return "markdown"
    return "unknown" if tag in _UNKNOWN_TAGS and name is None else "other"


def _advance(inside: str | None, line: str, run: str) -> tuple[str | None, int | None]:
    """Read one line of Python: return the triple quote that stays open and the column of a glued closer."""
    at = 0
    while True:
        if inside is not None:
            ends = (m for m in _STRING_ENDS[inside].finditer(line, at) if m[0] == inside)
            end = next(ends, None)
            if end is None:
                return inside, None
            inside, at = None, end.end()
        token = _PYTHON_TOKEN.search(line, at)
        if token is None:
            return None, None
        if token["ticks"] and run[0] == "`" and len(token["ticks"]) >= len(run):
            return None, token.start()
        if token["comment"]:
            return None, _closer_behind_comment(line, token.start(), run)
        inside, at = (token[0] if token[0] in _STRING_ENDS else None), token.end()


def _closer_behind_comment(line: str, start: int, run: str) -> int | None:
    bare = line.rstrip()
    column = len(bare) - len(run)
    glued = run[0] == "`" and bare.endswith(run) and "`" not in line[start:column]
    return column if glued else None


def _is_quoted(lines: list[str], at: int, opener: _Opener) -> bool:
    return ">" in opener.marks and at + 1 < len(lines) and _QUOTE.match(lines[at + 1]) is not None


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
    return [indent.sub("", line, count=1) if line[:1] in " \t" else line for line in lines]


def _without_half_closer(text: str, run: str) -> str:
    text = text.rstrip("\n")
    head, newline, last = text.rpartition("\n")
    if last.strip() and not last.strip().strip(run[0]):
        return head.rstrip("\n")
    return text.rstrip("`") if run[0] == "`" else text
