"""Which of a reply's blocks is the answer, and which files come with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from pytest_webbench.extraction.names import safe_path
from pytest_webbench.extraction.python import Facts, facts
from pytest_webbench.extraction.unwrap import unwrap

_PATCH = re.compile(r"^(?:--- .*\n\+\+\+ |diff --git |@@ -\d|<{5,} ?SEARCH|\*\*\* Begin Patch)", re.MULTILINE)
_DEFAULT_ENTRIES = ("app.py", "main.py", "server.py", "answer.py")


class Rank(IntEnum):
    """How well a block answers a case, worst first."""

    BROKEN = 0
    PARSES = 1
    BROKEN_APP = 2
    PARTIAL_APP = 3
    ANY_APP = 4
    ROUTER = 5
    APP = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be the answer, with what it is made of and what was noticed about it."""

    text: str
    name: str | None
    facts: Facts
    rank: Rank
    flags: tuple[str, ...] = ()

    @property
    def is_code(self) -> bool:
        """Whether the text is code without a language tag to say so: it parses and does something."""
        return self.facts.substantive or self.rank is Rank.BROKEN_APP


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen block with the fragments that belong to it."""

    text: str
    candidate: Candidate
    joined: bool


def is_patch(text: str) -> bool:
    """Tell a diff or search-and-replace block, which is no program."""
    return _PATCH.search(text) is not None


def candidate(text: str, name: str | None, framework: str, flags: Sequence[str] = ()) -> Candidate:
    """Unwrap, analyse and rank one text for a framework (lower case)."""
    known, noticed = facts(text), tuple(flags)
    if not known.parses and (unwrapped := unwrap(text)) is not None:
        text, known, noticed = unwrapped.text, facts(unwrapped.text), (*flags, unwrapped.flag)
    return Candidate(text, name, known, _rank(known, framework), noticed)


def _rank(known: Facts, framework: str) -> Rank:
    if not known.parses:
        return Rank.BROKEN_APP if framework in known.partial else Rank.BROKEN
    if not known.compiles:
        return Rank.BROKEN_APP if framework in known.apps | known.partial else Rank.PARSES
    if framework in known.apps:
        return Rank.APP
    if framework in known.routers:
        return Rank.ROUTER
    if known.apps or known.routers:
        return Rank.ANY_APP
    return Rank.PARTIAL_APP if framework in known.partial else Rank.PARSES


def choose(candidates: Sequence[Candidate]) -> Choice | None:
    """Return the last block of the best rank (the longest, where none parses), tests left aside."""
    eligible = [each for each in candidates if not each.facts.is_test]
    if not eligible:
        return None
    best = max(each.rank for each in eligible)
    ranked = [(number, each) for number, each in enumerate(eligible) if each.rank == best]
    if best in (Rank.BROKEN, Rank.BROKEN_APP):
        number, chosen = max(ranked, key=lambda pair: len(pair[1].text))
    else:
        number, chosen = ranked[-1]
    after = _fragments_of(chosen, eligible[number + 1 :])
    before = _groundwork_for([chosen, *after], eligible[:number])
    if not (before or after):
        return Choice(chosen.text, chosen, joined=False)
    parts = (part.text.strip("\n") for part in (*before, chosen, *after))
    return Choice("\n\n\n".join(parts), chosen, joined=True)


def _fragments_of(chosen: Candidate, later: Sequence[Candidate]) -> list[Candidate]:
    """Return later blocks that go on with the chosen one: they use its app and do not bind it."""
    defined = set(chosen.facts.defines)
    fragments: list[Candidate] = []
    for each in later:
        uses = each.facts.reads & chosen.facts.objects - each.facts.binds
        repeats = each.facts.defines & defined or each.text.strip() in chosen.text
        if uses and each.facts.compiles and not (_alien(each, chosen) or repeats or each.facts.only_runs):
            fragments.append(each)
            defined |= each.facts.defines
    return fragments


def _groundwork_for(parts: Sequence[Candidate], earlier: Sequence[Candidate]) -> list[Candidate]:
    """Return earlier blocks that provide names without which the parts cannot run; no second app."""
    missing: set[str] = set()
    for part in parts:
        missing |= part.facts.missing - parts[0].facts.provides
    groundwork: list[Candidate] = []
    for each in reversed(earlier):
        makes_app = each.facts.apps or each.facts.partial
        sound = each.facts.compiles and not makes_app and not _alien(each, parts[0])
        if sound and each.facts.provides & missing:
            groundwork.insert(0, each)
            missing = (missing - each.facts.provides) | each.facts.missing
    return groundwork


def _alien(each: Candidate, chosen: Candidate) -> bool:
    """Whether a block belongs to another file than the chosen one."""
    return each.name is not None and each.name != chosen.name


@dataclass(frozen=True, slots=True)
class Files:
    """Named files by relative path, the entry's path, and whether a path was refused."""

    texts: Mapping[str, str]
    entry: str
    refused: bool


def files(choice: Choice, candidates: Sequence[Candidate], others: Sequence[tuple[str, str]]) -> Files:
    """Collect what the reply names: of one name the better block stays, the later one of equals."""
    kept: dict[str, tuple[Rank, str]] = {}
    named = [(each.name, each.rank, each.text) for each in candidates if each.name is not None]
    refused = False
    for name, rank, text in [*named, *((name, Rank.BROKEN, text) for name, text in others)]:
        path = safe_path(name)
        refused |= path is None
        if path is not None and (path not in kept or rank >= kept[path][0]):
            kept[path] = (rank, text)
    entry = safe_path(choice.candidate.name) if choice.candidate.name is not None else None
    if entry is None:
        entry = _free_entry(kept)
    texts = {path: text for path, (_, text) in kept.items()}
    return Files({**texts, entry: choice.text} if texts else {}, entry, refused)


def _free_entry(taken: Mapping[str, object]) -> str:
    roots = {PurePosixPath(path).parts[0] for path in taken}
    free = (name for name in _DEFAULT_ENTRIES if not {name, name.removesuffix(".py")} & roots)
    return next(free, "webbench_answer.py")
