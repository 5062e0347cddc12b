"""A session without `--model` is as it would be without the plugin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Bench = Callable[..., pytest.RunResult]
HEAVY = (
    "openai",
    "pydantic",
    "tree_sitter",
    "scipy",
    "numpy",
    "sqlite3",
    "rich",
    "flask",
    "httpx2",
    "pytest_webbench.main_session",
    "pytest_webbench.session",
)


def test_an_unrelated_suite_sees_nothing_of_the_plugin(pytester: pytest.Pytester, bench: Bench) -> None:
    pytester.makepyfile("def test_ok(): pass")
    result = bench()
    result.assert_outcomes(passed=1)
    text = result.stdout.str().replace("webbench-0.1.0", "").replace("plugins:", "")
    assert "webbench" not in text
    assert (
        sorted(path.name for path in pytester.path.iterdir() if "webbench" in path.name or path.name == "reports") == []
    )


def test_nothing_heavy_is_imported() -> None:
    code = f"import sys, pytest_webbench.plugin; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_suite_with_its_own_model_option_keeps_it(
    pytester: pytest.Pytester, bench: Bench, workers: tuple[str, ...]
) -> None:
    pytester.makeconftest(
        """
        def pytest_addoption(parser):
            parser.addoption("--model", default="theirs", help="another model")
        """
    )
    pytester.makepyfile("def test_theirs(request): assert request.config.getoption('model') == 'mine'")
    bench("--model", "mine", *workers).assert_outcomes(passed=1)


def test_the_long_name_works_where_the_short_one_is_taken(cases: Path, pytester: pytest.Pytester, bench: Bench) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--model')")
    result = bench("--webbench-model=reference", "--webbench-samples=1", "--webbench-tiers=static")
    result.assert_outcomes(passed=2)


def test_help_describes_the_options(bench: Bench) -> None:
    text = bench("--help").stdout.str()
    assert "--model=NAME" in text or "--model NAME" in text
    assert "--webbench-samples" in text
