"""Code in a reply without fences: the runs of lines that parse, between lines of prose."""

from __future__ import annotations

import ast
import re

from pytest_webbench.extraction.python import Problem, is_substantive, parse

_CODE_START = re.compile(
    r"(?:from\s+[\w.]+\s+import\s|import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,.*)?\s*\Z|@\w[\w.]*(?:\(.*)?\Z"
    r"|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*(?:\([^()]*\))?:"
    r"|[A-Za-z_]\w*(?:\s*:\s*\w+)?\s*=\s*\S|if __name__\b)"
)
_CONTINUED = re.compile(r"[ \t]+\S|[)\]}]|\#")
_TAGGED = re.compile(
    r"<(?P<tag>answer|code|file|output|pre|python|result|solution)\b[^<>\n]*>\s*(?=(?:from|import)\s+\w)",
    re.IGNORECASE,
)
_PARSED_CHARACTERS = 1_500_000


def code_runs(text: str) -> tuple[str, ...]:
    """Return the substantive runs of code in prose, in order; work is bounded whatever the text is."""
    lines = _without_margin(_within_tags(text).split("\n"))
    starts = [number for number, line in enumerate(lines) if _CODE_START.match(line)]
    runs: list[str] = []
    end = 0
    budget = _PARSED_CHARACTERS
    for start in starts:
        if start < end or budget <= 0:
            continue
        end, spent = _parsing_end(lines, start, budget)
        budget -= spent
        end = _broken_end(lines, end) if end > start else end
        run = _joined(lines[start:end], at_end=end == len(lines))
        tree = parse(run)
        if isinstance(tree, Problem) or is_substantive(tree):
            runs += [run] if run else []
    return tuple(runs)


def _joined(lines: list[str], *, at_end: bool) -> str:
    """Join a run of code; comments at its tail, with prose behind them, are headings of that prose."""
    while lines and not at_end and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return "\n".join(lines).rstrip()


def _within_tags(text: str) -> str:
    """Return what stands between a tag that opens right before imports and its closer."""
    opening = _TAGGED.search(text)
    if opening is None:
        return text
    inside = text[opening.end() :]
    end = inside.lower().find(f"</{opening['tag'].lower()}>")
    return inside if end < 0 else inside[:end]


def _without_margin(lines: list[str]) -> list[str]:
    """Undo Markdown's indented code: only where no line of code starts at the margin."""
    if any(_CODE_START.match(line) for line in lines):
        return lines
    first = next((line for line in lines if _CODE_START.match(line.lstrip(" \t"))), "")
    margin = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(margin) for line in lines] if margin else lines


def _parsing_end(lines: list[str], start: int, budget: int) -> tuple[int, int]:
    """Return where the longest parsing run from `start` ends, and the characters parsed to find it."""
    end, spent = len(lines), 0
    while end > start and spent <= budget:
        chunk = "\n".join(lines[start:end])
        spent += len(chunk)
        tree = parse(chunk)
        if isinstance(tree, ast.Module):
            return end, spent
        failing = start + (tree.line or 1) - 1
        end = min(end - 1, failing)
    return start, spent


def _broken_end(lines: list[str], end: int) -> int:
    """Go on over lines that are code as well: a mistake in the code is the model's, not the end of it."""
    last = end
    for number in range(end, len(lines)):
        line = lines[number]
        if _CODE_START.match(line) or _CONTINUED.match(line):
            last = number + 1
        elif line.strip():
            break
    return last
