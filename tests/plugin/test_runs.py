"""A whole run: records, reports, exit status, the store."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Scripted, completion, error
from project import records, run_json, write_case

Bench = Callable[..., pytest.RunResult]
STATIC = "--webbench-tiers=static"
REFERENCE = ("--model=reference", "--webbench-samples=2", STATIC)
TIMES = ("run_id", "started_at", "duration_seconds", "latency_seconds", "from_store")

GOOD = "```python\nfrom flask import Flask\napp = Flask(__name__)\n\n@app.get('/')\ndef index():\n    return 'ok'\n```"
BAD = "```python\nfrom flask import Flask\napp = Flask(__name__\n```"


def by_case(**answers: str | Scripted) -> Callable[[Any], Scripted]:
    """Answer by the case's name in the prompt."""

    def answer(seen: Any) -> Scripted:
        prompt = seen.body["messages"][-1]["content"]
        for name, reply in answers.items():
            if f"GET /{name} " in prompt:
                return reply if isinstance(reply, Scripted) else completion(reply)
        raise AssertionError(prompt)

    return answer


@pytest.fixture
def served(cases: Path) -> Iterator[Callable[..., Loopback]]:
    """Serve the model `some` by a scripted server."""
    servers: list[Loopback] = []

    def serve(answer: Callable[[Any], Scripted], **more: Any) -> Loopback:
        server = Loopback(answer=answer, **more).__enter__()
        servers.append(server)
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{server.url}'\n"
        (cases / "webbench.toml").write_text(table, "utf-8")
        return server

    yield serve
    for server in servers:
        server.__exit__()


def stripped(root: Path) -> list[dict[str, Any]]:
    """Return the latest records but for what differs between equal runs."""
    return [{key: value for key, value in record.items() if key not in TIMES} for record in records(root)]


def test_the_reference_passes_and_leaves_every_report(cases: Path, bench: Bench) -> None:
    result = bench(*REFERENCE)
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    latest = cases / "reports" / "latest"
    assert {path.name for path in latest.iterdir()} >= {
        "run.json", "records.jsonl", "completions.jsonl", "summary.json", "summary.md", "prompts.json",
        "midpoint_scores.txt", "leaderboard.csv", "by_framework.csv", "by_template.csv", "samples.csv",
    }  # fmt: skip
    assert len(run_json(cases)["expected"]) == len(records(cases)) == 4
    answers = [json.loads(line) for line in (latest / "completions.jsonl").read_text().splitlines()]
    assert all(answer["code"].startswith("from flask") and answer["messages"] for answer in answers)


def test_two_workers_leave_the_same_records_as_one_process(cases: Path, bench: Bench) -> None:
    bench(*REFERENCE)
    alone = stripped(cases)
    assert bench(*REFERENCE, "-n", "2").ret == 0
    assert stripped(cases) == alone


