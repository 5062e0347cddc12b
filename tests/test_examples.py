"""Each example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Loopback
from project import write_case

EXAMPLES = Path(__file__).parents[1] / "examples"
TESTED = {"run_benchmark", "summarise_run", "debug_one_answer", "scan_parameters", "create_definition"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_case(tmp_path, "alpha")
    write_case(tmp_path, "beta")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def serve(project: Path, server: Loopback) -> None:
    table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{server.url}'\n"
    (project / "webbench.toml").write_text(table, "utf-8")


def test_every_example_has_its_test() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == TESTED


def test_run_summarise_and_debug(project: Path) -> None:
    told = run("run_benchmark", "reference")
    assert "reference in_python: functional Pass@1 1.00" in told
    assert "reference web_expert: functional Pass@1 1.00" in told
    assert "2 of 2 samples judged" in told
    assert run("summarise_run").splitlines() == [
        "4 of 4 samples were judged",
        "reference on Flask: 4 of 4 passed, 100 points on average",
    ]
    told = run("debug_one_answer", "reports/latest", "flask/beta")
    assert told.startswith("flask/beta, reference: passed")
    assert "Web-CodeBLEU 1.000" in told


def test_a_failing_answer_is_debugged(project: Path) -> None:
    with Loopback() as server:
        serve(project, server)
        run("run_benchmark", "some")
    assert run("summarise_run").splitlines()[-1].startswith("4 x ")
    told = run("debug_one_answer", "reports/latest", "flask/beta")
    assert "check_the_name_is_told" in told
    assert '-@app.get("/beta")\n' in told
    assert '+@app.get("/")\n' in told


def test_scan_parameters(project: Path) -> None:
    with Loopback() as server:
        serve(project, server)
        told = run("scan_parameters", "some", "2", "cases/flask/alpha", "cases/flask/beta")
        assert len(server.log) == 12
        again = run("scan_parameters", "some", "2", "cases/flask/alpha", "cases/flask/beta")
        assert len(server.log) == 12
    for text in (told, again):
        assert text.splitlines()[-1] == "for webbench.toml: temperature = 0.2"


def test_create_definition(project: Path) -> None:
    told = run("create_definition").splitlines()
    assert told[-1].startswith("flask/word_count: valid, 5 checks, ")
    assert "wrong/single_spaces is caught by check_any_white_space_parts_words" in "\n".join(told)
    assert (project / "cases" / "flask" / "word_count" / "definition.toml").is_file()
