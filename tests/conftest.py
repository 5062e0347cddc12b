"""Fixtures for every test of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import postgres, server_programs
from project import QUICK, write_case
from xdist.scheduler import WorkStealingScheduling


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WorkStealingScheduling | None:
    """Let an idle worker steal: tests that start whole pytest runs take a thousand times longer than others."""
    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture
def cases(pytester: pytest.Pytester) -> Path:
    """A project with two cases in the current folder."""
    pytester.makeini("[pytest]\ntestpaths = cases\n")
    write_case(pytester.path, "alpha", difficulty="hard")
    write_case(pytester.path, "beta", category="auth", tags=("smoke",))
    return pytester.path


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run pytest in a process of its own, without what the environment says of proxies, keys and CI."""

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess(*QUICK, *arguments)

    return run


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NIM_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _inner_runs_find_the_tests_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture(params=[(), ("-n", "2")], ids=["alone", "two workers"])
def workers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The same behaviour is wanted alone and under xdist."""
    arguments: tuple[str, ...] = request.param
    return arguments


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Run a PostgreSQL server; the URL of its database."""
    programs = server_programs()
    if programs is None:
        pytest.skip("needs the programs of PostgreSQL's server")
    with postgres(programs) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Empty the database; its URL."""
    import psycopg

    with psycopg.connect(postgres_server) as db:
        db.execute("DROP TABLE IF EXISTS webbench_completions, webbench_store")
    return postgres_server
