"""A made-up case for tests."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from pytest_webbench.cases import Case, Source


def make_case(path: Path, checks: str = "", exploits: str = "", **changes: Any) -> Case:
    """A Flask case at `path`; `checks` and `exploits` are texts of its files."""
    fields: dict[str, Any] = {
        "id": "web_901",
        "name": "flask/sample",
        "version": "1.0",
        "framework": "Flask",
        "category": "crud",
        "difficulty": "easy",
        "domain": "web",
        "language": "python",
        "source": "made up for tests",
        "contributor": "tests",
        "criteria": ("parsing", "execution", "unit_tests"),
        "prompt": "Write an app.",
        "imports": ("flask",),
        "reference": "",
        "path": path / "definition.toml",
        "checks": (Source(dedent(checks), path / "checks.py"),) if checks else (),
        "exploits": (Source(dedent(exploits), path / "exploits.py"),) if exploits else (),
    }
    return Case(**(fields | changes))
