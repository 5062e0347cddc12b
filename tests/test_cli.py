"""The `webbench` command."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from packaging.requirements import Requirement
from project import write_case

from pytest_webbench.cases import Case, load_cases
from pytest_webbench.cli import SUBCOMMANDS, main
from pytest_webbench.commands.cases import BEGIN, END
from pytest_webbench.commands.doctor import needed_by_cases, package_state

Webbench = Callable[..., Result]
ROOT = Path(__file__).parents[1]


@pytest.fixture
def webbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Webbench:
    """Call the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_explains_itself(webbench: Webbench, name: str) -> None:
    result = webbench(name, "--help")
    assert result.exit_code == 0
    assert f"main {name}" in result.output
    assert len(result.output.splitlines()) > 5


def test_help_lists_the_subcommands(webbench: Webbench) -> None:
    output = webbench("--help").output
    assert all(name in output for name in SUBCOMMANDS)


@pytest.mark.parametrize("arguments", [("show", "nope", "flask/a"), ("report", "nope")])
def test_a_run_that_is_not_there_is_one_clear_line(webbench: Webbench, arguments: tuple[str, ...]) -> None:
    result = webbench(*arguments)
    assert result.exit_code == 4
    assert result.stderr == (
        "error: no run 'nope': expected a run folder, the id of a run below reports/runs, or 'latest'\n"
    )


@pytest.mark.parametrize("arguments", [("gate",), ("gate", "run", "--bogus"), ("bogus",)])
def test_a_usage_error_ends_as_one_of_a_run_does(webbench: Webbench, arguments: tuple[str, ...]) -> None:
    result = webbench(*arguments)
    assert result.exit_code == 4
    assert "Error: " in result.stderr


def test_ctrl_c_ends_a_command_in_one_line() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest_webbench", "validate", "cases/flask/todo_crud", "--repeat", "500"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 2, output + errors
    assert errors.split() == ["interrupted"]


def test_models_tells_which_keys_are_present(webbench: Webbench, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("NIM_API_KEY=sk-secret\n", "utf-8")
    output = webbench("models").output
    assert "NIM_API_KEY present" in output
    assert "GEMINI_API_KEY missing" in output
    assert "sk-secret" not in output
    table = json.loads(webbench("models", "--json").output)
    assert table["llama"]["key_present"] is True
    assert table["local"]["size_b"] == 0.5


def test_metrics_prints_a_table_or_json(webbench: Webbench, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from flask import Flask\napp = Flask(__name__)\n", "utf-8")
    assert "similarity to the reference" in webbench("metrics", "a.py", "a.py").output
    assert json.loads(webbench("metrics", "a.py", "a.py", "--json").output)["syntax"] == 1.0
    missing = webbench("metrics", "a.py", "b.py")
    assert (missing.exit_code, missing.stderr) == (4, "error: cannot read b.py: No such file or directory\n")


def test_a_new_case_is_refused_until_it_is_filled_in(webbench: Webbench, tmp_path: Path) -> None:
    assert webbench("new", "flask/rate_limit").exit_code == 0
    result = webbench("validate", "cases")
    assert result.exit_code == 1
    assert "TODO(case) is still to be filled in" in result.output
    again = webbench("new", "flask/rate_limit")
    assert again.exit_code == 4
    assert again.stderr.startswith("error: ")


def test_a_complete_case_is_valid(webbench: Webbench, tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha")
    wrong = definition.parent / "wrong"
    wrong.mkdir()
    text = (definition.parent / "reference.py").read_text("utf-8")
    (wrong / "other_name.py").write_text(text.replace('name="alpha"', 'name="beta"'), "utf-8")
    result = webbench("validate", "cases", "--repeat", "1", "--mutants", "3", "--jobs", "1")
    assert "[1/1]" in result.output
    assert "1 of 1 wrong solutions caught" in result.output
    data = json.loads(webbench("validate", "cases", "--repeat=1", "--mutants=3", "--jobs=1", "--json").output)
    assert data["cases"][0]["case"] == "flask/alpha"
    assert data["cases"][0]["mutants"] == 3


def test_validate_without_cases_is_an_error(webbench: Webbench) -> None:
    result = webbench("validate", "cases")
    assert (result.exit_code, result.stderr) == (4, "error: no definition.toml below cases\n")


def test_doctor_tells_what_this_machine_can_do(webbench: Webbench) -> None:
    result = webbench("doctor")
    assert "webbench sandbox: " in result.output
    assert "--model local: " in result.output
    assert result.exit_code in (0, 1)


def test_doctor_names_every_package_that_the_cases_need_and_what_is_too_old(webbench: Webbench) -> None:
    assert {"flask", "fastapi", "django", "python-multipart", "email-validator"} <= {
        requirement.name for requirement in needed_by_cases()
    }
    flask = Requirement("flask>=3.1")
    assert package_state(flask, "3.1.2") == ("flask 3.1.2 (written for >=3.1)", True)
    for found in ("2.3.3", None):
        line, suits = package_state(flask, found)
        assert not suits
        assert line.endswith('pip install --upgrade "pytest-webbench[exec]"')


def test_cases_counts_and_renews_the_tables_in_a_file(webbench: Webbench, tmp_path: Path) -> None:
    write_case(tmp_path, "alpha")
    shown = webbench("cases", "cases").output
    assert re.search(r"crud +1 easy +1$", shown, re.M)
    document = tmp_path / "README.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    for _ in range(2):
        assert webbench("cases", "cases", "--update", "README.md").exit_code == 0
        text = document.read_text("utf-8")
        assert "old" not in text
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        assert text.count("| web_alpha | flask/alpha | crud | easy |") == 1
    (tmp_path / "empty.md").write_text("nothing", "utf-8")
    refused = webbench("cases", "cases", "--update", "empty.md")
    assert refused.exit_code == 4
    assert "expected the lines" in refused.stderr


def test_the_dataset_survives_the_journey_through_dataset_json(webbench: Webbench, tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        write_case(tmp_path, name)
    assert webbench("export", "--dataset", "cases", "exported").exit_code == 0
    original, returned = load_cases(tmp_path / "cases"), load_cases(tmp_path / "exported")
    assert [fields_kept(case) for case in returned] == [fields_kept(case) for case in original]
    prompts = json.loads((tmp_path / "exported" / "prompts.json").read_text("utf-8"))
    assert [(one["id"], one["framework"], one["template"]) for one in prompts] == [
        ("web_alpha", "Flask", "web_expert"),
        ("web_beta", "Flask", "web_expert"),
    ]
    assert original[0].prompt.strip() in prompts[0]["messages"][-1]["content"]


def fields_kept(case: Case) -> tuple[str, ...]:
    """Return what the schema of a dataset.json holds of a case."""
    return case.id, case.domain, case.language, case.framework, case.source, case.prompt, case.reference
