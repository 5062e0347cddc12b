"""What can be known before the first call is checked before it: one clear line, exit 4, no call."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Loopback

Bench = Callable[..., pytest.RunResult]
REFERENCE = ("--model=reference", "--webbench-samples=1", "--webbench-tiers=static")


def refused(result: pytest.RunResult, *lines: str) -> None:
    """Assert exit 4, these error lines and nothing like a traceback."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(list(lines))
    for stream in (result.stdout, result.stderr):
        stream.no_fnmatch_line("*Traceback*")
        stream.no_fnmatch_line("*INTERNALERROR*")


def test_an_unknown_model_lists_the_known_ones(cases: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    refused(bench("--model=lama", *workers), "ERROR: --model: unknown model 'lama'; known: llama, mixtral, *")


def test_an_unknown_template_lists_the_known_ones(cases: Path, bench: Bench) -> None:
    refused(
        bench(*REFERENCE, "--webbench-prompt=x"),
        "ERROR: --webbench-prompt: unknown template 'x'; known: as_is, *",
    )


@pytest.mark.parametrize("empty", [False, True], ids=["absent", "empty"])
def test_a_missing_key_says_where_to_get_one(
    cases: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch, empty: bool
) -> None:
    if empty:
        monkeypatch.setenv("NIM_API_KEY", "")
    refused(
        bench("--model=llama"),
        "ERROR: model 'llama' needs a key: set NIM_API_KEY in the environment or in .env (get a key at https://*",
    )


def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(
    cases: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIM_API_KEY", "sk-\u010danary")
    result = bench("--model=llama", "--junitxml=j.xml")
    refused(result, "ERROR: NIM_API_KEY holds a character that no key has: paste the key again")
    assert "anary" not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--model=",), "ERROR: --model: expected the name of a model, found none"),
        ((*REFERENCE, "--webbench-budget=-1"), "ERROR: --webbench-budget: expected an amount in USD from 0 on, *"),
        ((*REFERENCE, "--webbench-report-dir=pytest.ini"), "ERROR: --webbench-report-dir: * is a file, *"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(
    cases: Path, bench: Bench, arguments: tuple[str, ...], line: str
) -> None:
    (cases / "pytest.ini").touch()
    refused(bench(*arguments), line)


def test_a_broken_definition_names_file_key_and_expectation(
    cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    definition = cases / "cases" / "flask" / "alpha" / "definition.toml"
    text = definition.read_text("utf-8").replace('difficulty = "hard"', 'difficulty = "extreme"\ncolour = "red"')
    definition.write_text(text, "utf-8")
    refused(
        bench(*REFERENCE, *workers),
        "ERROR: *cases/flask/alpha/definition.toml: difficulty: expected 'easy', 'medium' or 'hard', found 'extreme'",
        "*cases/flask/alpha/definition.toml: colour: unknown key",
    )


def test_a_definition_that_is_no_toml_says_where(cases: Path, bench: Bench) -> None:
    (cases / "cases" / "flask" / "alpha" / "definition.toml").write_text("id = \n", "utf-8")
    refused(bench(*REFERENCE), "ERROR: *alpha/definition.toml: not valid TOML: *line 1*")


def test_a_store_of_a_newer_version_is_refused(cases: Path, bench: Bench) -> None:
    (cases / ".webbench").mkdir()
    with sqlite3.connect(cases / ".webbench" / "completions.sqlite") as store:
        store.execute("PRAGMA user_version = 99")
    refused(bench(*REFERENCE), "ERROR: *completions.sqlite*newer*")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("absent.json", None, "ERROR: baseline *absent.json: no such file or run folder"),
        ("broken.json", "{", "ERROR: baseline *broken.json: not a readable benchmark.json: *"),
        ("records.jsonl", "{}\n", "ERROR: baseline *records.jsonl: line 1: not a record *"),
        ("empty.json", "[]", "ERROR: baseline *empty.json: holds no judged sample of any model"),
    ],
)
def test_an_unusable_baseline_is_refused(cases: Path, bench: Bench, name: str, text: str | None, line: str) -> None:
    if text is not None:
        (cases / name).write_text(text, "utf-8")
    refused(bench(*REFERENCE, f"--webbench-baseline={name}"), line)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("[models.x]\nprovider = 'opneai'\n", "ERROR: *webbench.toml: models.x.provider: *"),
        (
            "[models.x]\nprovider = 'openai'\n",
            "ERROR: *webbench.toml: models.x.model: required key is missing",
        ),
        ("[models.llama]\ncolour = 1\n", "ERROR: *webbench.toml: models.llama.colour: unknown key"),
        (
            "[models.'a/b']\nprovider = 'reference'\n",
            "ERROR: *webbench.toml: models.a/b: a name may hold letters*",
        ),
        ("[model.llama]\ntop_p = 1\n", "ERROR: *webbench.toml: model: unknown key; a model is a table such as *"),
        ("[models\n", "ERROR: *webbench.toml: not a readable TOML file: *"),
    ],
)
def test_a_broken_models_table_names_file_model_and_key(cases: Path, bench: Bench, table: str, line: str) -> None:
    (cases / "webbench.toml").write_text(table, "utf-8")
    refused(bench(*REFERENCE), line)


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("--webbench-samples=0", "ERROR: --webbench-samples: expected a whole number of at least 1, found 0"),
        (
            "--webbench-concurrency=0",
            "ERROR: --webbench-concurrency: expected a whole number of at least 1, found 0",
        ),
        (
            "--webbench-tiers=fast",
            "ERROR: --webbench-tiers: unknown tier 'fast'; known: static, functional, secure",
        ),
        ("--webbench-run-id=a/b", "ERROR: --webbench-run-id: letters, digits and . _ - only, found 'a/b'"),
        ("--webbench-models=none.toml", "ERROR: *none.toml: no such models table"),
    ],
)
def test_an_unusable_value_is_refused(cases: Path, bench: Bench, option: str, line: str) -> None:
    refused(bench(*REFERENCE, option), line)


def test_a_budget_needs_known_prices(cases: Path, bench: Bench) -> None:
    with Loopback() as server:
        (cases / "webbench.toml").write_text(
            f"[models.priceless]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n", "utf-8"
        )
        refused(
            bench("--model=priceless", "--webbench-budget=1"),
            "ERROR: --webbench-budget: the price of model 'priceless' is unknown*",
        )
        assert server.bodies == []


def test_checks_that_cannot_be_used_are_refused_before_the_first_call(cases: Path, bench: Bench) -> None:
    checks = cases / "cases" / "flask" / "alpha" / "checks.py"
    checks.write_text("def check_it(browser): pass\n", "utf-8")
    refused(
        bench("--model=reference", "--webbench-samples=1"),
        "ERROR: *alpha/checks.py: *check_it*browser*",
    )
