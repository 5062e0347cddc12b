"""Opening fences: what a line of backticks or tildes says about the block that it begins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_webbench.extraction import names

Language = Literal["python", "unknown", "markdown", "other"]

_MARKS = r"[ \t]*(?:(?:>|[-*+][ \t]|\d{1,3}[.)][ \t])[ \t]*)*"
_FENCE = re.compile(rf"(?P<marks>{_MARKS})(?P<run>`{{3,}}|~{{3,}})(?P<info>.*)\Z")
_BEHIND_PROSE = re.compile(r"(?P<prose>[^`]*[^`\s][^`]*)(?P<run>`{3,})(?P<info>[^`]+)\Z")

_PYTHON_TAG = re.compile(r"(?:python|py|ipython|pycon|sage)(?:[23](?:\.\d+)?|-repl)?\Z")
_UNKNOWN_TAGS = frozenset({"", "text", "txt", "plain", "plaintext", "code", "none", "flask", "fastapi", "django"})
_MARKDOWN_TAGS = frozenset({"markdown", "md", "mdx"})
_SHELL_TAGS = frozenset(
    {"bash", "sh", "shell", "console", "zsh", "fish", "powershell", "ps1", "cmd", "bat", "terminal", "output"}
)
_DATA_TAGS = frozenset({"json", "jsonc", "yaml", "yml", "toml", "ini", "xml", "env", "csv", "http", "sql", "log"})
_OTHER_TAGS = frozenset(
    {"html", "css", "js", "javascript", "jsx", "ts", "typescript", "diff", "patch", "dockerfile", "docker"}
    | {"makefile", "jinja", "jinja2", "html+django", "htmldjango", "nginx", "graphql"}
)
_KNOWN_TAGS = _SHELL_TAGS | _DATA_TAGS | _OTHER_TAGS | _MARKDOWN_TAGS
_TAG = re.compile(r"[\s{.]*(?:language-|lang-|lang=)?([\w+#.-]*)")
_ONE_WORD = re.compile(r"\s*[\w+#./-]*\s*\Z")
_ATTRIBUTES = re.compile(r"[={}]|\.\w+(?:\s|\Z)")
_CODE_ON_FENCE = re.compile(
    r"\s*(?:python3?|py)?\s*((?:from\s+[\w.]+\s+import\b|import\s+[\w.]|@\w|(?:async\s+)?def\s+\w"
    r"|class\s+\w+\s*[(:]|\w+\s*=\s*[\w.]+\().*)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Opener:
    """An opening fence: its run of backticks or tildes, the marks before it and what its info string says.

    `language` is `unknown` where Python is possible but not said. `first_line` is code that stands on the
    fence line itself, `prose` the text before a fence in the middle of a line.
    """

    run: str
    marks: str
    language: Language
    tag: str = ""
    name: str | None = None
    first_line: str | None = None
    prose: str = ""

    def closing(self, line: str) -> re.Match[str] | None:
        """Return the fence in a line that is long enough to end this block; group `info` may hold text."""
        mark = _FENCE.match(line) if self.run in line else None
        return mark if mark is not None and mark["run"].startswith(self.run) else None

    def closes_short(self, line: str) -> bool:
        """Tell a bare fence that is shorter than this one: a closer where no better one follows."""
        return len(self.run) > 3 and line.strip() == self.run[0] * 3

    def may_be_named(self, name: str) -> bool:
        """A name in the prose may speak of another file: it must fit the block's language."""
        if self.language == "python" or name.endswith(".py"):
            return self.language in ("python", "unknown") and name.endswith(".py")
        return self.tag not in _SHELL_TAGS or name.endswith(".sh")


def opener_in(line: str) -> Opener | None:
    """Return the opening fence of a line; inline code and a stray fence before prose are none."""
    if "```" not in line and "~~~" not in line:
        return None
    mark = _FENCE.match(line)
    if mark is not None:
        inline = mark["run"][0] == "`" and "`" in mark["info"]
        return None if inline else _read(mark["run"], mark["marks"], mark["info"])
    mark = _BEHIND_PROSE.match(line)
    return None if mark is None else _read_behind(mark["prose"], mark["run"], mark["info"])


def _read(run: str, marks: str, info: str) -> Opener | None:
    code = _CODE_ON_FENCE.match(info)
    if code is not None:
        return Opener(run, marks, "python", first_line=code[1])
    name, tag = names.from_info(info), _tag(info)
    if _is_known(tag) or name or _ONE_WORD.match(info) or _ATTRIBUTES.search(info):
        return Opener(run, marks, _language(tag, name), tag, name)
    return None


def _read_behind(prose: str, run: str, info: str) -> Opener | None:
    code, tag = _CODE_ON_FENCE.match(info), _tag(info)
    if code is None and not _is_known(tag):
        return None
    language = "python" if code else _language(tag, None)
    return Opener(run, "", language, tag, first_line=code[1] if code else None, prose=prose)


def _tag(info: str) -> str:
    match = _TAG.match(info)
    return "" if match is None else match[1].lower()


def _is_known(tag: str) -> bool:
    return tag in _KNOWN_TAGS or _PYTHON_TAG.match(tag) is not None


def _language(tag: str, name: str | None) -> Language:
    if _PYTHON_TAG.match(tag) or (name is not None and name.endswith(".py")):
        return "python"
    if tag in _MARKDOWN_TAGS:
        return "markdown"
    return "unknown" if tag in _UNKNOWN_TAGS and name is None else "other"
