from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_webbench.cases import Case, Source
from pytest_webbench.tiers.http import run_http_tiers
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.tiers.results import Deadlines, HttpTiers

from .standin import StandIn

QUICK = Deadlines(start=5, check=5, request=5)


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


@pytest.fixture
def case(tmp_path: Path) -> Callable[..., Case]:
    return lambda *args, **changes: make_case(tmp_path, *args, **changes)


@pytest.fixture
def standin() -> StandIn:
    return StandIn()


@pytest.fixture
def judge(tmp_path: Path, standin: StandIn) -> Callable[..., HttpTiers]:
    """Judge WSGI source text against a case (in the stand-in sandbox)."""

    def run(case: Case, app: str, **options: Any) -> HttpTiers:
        options = {"deadlines": QUICK, "turnstile": Turnstile(tmp_path / "locks")} | options
        return run_http_tiers(case, {"app.py": dedent(app)}, "app.py", standin, **options)

    return run