def test_a_second_run_asks_nothing(
    served: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = served(by_case(alpha=GOOD, beta=BAD))
    arguments = ("--model=some", "--webbench-samples=2", STATIC, *workers)
    bench(*arguments).stdout.fnmatch_lines(["completions: 0 from the store, 4 from models"])
    first = stripped(cases)
    bench(*arguments).stdout.fnmatch_lines(["completions: 4 from the store, 0 from models"])
    assert stripped(cases) == first
    assert len(server.bodies) == 4


def test_seeds_differ_by_sample(served: Callable[..., Loopback], bench: Bench) -> None:
    server = served(by_case(alpha=GOOD))
    bench("--model=some", "--webbench-samples=3", "--webbench-seed=40", STATIC, "-k", "alpha")
    assert sorted(body["seed"] for body in server.bodies) == [40, 41, 42]


def test_offline_never_asks(served: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    server = served(by_case(alpha=GOOD, beta=GOOD))
    bench("--model=some", "--webbench-samples=1", STATIC, "-k", "alpha")
    result = bench("--model=some", "--webbench-samples=1", STATIC, "--webbench-offline")
    assert result.ret == 3
    result.assert_outcomes(passed=1, errors=1)
    assert [record["failure_class"] for record in records(cases)] == [None, "not_stored"]
    assert len(server.bodies) == 1


def test_refresh_asks_again(served: Callable[..., Loopback], bench: Bench) -> None:
    server = served(by_case(alpha=GOOD, beta=GOOD))
    for _ in range(2):
        bench("--model=some", "--webbench-samples=1", STATIC, "--webbench-refresh")
    assert len(server.bodies) == 4


@pytest.mark.parametrize(
    ("answers", "arguments", "status"),
    [
        ({"alpha": GOOD, "beta": GOOD}, (), 0),
        ({"alpha": GOOD, "beta": BAD}, (), 1),
        ({"alpha": GOOD, "beta": BAD}, ("--webbench-report-only",), 0),
        ({"alpha": GOOD, "beta": error(500, "down")}, (), 3),
        ({"alpha": BAD, "beta": error(500, "down")}, ("--webbench-report-only",), 3),
        ({"alpha": GOOD, "beta": completion(None, finish_reason="content_filter")}, (), 3),
        ({"alpha": GOOD, "beta": error(401, "bad key")}, (), 4),
        ({"alpha": error(404, "gone"), "beta": error(404, "gone")}, (), 4),
    ],
    ids=[
        "passed",
        "failed",
        "failed, report only",
        "server down",
        "down, report only",
        "blocked",
        "auth",
        "retired",
    ],
)
def test_the_exit_status_tells_what_happened(
    served: Callable[..., Loopback],
    bench: Bench,
    workers: tuple[str, ...],
    answers: dict[str, Any],
    arguments: tuple[str, ...],
    status: int,
) -> None:
    served(by_case(**answers))
    assert bench("--model=some", "--webbench-samples=1", STATIC, *arguments, *workers).ret == status


def test_a_failing_ordinary_test_always_gives_1(cases: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    (cases / "test_other.py").write_text("def test_no(): assert False", "utf-8")
    assert bench(*REFERENCE, "--webbench-report-only", "cases", "test_other.py", *workers).ret == 1


def test_an_empty_selection_is_not_green(cases: Path, bench: Bench) -> None:
    assert bench(*REFERENCE, "-k", "flsk").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_infrastructure_error_is_a_pytest_error_and_a_model_failure_a_failure(
    served: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    served(by_case(alpha=BAD, beta=error(400, "prompt too strange")))
    result = bench("--model=some", "--webbench-samples=1", STATIC)
    result.assert_outcomes(failed=1, errors=1)
    alpha, beta = records(cases)
    assert (alpha["status"], alpha["failure_class"], alpha["static_pass"]) == (
        "model_failure",
        "syntax_error",
        False,
    )
    assert beta["status"] == "config_error"
    assert beta["static_pass"] is None


def test_a_failure_explains_itself_in_a_few_lines(served: Callable[..., Loopback], bench: Bench) -> None:
    served(by_case(alpha=BAD, beta=GOOD))
    result = bench("--model=some", "--webbench-samples=1", STATIC, "--webbench-run-id=r1")
    result.stdout.fnmatch_lines(
        [
            "*flask/alpha some web_expert sample-0*",
            "syntax_error: SyntaxError: '(' was never closed (line 2)",
            "webbench show r1 flask/alpha --model some --template web_expert --sample 0",
        ]
    )
    result.stdout.no_fnmatch_line("*items.py*")


def test_records_travel_in_junit_xml_and_json_report(
    served: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    served(by_case(alpha=GOOD, beta=BAD))
    bench(
        "--model=some",
        "--webbench-samples=1",
        STATIC,
        "--junitxml=j.xml",
        "--json-report",
        "--json-report-file=j.json",
        *workers,
    )
    wanted = records(cases)
    junit = [
        {item.get("name"): item.get("value") for item in case.iter("property")}
        for case in ET.parse(cases / "j.xml").iter("testcase")
    ]
    report = [{key: value for pair in test["user_properties"] for key, value in pair.items()}
              for test in json.loads((cases / "j.json").read_text())["tests"]]  # fmt: skip
    for found in (junit, report):
        assert sorted(found, key=lambda one: one["webbench"]) != []
        assert sorted((json.loads(one["webbench"]) for one in found), key=lambda one: one["node_id"]) == wanted
        assert {str(one["status"]) for one in found} == {"passed", "model_failure"}


def test_scores_accumulate_over_runs_and_models(served: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    served(by_case(alpha=GOOD, beta=BAD))
    bench(*REFERENCE)
    bench("--model=some", "--webbench-samples=1", STATIC)
    entries = json.loads((cases / "reports" / "benchmark.json").read_text())
    assert [entry["id"] for entry in entries] == ["web_alpha", "web_beta"]
    scores = entries[1]["scores"]
    assert scores["reference"]["pass_at_1"] == 1.0
    assert scores["acme/some"]["pass_at_1"] == 0.0
    assert scores["acme/some"]["functional_pass_at_1"] is None
    assert scores["meta/llama-3.1-70b-instruct"] is None
    assert scores["agent_system"] is None
    with (cases / "reports" / "comparison_table.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == [
        "id", "framework", "gemini_codebleu", "gemini_pass1", "llama_codebleu", "llama_pass1", "mixtral_codebleu",
        "mixtral_pass1", "agent_codebleu", "reference_codebleu", "reference_pass1", "some_codebleu", "some_pass1",
    ]  # fmt: skip
    assert rows[1][:9] == ["web_alpha", "Flask", "", "", "", "", "", "", ""]
    assert rows[2][10] == "1.0000"
    assert rows[2][12] == "0.0000"


def test_a_run_with_another_template_leaves_the_accumulated_scores_alone(cases: Path, bench: Bench) -> None:
    bench(*REFERENCE)
    before = (cases / "reports" / "benchmark.json").read_text()
    bench(*REFERENCE, "--webbench-prompt=as_is")
    assert (cases / "reports" / "benchmark.json").read_text() == before


def test_a_config_error_stops_one_model_and_not_the_others(
    served: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    server = served(by_case(alpha=error(401, "bad key"), beta=error(401, "bad key")))
    result = bench("--model=some", "--model=reference", "--webbench-samples=5", STATIC, "--webbench-concurrency=2")
    assert result.ret == 4
    assert len(server.bodies) <= 2
    assert {record["status"] for record in records(cases) if record["model"] == "reference"} == {"passed"}
    assert {record["failure_class"] for record in records(cases) if record["model"] == "some"} == {"auth"}


def test_64_items_take_about_4_rounds_of_16(
    cases: Path, pytester: pytest.Pytester, bench: Bench, workers: tuple[str, ...]
) -> None:
    for number in range(14):
        write_case(cases, f"case{number}")
    with Loopback(latency=0.5) as server:
        (cases / "webbench.toml").write_text(
            f"[models.some]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}'\n", "utf-8"
        )
        bench("--model=some", "--webbench-samples=4", STATIC, "--webbench-report-only", *workers)
        log = server.log
    assert len(log) == 64
    assert max(overlapping(log)) == 16


def overlapping(log: Any) -> list[int]:
    """Return how many requests were in flight at each arrival."""
    return [sum(other.arrived <= one.arrived < other.replied for other in log) for one in log]


def test_a_key_is_nowhere_in_what_a_run_leaves(
    served: Callable[..., Loopback], cases: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "sk-canary-4f1d"
    monkeypatch.setenv("SOME_KEY", canary)
    server = served(by_case(alpha=GOOD, beta=error(401, f"Incorrect API key provided: {canary}")))
    with (cases / "webbench.toml").open("a") as table:
        table.write("api_key_env = 'SOME_KEY'\n")
    result = bench("--model=some", "--webbench-samples=1", STATIC, "-vv", "--junitxml=j.xml")
    assert any(canary in str(seen.headers) for seen in server.log)
    assert canary not in result.stdout.str() + result.stderr.str()
    files = [path for path in cases.rglob("*") if path.is_file()]
    assert [path for path in files if canary.encode() in path.read_bytes()] == []


def test_the_first_record_of_a_sample_counts(cases: Path, bench: Bench) -> None:
    bench(*REFERENCE, "--webbench-run-id=again")
    bench(*REFERENCE, "--webbench-run-id=again")
    lines = (cases / "reports" / "runs" / "again" / "records.jsonl").read_text().splitlines()
    assert len(lines) == 8
    assert len(run_json(cases, "again")["expected"]) == 4
