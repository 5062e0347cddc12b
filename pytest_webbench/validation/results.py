"""Results of earlier validations, kept in a file that can be committed.

A case is validated again when one of its files, its framework's version, Python's, or the rules change, or
when more is asked than was tried. Only clean results are kept. Every result is written as it comes, so
that an interrupted validation goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.validation.report import CaseReport, Options

SCHEMA = 1
RULES = 1
"""To be raised when validation finds more, or other mutants, than it did."""


class Results:
    """The results in one JSON file; `None` keeps them in memory only."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries = _stored(path)

    def find(self, case: Case, options: Options) -> CaseReport | None:
        """Return the result of an equal or more thorough validation of the same content."""
        entry = self._entries.get(case.name)
        if entry is None or entry["fingerprint"] != fingerprint(case):
            return None
        return CaseReport.from_json(entry["report"]) if Options(**entry["options"]).covers(options) else None

    def keep(self, case: Case, options: Options, report: CaseReport) -> None:
        """Keep a clean result."""
        if not report.ok:
            return
        self._entries |= _stored(self._path)
        self._entries[case.name] = {
            "fingerprint": fingerprint(case),
            "options": asdict(options),
            "report": report.to_json(),
        }
        if self._path is not None:
            text = json.dumps({"schema": SCHEMA, "cases": self._entries}, indent=1, sort_keys=True)
            waiting = self._path.with_suffix(".tmp")
            waiting.write_text(text + "\n", "utf-8")
            waiting.replace(self._path)


def _stored(path: Path | None) -> dict[str, Any]:
    if path is None or not path.exists():
        return {}
    stored = json.loads(path.read_text("utf-8"))
    return dict(stored["cases"]) if stored.get("schema") == SCHEMA else {}


def fingerprint(case: Case) -> str:
    """Return a hash of the case's files (a scenario's included) and of the versions that matter."""
    folder = case.path.parent
    shared = {source.path for source in (*case.checks, *case.exploits)}
    files = sorted({case.path, *folder.glob("*.py"), *folder.glob("wrong/*.py"), *shared})
    digest = hashlib.sha256()
    for file in files:
        name = Path(os.path.relpath(file, folder)).as_posix()
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest.update(f"{RULES} {python} {metadata.version(case.framework)}".encode())
    return digest.hexdigest()
