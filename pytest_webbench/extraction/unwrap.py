"""Code freed from what a tool or a console put around it: line numbers, prompts, a margin, JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_webbench.extraction.python import is_substantive, parse

_NUMBERED = re.compile(r" *[L\[]?(\d+)\]?(?: ?[|│:.)→]|\t| |\Z)(.*)\Z", re.DOTALL)
_PROMPT = re.compile(r"[ \t]*(?:>>>|In \[\d*\]:)")
_PROMPTED = re.compile(r"[ \t]*(?:>>>|\.\.\.|In \[\d*\]:|\.\.\.:)(?: |\Z)(.*)\Z", re.DOTALL)
_NAME_KEYS = ("filename", "file_name", "path", "file", "filepath", "name")
_TEXT_KEYS = ("code", "content", "source", "text", "contents", "answer", "solution")
_FILE_KEY = re.compile(r"[\w./-]+\.\w{1,5}\Z")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """Code and the flag of what was taken off it: `line_numbers`, `prompt_unwrapped` or `dedented`."""

    text: str
    flag: str


def unwrap(text: str) -> Unwrapped | None:
    """Take line numbers, prompts or a common margin off a text that does not parse; `None` without any."""
    lines = text.split("\n")
    for flag, remove in _REMOVERS.items():
        bare = remove(lines)
        if bare is not None:
            return Unwrapped("\n".join(bare), flag)
    return None


def _without_line_numbers(lines: list[str]) -> list[str] | None:
    """Remove numbers that rise by one from line to line; `None` where a line lacks its number."""
    bare: list[str] = []
    expected: int | None = None
    for line in lines:
        match = _NUMBERED.match(line)
        if match is None or (expected is not None and int(match[1][:9]) != expected):
            if line.strip():
                return None
            bare.append("")
            continue
        expected = int(match[1][:9]) + 1
        bare.append(match[2])
    if len(bare) < 2 or expected is None:
        return None
    spaced = all(line[:1] in ("", " ") for line in bare)
    return [line.removeprefix(" ") for line in bare] if spaced else bare


def _without_prompts(lines: list[str]) -> list[str] | None:
    """Keep the lines behind prompts, drop the output between them."""
    first = next((line for line in lines if line.strip()), "")
    if not _PROMPT.match(first):
        return None
    return [match[1] for line in lines if (match := _PROMPTED.match(line))]


def _without_margin(lines: list[str]) -> list[str] | None:
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    margin = min(margins, key=len, default="")
    if not margin or not all(each.startswith(margin) for each in margins):
        return None
    return [line.removeprefix(margin) if line.strip() else "" for line in lines]


_REMOVERS = {
    "line_numbers": _without_line_numbers,
    "prompt_unwrapped": _without_prompts,
    "dedented": _without_margin,
}


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A text found in a JSON reply, with the file name that stood beside it."""

    text: str
    name: str | None


def from_json(text: str) -> tuple[Wrapped, ...]:
    """Return the code strings of a reply that is one JSON object (or a notebook); empty for anything else."""
    stripped = text.strip()
    if not (stripped.startswith(("{", "[")) and stripped.endswith(("}", "]"))):
        return ()
    try:
        data = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return ()
    if isinstance(data, dict) and isinstance(data.get("cells"), list):
        return tuple(_notebook(data["cells"]))
    return tuple(_strings(data))


def _strings(data: Any) -> Iterator[Wrapped]:
    """Walk the object without recursion, in document order."""
    pending = [data]
    while pending:
        match pending.pop():
            case dict() as entry:
                name = next((v for k in _NAME_KEYS if isinstance(v := entry.get(k), str)), None)
                name = name if name is not None and _FILE_KEY.match(name) else None
                for key, value in entry.items():
                    if isinstance(value, str) and _FILE_KEY.match(key):
                        yield Wrapped(value, key)
                    elif isinstance(value, str) and (_is_labelled(key, value, name) or _is_code(value)):
                        yield Wrapped(value, name)
                pending.extend(v for v in reversed(entry.values()) if isinstance(v, dict | list))
            case list() as entries:
                pending.extend(v for v in reversed(entries) if isinstance(v, dict | list))


def _notebook(cells: list[Any]) -> Iterator[Wrapped]:
    sources = (c.get("source") for c in cells if isinstance(c, dict) and c.get("cell_type") == "code")
    texts = ("".join(map(str, source)) if isinstance(source, list) else str(source) for source in sources)
    code = "\n\n".join(text for text in texts if text.strip())
    if code:
        yield Wrapped(code, None)


def _is_labelled(key: str, value: str, name: str | None) -> bool:
    """A text escaped twice is one long line: not the code that its key promises."""
    return key in _TEXT_KEYS and (name is not None or "\n" in value)


def _is_code(text: str) -> bool:
    tree = parse(text)
    return isinstance(tree, ast.Module) and is_substantive(tree)
