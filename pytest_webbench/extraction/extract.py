"""From a reply to the code it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pytest_webbench.extraction import reasoning
from pytest_webbench.extraction.choice import (
    Candidate,
    Choice,
    Rank,
    candidate,
    choose,
    files,
    is_patch,
)
from pytest_webbench.extraction.fences import Block, scan
from pytest_webbench.extraction.python import FRAMEWORKS
from pytest_webbench.extraction.unfenced import code_runs
from pytest_webbench.extraction.unwrap import from_json

FailureClass = Literal["no_code", "truncated"]

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_REFUSAL = re.compile(
    r"\b(?:I\s*(?:'|\u2019)?\s*(?:m|am)\s+(?:(?:very|so|really)\s+)?(?:sorry|unable|not\s+able|not\s+comfortable)"
    r"|I\s+(?:can(?:no|'|\u2019)t|can\s+not|won(?:'|\u2019)t|will\s+not|must\s+decline)\b)",
    re.I,
)
_REFUSAL_WITHIN = 600
_LEFT_LABEL = re.compile(r"\A\s*(?:assistant|python3?|py)[ \t]*:?[ \t]*\n\n?", re.IGNORECASE)
_RANK_WORDS = {
    Rank.APP: "app",
    Rank.ROUTER: "router",
    Rank.ANY_APP: "any_app",
    Rank.PARTIAL_APP: "partial_app",
    Rank.BROKEN_APP: "broken_app",
    Rank.PARSES: "parsing",
    Rank.BROKEN: "longest",
}


@dataclass(frozen=True, slots=True)
class Code:
    """What a reply holds.

    `text` is the entry module, `None` where the reply has no code. `rule` says where it was found and why
    it was chosen: `fence`, `text`, `run` or `json`, then `_app`, `_router`, `_any_app`, `_partial_app`,
    `_broken_app`, `_parsing` or `_longest`; `none` without code. `flags` tell what was special:
    `unclosed_fence`, `truncated`, `truncation_suspected`, `json_wrapped`, `line_numbers`,
    `prompt_unwrapped`, `dedented`, `joined`, `unsafe_path`, `reasoning_only`, `refusal_text`, `diff_reply`.
    `files` maps relative paths to texts, the entry's included; empty where the reply names no file.
    `failure_class` is set where the reply cannot be judged as a program: `no_code`, or `truncated` for a
    reply cut by the token limit that holds no code or code that does not parse.
    """

    text: str | None
    rule: str
    flags: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    entry: str = "app.py"
    failure_class: FailureClass | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object of the same fields."""
        return asdict(self) | {"flags": list(self.flags), "files": dict(self.files)}


@dataclass(frozen=True, slots=True)
class _Found:
    """What one place of the reply (`fence`, `text`, `run` or `json`) holds."""

    place: str
    candidates: Sequence[Candidate] = ()
    others: Sequence[tuple[str, str]] = ()
    flags: Sequence[str] = ()


def extract_code(reply: str | None, framework: str, finish_reason: str | None = None) -> Code:
    """Return the code of a reply to a case of a framework (Flask, FastAPI or Django, in any case).

    >>> extract_code("Here:\\n```python\\nx = 1\\n```", "Flask").text
    'x = 1'

    Raises ValueError for another framework. Time is linear in the reply's length.
    """
    own = framework.lower()
    if own not in FRAMEWORKS:
        raise ValueError(f"framework: expected one of {', '.join(FRAMEWORKS)}, got {framework!r}")
    cut = (finish_reason or "").lower() in _CUT
    answer = reasoning.answer(reply or "")
    if answer is None:
        return _no_code("", ["reasoning_only"], cut)
    found = _find(answer, own)
    choice = choose(found.candidates)
    if choice is None:
        return _no_code(answer, found.flags, cut)
    return _code(found, choice, cut)


