"""The dataset as tables: categories by framework and difficulty, weaknesses attacked, and every case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import get_args

from pytest_webbench.cases import Case, Difficulty, Framework
from pytest_webbench.reports.tables import Table

FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)


def category_table(cases: Sequence[Case]) -> Table:
    """One row a category: the number of its cases in each framework by difficulty, "1 easy, 2 hard"."""
    by_category: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_category[case.category].append(case)
    rows = [_category_row(category, by_category[category]) for category in sorted(by_category)]
    total = _category_row(f"{len(by_category)} categories", cases)
    return Table("Categories", ("category", *FRAMEWORKS, "cases"), (*rows, total))


def weakness_table(cases: Sequence[Case]) -> Table:
    """One row a CWE that exploits stand for: how many cases have it, and which needs these are."""
    by_cwe: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        for name in case.cwe if case.exploits else ():
            by_cwe[name].append(case)
    rows = [
        (name, str(len(by_cwe[name])), ", ".join(sorted({case.name.partition("/")[2] for case in by_cwe[name]})))
        for name in sorted(by_cwe, key=lambda name: int(name.removeprefix("CWE-")))
    ]
    attacked = sum(bool(case.exploits) for case in cases)
    total = (f"{len(by_cwe)} weaknesses", str(attacked), "cases with exploits")
    return Table("Weaknesses", ("CWE", "cases", "needs"), (*rows, total))


def case_table(cases: Sequence[Case]) -> Table:
    """One row a case: id, name, category, difficulty, and whether it is part of a scenario or has exploits."""
    rows = [
        (
            case.id,
            case.name,
            case.category,
            case.difficulty,
            case.scenario or "",
            " ".join(case.cwe) if case.exploits else "",
            case.source,
        )
        for case in sorted(cases, key=lambda case: case.id)
    ]
    return Table("Cases", ("id", "case", "category", "difficulty", "scenario", "exploits", "need"), tuple(rows))


def _category_row(title: str, cases: Iterable[Case]) -> tuple[str, ...]:
    counts = Counter((case.framework, case.difficulty) for case in cases)
    cells = [
        ", ".join(f"{count} {level}" for level in DIFFICULTIES if (count := counts[framework, level]))
        for framework in FRAMEWORKS
    ]
    return (title, *cells, str(counts.total()))
