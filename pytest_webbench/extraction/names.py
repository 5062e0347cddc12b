"""File names that a reply gives to its code blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_EXTENSIONS = "py|txt|html?|css|js|json|ya?ml|toml|cfg|ini|md|sql|sh|env|jinja2?|j2|xml|csv|ipynb"
_PATH = rf"(?:[A-Za-z]:)?[\w./\\-]*\w\.(?:{_EXTENSIONS})(?![\w/\\])"
_IN_INFO = re.compile(rf"(?:^|[\s\"'=:{{(])({_PATH})")
_COMMENT = re.compile(
    rf"\s*(?:\#|//|/\*|<!--|--|\"\"\"|''')\s*(?:file(?:name|path)?|path)?\s*[:=]?\s*[`*]*({_PATH})[`*]*"
    r"\s*(?:[-–—:(].*|\*/|-->|\"\"\"|''')?\s*\Z",
    re.I,
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*|__)")
_IN_HEADING = re.compile(rf"(?:^|[\s`*_(:])({_PATH})")
_EMPHASISED = re.compile(rf"(?:`|\*\*|__)+({_PATH})(?:`|\*\*|__)+")
_PLAIN = re.compile(
    rf"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:file(?:name|path)?\s*:?\s*)?({_PATH})\s*(?:\([^()]*\))?\s*:?\s*\Z", re.I
)
_AS_FILE = re.compile(rf"\b(?:as|in|into|file|named|called|create|edit|update)\s+({_PATH})", re.I)
_PREAMBLE = re.compile(r"\s*(?:#!.*\n\s*)?")
_NEVER_WRITTEN = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py"})


def from_info(info: str) -> str | None:
    """Return the file name within a fence's info string."""
    match = _IN_INFO.search(info)
    return match[1] if match else None


def from_comment(text: str) -> str | None:
    """Return the file name that a block's first comment consists of."""
    line = _PREAMBLE.sub("", text[:600], count=1).partition("\n")[0]
    match = _COMMENT.match(line[:300])
    return match[1] if match else None


def from_lead(lines: Sequence[str]) -> str | None:
    """Return the file name given by the line just before a block, else by the nearest heading above it."""
    if not lines:
        return None
    heading = next((line for line in reversed(lines) if _HEADING.match(line)), "")
    return _from_line(lines[-1]) or _from_line(heading)


def _from_line(line: str) -> str | None:
    line = line[:300]
    patterns = (_IN_HEADING,) if _HEADING.match(line) else (_EMPHASISED, _PLAIN, _AS_FILE)
    matches = (pattern.search(line) if pattern is not _PLAIN else pattern.match(line) for pattern in patterns)
    return next((match[1] for match in matches if match), None)


def safe_path(name: str) -> str | None:
    """Return a normalised relative path, or `None` for one that leaves the folder or must not be written."""
    path = PurePosixPath(name.replace("\\", "/"))
    unsafe = path.is_absolute() or ".." in path.parts or ":" in name or not path.parts
    if unsafe or path.name in _NEVER_WRITTEN or path.suffix == ".pth":
        return None
    return str(path)