def _find(answer: str, framework: str) -> _Found:
    wrapped = _in_json(answer, framework)
    if wrapped.candidates:
        return wrapped
    scanned = scan(answer)
    fenced = _in_fences(scanned.blocks, framework)
    if fenced.candidates:
        return fenced
    for block in scanned.blocks:
        if block.tag == "json" and (inner := _in_json(block.text, framework)).candidates:
            return inner
    prose = _in_prose(scanned.outside, framework)
    return _Found(prose.place, prose.candidates, fenced.others, [*fenced.flags, *prose.flags])


def _in_json(text: str, framework: str) -> _Found:
    candidates: list[Candidate] = []
    others: list[tuple[str, str]] = []
    for wrapped in from_json(text):
        blocks = scan(wrapped.text).blocks if wrapped.name is None else ()
        inner = _in_fences(blocks, framework)
        if inner.candidates:
            candidates += [replace(each, flags=("json_wrapped", *each.flags)) for each in inner.candidates]
        elif wrapped.name is None or wrapped.name.endswith(".py"):
            candidates.append(candidate(wrapped.text, wrapped.name, framework, ["json_wrapped"]))
        else:
            others.append((wrapped.name, wrapped.text))
    return _Found("json", candidates, others)


def _in_fences(blocks: Iterable[Block], framework: str) -> _Found:
    candidates: list[Candidate] = []
    others: list[tuple[str, str]] = []
    flags: list[str] = []
    for block in blocks:
        found = _candidate_in(block, framework)
        parses = found is not None and found.facts.parses
        if block.tag in ("diff", "patch") or (not parses and is_patch(block.text)):
            flags.append("diff_reply")
        elif found is not None:
            candidates.append(found)
        elif block.name is not None and not block.name.endswith(".py"):
            others.append((block.name, block.text))
    return _Found("fence", candidates, others, flags)


def _candidate_in(block: Block, framework: str) -> Candidate | None:
    if block.language not in ("python", "unknown"):
        return None
    if block.language == "unknown" and block.name is not None and not block.name.endswith(".py"):
        return None
    found = candidate(block.text, block.name, framework, () if block.closed else ["unclosed_fence"])
    tagged_and_broken = block.language == "python" and not found.facts.parses
    return found if found.is_code or tagged_and_broken else None


def _in_prose(text: str, framework: str) -> _Found:
    whole = candidate(_LEFT_LABEL.sub("", text.strip("\n"), count=1), None, framework)
    if whole.facts.substantive:
        return _Found("text", [whole])
    if is_patch(text):
        return _Found("text", flags=["diff_reply"])
    runs = (candidate(run, None, framework, whole.flags) for run in code_runs(whole.text))
    return _Found("run", list(runs))


def _code(found: _Found, choice: Choice, cut: bool) -> Code:
    chosen = choice.candidate
    collected = files(choice, found.candidates, found.others)
    unfinished = not chosen.facts.parses
    flags = [
        *chosen.flags,
        *(["truncated"] if cut else []),
        *(["truncation_suspected"] if unfinished and not cut and "unclosed_fence" in chosen.flags else []),
        *(["joined"] if choice.joined else []),
        *(["unsafe_path"] if collected.refused else []),
    ]
    return Code(
        text=choice.text,
        rule=f"{found.place}_{_RANK_WORDS[chosen.rank]}",
        flags=tuple(dict.fromkeys(flags)),
        files=collected.texts,
        entry=collected.entry,
        failure_class="truncated" if cut and unfinished else None,
    )


def _no_code(answer: str, noticed: Iterable[str], cut: bool) -> Code:
    """A reply cut before it came to code is truncated; marks without a word would never have come to it."""
    refused = _REFUSAL.search(answer[:_REFUSAL_WITHIN]) is not None
    hopeless = bool(answer.strip()) and re.search(r"\w", answer) is None
    flags = [*noticed, *(["truncated"] if cut else []), *(["refusal_text"] if refused else [])]
    truncated = cut and not refused and not hopeless
    failure: FailureClass = "truncated" if truncated else "no_code"
    return Code(None, "none", tuple(dict.fromkeys(flags)), failure_class=failure)
