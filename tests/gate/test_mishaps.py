"""What went wrong in other benchmarks, and what happens here: no call twice, no result lost, never green for nothing.

Each test names the mishap it was taken from, E and a number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from loopback import DEFAULT_TEXT, Answer, Loopback, Scripted, Seen, completion, error
from made import describe, many
from project import records, write_case

from pytest_webbench.gate import Gate, parse_rule
from pytest_webbench.ledger import Ledger, read_run
from pytest_webbench.statistics.comparison import sides
from pytest_webbench.statistics.samples import Samples

Bench = Callable[..., pytest.RunResult]
Serve = Callable[..., Loopback]
STATIC = "--webbench-tiers=static"
BAD = "```python\nfrom flask import Flask\napp = Flask(__name__\n```"
GATE = "--webbench-fail-under=pass_at_1=0.8"


@pytest.fixture
def serve(cases: Path) -> Iterator[Serve]:
    """Serve the model `some`; further lines are put into its table."""
    servers: list[Loopback] = []

    def start(answer: Answer | None = None, *lines: str, **more: float) -> Loopback:
        server = Loopback(answer=answer or (lambda seen: completion()), **more).__enter__()
        servers.append(server)
        table = ["[models.some]", "provider = 'openai'", "model = 'acme/some'", f"base_url = '{server.url}'", *lines]
        (cases / "webbench.toml").write_text("\n".join(table) + "\n", "utf-8")
        return server

    yield start
    for server in servers:
        server.__exit__()


def some(samples: int, *more: str) -> tuple[str, ...]:
    return ("--model=some", f"--webbench-samples={samples}", STATIC, *more)


def test_a_mistyped_selection_is_not_green_and_says_what_selected_nothing(
    cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    """E010"""
    result = bench("--model=reference", STATIC, GATE, "-k", "flsk", *workers)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["webbench: 0 of 2 cases selected by -k flsk"])


@pytest.mark.parametrize("gate", [(GATE,), ()], ids=["gate", "no gate"])
def test_without_a_key_nothing_is_skipped_into_green(serve: Serve, bench: Bench, gate: tuple[str, ...]) -> None:
    """E012"""
    server = serve(None, "api_key_env = 'SOME_KEY'")
    table = Path("webbench.toml")
    table.write_text(table.read_text().replace(server.url, "https://models.example.org/v1"), "utf-8")
    result = bench(*some(1), *gate)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*model 'some' needs a key: set SOME_KEY in the environment or in .env*"])


def test_a_finished_sample_is_on_disk_before_the_next_one_begins(tmp_path: Path) -> None:
    """E016"""
    rows = many(1, 1.0, 3)
    ledger = Ledger(tmp_path, describe(rows))
    for count, row in enumerate(rows, 1):
        ledger.add(row, json.dumps({"reply": "x"}))
        assert (tmp_path / "records.jsonl").read_text().count("\n") == count
        assert (tmp_path / "completions.jsonl").read_text().count("\n") == count


def test_a_torn_line_is_asked_again_and_what_is_before_it_reused(tmp_path: Path) -> None:
    """E018"""
    rows = many(1, 1.0, 2)
    description = describe(rows)
    (tmp_path / "run.json").write_text(json.dumps(description), "utf-8")
    (tmp_path / "records.jsonl").write_text(f"{rows[0].to_json()}\n{rows[1].to_json()[:40]}", "utf-8")
    assert [row.failure_class for row in read_run(tmp_path).records] == [None, "lost"]
    ledger = Ledger(tmp_path, description)
    ledger.add(rows[1])
    ledger.close()
    assert [row.status for row in read_run(tmp_path).records] == ["passed", "passed"]


def test_a_resumed_run_asks_for_what_is_missing_only(serve: Serve, bench: Bench) -> None:
    """E019"""
    server = serve()
    assert bench(*some(3), "-k", "alpha").ret == 0
    assert bench(*some(1), "-k", "beta").ret == 0
    before = len(server.bodies)
    assert bench(*some(3)).ret == 0
    assert len(server.bodies) - before == 2


def test_errors_are_asked_again_and_failures_are_not(serve: Serve, cases: Path, bench: Bench) -> None:
    """E021"""
    healthy = False

    def answer(seen: Seen) -> Scripted:
        sample = seen.body["seed"]
        if sample == 1 and not healthy:
            return error(400, "this prompt is too strange")
        return completion(BAD if sample == 2 else DEFAULT_TEXT)

    server = serve(answer)
    arguments = some(3, "--webbench-seed=0", "--webbench-report-only", "-k", "alpha")
    bench(*arguments)
    assert [row["status"] for row in records(cases)] == ["passed", "config_error", "model_failure"]
    healthy = True
    before = len(server.bodies)
    bench(*arguments)
    assert [body["seed"] for body in server.bodies[before:]] == [1]
    assert [row["status"] for row in records(cases)] == ["passed", "passed", "model_failure"]


def test_running_again_until_it_is_green_draws_no_new_sample(serve: Serve, cases: Path, bench: Bench) -> None:
    """E022"""
    replies = iter([BAD, BAD, DEFAULT_TEXT])
    server = serve(lambda seen: completion(next(replies)))
    for _ in range(3):
        assert bench(*some(1), "--webbench-run-id=again", "-k", "alpha").ret == 1
    assert len(server.bodies) == 1
    benchmark = json.loads((cases / "reports" / "benchmark.json").read_text())
    assert benchmark[0]["scores"]["acme/some"]["pass_at_1"] == 0.0


def test_collecting_asks_nothing(serve: Serve, bench: Bench, workers: tuple[str, ...]) -> None:
    """E036"""
    server = serve()
    assert bench(*some(2), "--collect-only", *workers).ret == 0
    assert server.log == []


def test_workers_ask_for_each_sample_once(serve: Serve, cases: Path, bench: Bench) -> None:
    """E037"""
    for number in range(6):
        write_case(cases, f"case{number}")
    server = serve()
    assert bench(*some(2), "-n", "4").ret == 0
    assert len(server.bodies) == 16


def test_more_workers_ask_no_more_at_a_time(serve: Serve, bench: Bench) -> None:
    """E040"""
    server = serve(None, "concurrency = 1", latency=0.05)
    assert bench(*some(4), "-n", "2").ret == 0
    log = sorted(server.log, key=lambda seen: seen.arrived)
    assert len(log) == 8
    assert all(before.replied is not None and before.replied <= after.arrived for before, after in pairwise(log))


@pytest.mark.parametrize("fault", ["reference", "wrong"])
def test_a_case_that_cannot_tell_right_from_wrong_is_found_before_a_paid_call(
    cases: Path, pytester: pytest.Pytester, fault: str
) -> None:
    """E043"""
    folder = cases / "cases" / "flask" / "alpha"
    code = (folder / "reference.py").read_text()
    if fault == "reference":
        (folder / "checks.py").write_text("def check_it(client):\n    assert client.get('/alpha').status_code == 500\n")
        code = code.replace("name=", "nom=")
    (folder / "wrong").mkdir()
    (folder / "wrong" / "planted.py").write_text(f'"""It tells another name."""\n{code}')
    result = pytester.run(sys.executable, "-m", "pytest_webbench", "validate", "cases/flask/alpha", "--repeat", "1",
                          "--mutants", "1")  # fmt: skip
    assert result.ret == 1
    said = {"reference": "*error: reference fails check_it*", "wrong": "*error: wrong/planted.py passes everything*"}
    result.stdout.fnmatch_lines([said[fault]])


def test_a_server_that_only_sends_empty_answers_is_not_a_model_that_fails(
    serve: Serve, cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    """E045"""
    server = serve(lambda seen: completion("", usage=None), "max_retries = 0")
    result = bench(*some(40), GATE, "--webbench-concurrency=2", *workers)
    assert result.ret not in (0, 1, 10)
    assert len(server.bodies) < 20
    assert {row["static_pass"] for row in records(cases)} == {None}


def test_equal_requests_at_temperature_0_are_not_taken_for_equal_answers() -> None:
    """E046"""
    first = [
        replace(row, completion_key=row.node_id, code_sha=f"a{row.node_id}", parameters={"temperature": 0})
        for row in many(4, 1.0, 1)
    ]
    second = [replace(row, code_sha=f"b{row.node_id}") for row in first]
    gate = Gate((parse_rule("max-drop", "points=5"),), sides(Samples.of(first)))
    verdict = gate.judge(Samples.of(second))
    assert verdict is not None
    assert verdict.outcome == "inconclusive"
    assert verdict.findings[0].low != verdict.findings[0].high


def test_one_answer_of_nothing_costs_one_sample(serve: Serve, cases: Path, bench: Bench) -> None:
    """E048"""
    serve(lambda seen: completion(None, usage=None) if seen.body["seed"] == 1 else completion(), "max_retries = 0")
    assert bench(*some(3, "--webbench-seed=0", "-k", "alpha")).ret == 3
    assert [row["status"] for row in records(cases)] == ["passed", "infrastructure_error", "passed"]
