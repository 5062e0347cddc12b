from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_webbench.cases import Case
from pytest_webbench.tiers.http import run_http_tiers
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.tiers.results import Deadlines, HttpTiers

from .sample_case import make_case
from .standin import StandIn

QUICK = Deadlines(start=5, check=5, request=5)


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
