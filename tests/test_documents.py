"""Examples in README and docs run as they stand."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from pytest_webbench.cli import SUBCOMMANDS, main
from pytest_webbench.model_table import load_table

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CALL = re.compile(r"(?:^|[\s(&])(pytest|webbench(?: [a-z]+)?)((?: [^#\n]*)?)")


def blocks(language: str) -> list[tuple[str, str]]:
    """Return document name and text of every fenced block of a language."""
    return [
        (document.name, block)
        for document in DOCUMENTS
        for block in re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), re.M | re.S)
    ]


@pytest.mark.parametrize(("document", "code"), blocks("python"))
def test_python_runs(document: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, document, "exec"), {})


@pytest.mark.parametrize(("document", "text"), blocks("toml"))
def test_a_models_table_is_usable(document: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "webbench.toml").write_text(text, "utf-8")
    assert load_table(tmp_path, None).keys() > tomllib.loads(text)["models"].keys()


def test_links_within_the_project_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def scripts(value: object) -> Iterator[str]:
    """Yield every command line of a parsed workflow: GitHub's `run`, GitLab's `script`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            lines = inner if isinstance(inner, list) else [inner]
            if name in ("run", "script") and all(isinstance(line, str) for line in lines):
                yield from lines
            else:
                yield from scripts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scripts(inner)


def calls(script: str) -> list[tuple[str, list[str]]]:
    """Return each call of pytest and webbench in a script with its options."""
    text = script.replace("\\\n", " ")
    return [
        (
            program,
            [word.partition("=")[0] for word in shlex.split(rest.split("&&")[0], comments=True) if word[:1] == "-"],
        )
        for line in text.splitlines()
        for program, rest in CALL.findall(line)
    ]


def every_script() -> list[tuple[str, str]]:
    """Return document name and text of every script in workflows, README and docs."""
    found = [(file.name, script) for file in WORKFLOWS for script in scripts(yaml.safe_load(file.read_text("utf-8")))]
    found += [(name, script) for name, text in blocks("yaml") for script in scripts(yaml.safe_load(text))]
    return [*found, *blocks(""), *blocks("bash")]


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """The options of pytest with its plugins, and of each subcommand."""
    help_text = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True, cwd=ROOT / "tests"
    ).stdout
    options = {"pytest": set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", help_text)), "webbench": {"--help"}}
    for name in SUBCOMMANDS:
        module = import_module(f"pytest_webbench.commands.{'import_' if name == 'import' else name}")
        options[f"webbench {name}"] = {word for param in module.command.params for word in param.opts} | {"--help"}
    return options


@pytest.mark.parametrize(("document", "script"), every_script())
def test_every_option_exists(document: str, script: str, known: dict[str, set[str]]) -> None:
    for program, options in calls(script):
        assert program in known, f"{document}: {program}"
        assert set(options) <= known[program], f"{document}: {program}"
    for option in re.findall(r"--webbench-[a-z-]+", script):
        assert option in known["pytest"], document


def test_options_named_in_the_text_exist(known: dict[str, set[str]]) -> None:
    for document in DOCUMENTS:
        for option in re.findall(r"--webbench-[a-z]+(?:-[a-z]+)*", document.read_text("utf-8")):
            assert option in known["pytest"], f"{document.name}: {option}"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_reads_the_repository_only_and_ends(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] and job["runs-on"] for job in workflow["jobs"].values())


def test_the_benchmark_has_as_many_shards_as_it_says_and_judges_the_merged_whole() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "benchmark.yml").read_text("utf-8"))
    shards = workflow["jobs"]["run"]["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, workflow["env"]["SHARDS"] + 1))
    programs = [program for script in scripts(workflow["jobs"]["gate"]) for program, _ in calls(script)]
    assert programs == ["webbench report", "webbench gate", "webbench gate"]
    assert workflow["jobs"]["gate"]["needs"] == "run"


def test_the_tables_of_the_cases_are_up_to_date(tmp_path: Path) -> None:
    copy = tmp_path / "README.md"
    copy.write_text((ROOT / "cases" / "README.md").read_text("utf-8"), "utf-8")
    assert CliRunner().invoke(main, ["cases", str(ROOT / "cases"), "--update", str(copy)]).exit_code == 0
    assert copy.read_text("utf-8") == (ROOT / "cases" / "README.md").read_text("utf-8"), "webbench cases --update"
