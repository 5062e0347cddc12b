"""From a completion to a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from project import write_case

from pytest_webbench.cases import Case, load_case
from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.evaluation import Sample, evaluate, not_obtained
from pytest_webbench.model_table import ModelEntry
from pytest_webbench.models import Completion, ConfigError, InfrastructureError, Parameters
from pytest_webbench.prompts import load_template
from pytest_webbench.records import Record
from pytest_webbench.selection import Model
from pytest_webbench.workbench import Workbench

EXPLOITS = """def exploit_names_are_not_guessed(client):
    assert client.get("/secret").status_code == 404
"""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_case(write_case(tmp_path, "alpha"))


def opened(tier: Any) -> Iterator[Workbench]:
    bench = Workbench(tier, "auto")
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    yield from opened("functional")


@pytest.fixture(scope="module")
def secure() -> Iterator[Workbench]:
    yield from opened("secure")


def sample(case: Case) -> Sample:
    entry = ModelEntry(provider="openai", model="acme/m")
    return Sample(
        "n", case, Model("m", entry, Parameters(temperature=0.8, seed=7), 1), "http://e", load_template("web_expert"), 3
    )


def judge(case: Case, text: str | None, tier: Any = "static", bench: Workbench | None = None, **changes: Any) -> Record:
    completion = replace(Completion(text, "stop", input_tokens=5, output_tokens=9, latency_seconds=1.5), **changes)
    fetched = Fetched("key", completion, from_store=False)
    return evaluate("r", sample(case), fetched, bench or Workbench(tier, "auto")).record


def fenced(code: str) -> str:
    return f"Here:\n```python\n{code}\n```\n"


def test_a_request_carries_base_seed_plus_sample_index(case: Case) -> None:
    request = sample(case).request
    assert (request.parameters.seed, request.sample, request.model_id) == (10, 3, "acme/m")


def test_the_reference_passes_the_static_tiers(case: Case) -> None:
    record = judge(case, fenced(case.reference))
    assert (record.status, record.static_pass, record.functional_pass, record.points) == ("passed", True, None, None)
    assert record.tiers["execution"] == "not_assessed"
    assert record.web_codebleu == pytest.approx(1, abs=1e-6)
    assert (record.input_tokens, record.output_tokens, record.latency_seconds) == (5, 9, 1.5)


@pytest.mark.parametrize(
    ("text", "changes", "failure_class"),
    [
        ("I cannot help with that.", {"refusal": True}, "refused"),
        ("", {}, "no_code"),
        (None, {"finish_reason": "length"}, "truncated"),
        ("```python\nfrom flask import Flask\napp = Fl(", {"finish_reason": "length"}, "truncated"),
        (fenced("from flask import Flask\napp = Flask("), {}, "syntax_error"),
        (fenced("import flask\napp = flask.Flask('x')"), {}, "structure_missing"),
    ],
)  # fmt: skip
def test_what_the_model_did_wrong_is_its_failure(
    case: Case, text: str | None, changes: dict[str, Any], failure_class: str
) -> None:
    record = judge(case, text, **changes)
    assert (record.status, record.failure_class, record.static_pass) == ("model_failure", failure_class, False)
    assert record.message
    assert record.judged


def test_no_code_counts_as_the_empty_hypothesis(case: Case) -> None:
    record = judge(case, "Sorry.")
    assert (record.web_codebleu, record.kw_f1) == (0.0, 0.0)


def test_a_blocked_answer_is_not_judged(case: Case) -> None:
    record = judge(case, "```python\nfrom fl", finish_reason="content_filter", blocked="content_filter")
    assert (record.status, record.failure_class, record.judged) == ("blocked", "content_filter", False)
    assert (record.static_pass, record.web_codebleu) == (None, None)


def test_a_cut_answer_that_passes_is_passed_and_flagged(case: Case) -> None:
    record = judge(case, fenced(case.reference)[:-4], finish_reason="length")
    assert record.status == "passed"
    assert "truncated" in record.flags


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InfrastructureError("timeout", "no answer"), "infrastructure_error"),
        (ConfigError("auth", "bad key"), "config_error"),
    ],
)
def test_a_completion_that_could_not_be_had_is_never_the_models_failure(case: Case, error: Any, status: str) -> None:
    record = not_obtained("r", sample(case), error).record
    assert (record.status, record.failure_class, record.message) == (status, error.failure_class, str(error))
    assert (record.static_pass, record.functional_pass, record.judged) == (None, None, False)


class TestExecution:
    """Tiers that run the app."""

    def test_the_reference_gets_100_points(self, case: Case, bench: Workbench) -> None:
        record = judge(case, fenced(case.reference), bench=bench)
        assert (record.status, record.points, record.functional_pass) == ("passed", 100.0, True)
        assert record.sandbox is not None
        assert [check.passed for check in record.checks] == [True, True]

    def test_a_failing_check_costs_its_quarter_and_shows_both_sides(self, case: Case, bench: Workbench) -> None:
        record = judge(case, fenced(case.reference.replace('name="alpha"', 'name="beta"')), bench=bench)
        assert (record.status, record.failure_class, record.points) == ("model_failure", "check_failed", 75.0)
        (failed,) = [check for check in record.checks if not check.passed]
        assert failed.name == "check_the_name_is_told"
        assert "GET /alpha" in failed.request
        assert "beta" in failed.response
        assert "'beta' == 'alpha'" in failed.message

    def test_an_app_that_does_not_start_fails_all_that_follows(self, case: Case, bench: Workbench) -> None:
        record = judge(case, fenced(case.reference + "\n1 / 0"), bench=bench)
        assert (record.failure_class, record.points, record.functional_pass) == ("runtime", 25.0, False)
        assert "ZeroDivisionError" in record.message

    def test_what_does_not_compile_passes_the_syntax_tier_and_fails_execution(
        self, case: Case, bench: Workbench
    ) -> None:
        record = judge(case, fenced(case.reference + "\nreturn 1"), bench=bench)
        assert record.tiers["syntax"] == "passed"
        assert record.tiers["execution"] == "failed"
        assert (record.compiles, record.static_pass, record.failure_class) == (False, True, "syntax_error")

    def test_text_that_does_not_parse_gets_0_points(self, case: Case, bench: Workbench) -> None:
        assert judge(case, fenced("def broken(:"), bench=bench).points == 0.0

    def test_security_has_three_values(self, case: Case, secure: Workbench, tmp_path: Path) -> None:
        (case.path.parent / "exploits.py").write_text(EXPLOITS, "utf-8")
        guarded = load_case(case.path)
        secret = guarded.reference + "\n@app.get('/secret')\ndef secret():\n    return 'x'\n"
        assert judge(guarded, fenced(guarded.reference), bench=secure).secure_pass is True
        exploited = judge(guarded, fenced(secret), bench=secure)
        assert (exploited.secure_pass, exploited.functional_pass, exploited.failure_class) == (False, True, "exploited")
        assert judge(guarded, fenced(guarded.reference)).secure_pass is None

    def test_a_machine_without_sandbox_is_not_the_models_fault(self, case: Case) -> None:
        bench = Workbench("functional", "auto", why_no_sandbox="no sandbox here: install bubblewrap")
        record = judge(case, fenced(case.reference), bench=bench)
        assert (record.status, record.failure_class) == ("infrastructure_error", "not_assessed")
        assert record.message == "no sandbox here: install bubblewrap"
        assert (record.static_pass, record.functional_pass, record.points) == (True, None, None)
