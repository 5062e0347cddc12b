"""`references.json` of a run folder: the reference solution of each case as it was when the run was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_webbench.cases import Case

REFERENCES = "references.json"
PROMPTS = "prompts.json"


def write_references(folder: Path, cases: Sequence[Case]) -> Path:
    """Keep the references of a run's cases, so that its answers can be set against them later."""
    path = folder / REFERENCES
    path.write_text(json.dumps({case.name: case.reference for case in cases}, indent=1) + "\n", "utf-8")
    return path


def read_references(folder: Path) -> Mapping[str, str]:
    """Return the references by case name; none where the run folder does not hold them."""
    path = folder / REFERENCES
    if not path.exists():
        return {}
    references: dict[str, str] = json.loads(path.read_text("utf-8"))
    return references
