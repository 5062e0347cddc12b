"""What is published: wheel and sdist, their content, and the wheel at work in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str, cwd: Path = ROOT, path: Path | None = None) -> str:
    """Run a Python module; return what it printed. `path` is searched before what is installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both; the folder with them."""
    folder = tmp_path_factory.mktemp("dist")
    run("build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


def test_the_wheel_holds_the_package_its_data_and_the_dataset_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert len(tops) == 2
    assert all(top.startswith("pytest_webbench") for top in tops)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".sqlite"))]
    packaged = {name.removeprefix("pytest_webbench/dataset/") for name in names if "/dataset/" in name}
    cases = {path.relative_to(ROOT / "cases").as_posix() for path in (ROOT / "cases").rglob("*") if path.is_file()}
    assert packaged == {name for name in cases if "__pycache__" not in name}
    for data in ("prompts/templates/web_expert.toml", "reports/page/page.html", "models/agent/prompts.toml"):
        assert f"pytest_webbench/{data}" in names
    assert {Path(name).name for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_the_sdist_holds_what_the_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "tests/conftest.py", "cases/validation.json", "pyproject.toml"} <= names
    assert not [name for name in names if name.startswith((".webbench", "reports/runs"))]


def test_the_metadata_is_complete(built: Path) -> None:
    assert run("twine", "check", "--strict", *map(str, built.iterdir())).count("PASSED") == 2


def test_the_wheel_runs_reports_and_gates_in_an_empty_folder(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    installed, project = tmp_path / "installed", tmp_path / "project"
    run("pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel))
    project.mkdir()
    assert "cases in cases" in run("pytest_webbench", "init", cwd=project, path=installed)
    options = ("--model=reference", "--webbench-samples=1", "-k", "todo_crud or item_models", "-p", "no:cacheprovider")
    printed = run("pytest", *options, cwd=project, path=installed)
    assert "2 passed" in printed
    expected = json.loads((project / "reports/latest/run.json").read_text("utf-8"))["expected"]
    assert {case for case, *_ in expected} == {"flask/todo_crud", "fastapi/item_models"}
    run("pytest_webbench", "report", "latest", cwd=project, path=installed)
    gate = ("gate", "latest", "--fail-under", "functional_pass_at_1=0.5")
    assert "PASS" in run("pytest_webbench", *gate, cwd=project, path=installed)
