"""What is collected, and under which names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from project import write_case, write_dataset

Bench = Callable[..., pytest.RunResult]
STATIC = "--webbench-tiers=static"


def test_nothing_is_collected_without_a_model(cases: Path, bench: Bench) -> None:
    result = bench("--collect-only", "-q")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.no_fnmatch_line("*sample*")


def test_node_ids_name_file_model_template_and_sample(cases: Path, bench: Bench) -> None:
    result = bench("--model", "reference", "--webbench-samples", "2", "--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == [
        f"cases/flask/{name}/definition.toml::reference::web_expert::sample-{index}"
        for name in ("alpha", "beta")
        for index in (0, 1)
    ]


def test_collecting_shows_the_tree_and_needs_no_key(cases: Path, bench: Bench) -> None:
    result = bench("--model", "llama", "--webbench-samples=1", "--collect-only", "cases/flask/beta")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "*<CaseFile definition.toml>*",
            "*<ModelNode llama>*",
            "*<TemplateNode web_expert>*",
            "*<SampleItem sample-0>*",
        ]
    )
    assert not (cases / "reports").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-m", "smoke"), ["beta"]),
        (("-m", "flask and hard"), ["alpha"]),
        (("-m", "category_auth"), ["beta"]),
        (("-k", "alpha"), ["alpha"]),
        (("cases/flask/beta/definition.toml::reference",), ["beta"]),
        (("cases/flask/beta/definition.toml::reference::web_expert::sample-0",), ["beta"]),
    ],
)
def test_usual_selection_works(cases: Path, bench: Bench, arguments: tuple[str, ...], expected: list[str]) -> None:
    result = bench("--model=reference", "--webbench-samples=1", STATIC, "--strict-markers", "-v", *arguments)
    result.assert_outcomes(passed=len(expected), deselected=0 if "::" in arguments[0] else 2 - len(expected))
    result.stdout.fnmatch_lines([f"*{name}*PASSED*" for name in expected])


def test_models_and_templates_multiply(cases: Path, bench: Bench) -> None:
    result = bench(
        "--model=reference,local", "--webbench-prompt=as_is", "--webbench-prompt=recap", "--webbench-samples=2",
        "--collect-only", "-q", "cases/flask/alpha",
    )  # fmt: skip
    ids = [line.split("definition.toml::")[1] for line in result.outlines if "::" in line]
    assert len(ids) == 8
    assert ids[0] == "reference::as_is::sample-0"
    assert ids[-1] == "local::recap::sample-1"


def test_a_dataset_file_is_collected_by_entry(pytester: pytest.Pytester, bench: Bench) -> None:
    write_dataset(pytester.path, 3)
    result = bench("dataset.json", "--model=reference", "--webbench-samples=1", "-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*dataset.json::ds_0::reference::web_expert::sample-0 PASSED*"])


def test_last_failed_runs_only_what_failed(cases: Path, bench: Bench) -> None:
    reference = cases / "cases" / "flask" / "beta" / "reference.py"
    reference.write_text("def broken(:\n", "utf-8")
    arguments = ("--model=reference", "--webbench-samples=2", STATIC)
    bench(*arguments).assert_outcomes(passed=2, failed=2)
    bench(*arguments, "--lf").assert_outcomes(failed=2)


def test_an_alias_of_a_provider_and_model_id_is_made_safe(cases: Path, bench: Bench) -> None:
    result = bench("--model", "openai:acme/coder:1", "--collect-only", "-q", "--webbench-samples=1", "-k", "alpha")
    result.stdout.fnmatch_lines(["*definition.toml::openai-acme-coder-1::web_expert::sample-0"])


def test_two_names_that_become_one_alias_are_refused(cases: Path, bench: Bench) -> None:
    result = bench("--model", "openai:a/b", "--model", "openai:a:b", "--collect-only")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'openai:a/b' and 'openai:a:b' both get the name 'openai-a-b'*"])


def test_two_cases_with_one_id_are_refused(cases: Path, bench: Bench) -> None:
    write_case(cases, "gamma", identity="web_alpha")
    result = bench("--model=reference")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gamma/definition.toml: id: 'web_alpha' is already the id of *alpha*"])
