"""Agents in whole runs: each role's call is an ordinary completion, whatever happens on the way."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from loopback import Loopback, Scripted, Seen, completion, error
from project import PYTEST, records, run_json

Bench = Callable[..., pytest.RunResult]
AGENT = ("--model=team", "--webbench-report-only")
STATIC = "--webbench-tiers=static"
TABLE = """
[models.writer]
provider = "openai"
model = "big"
base_url = "{url}"
max_tokens = 500
seed = 7
price = {{ input = 1.0, output = 2.0 }}

[models.critic]
provider = "openai"
model = "small"
base_url = "{url}"
max_tokens = 300
price = {{ input = 0.5, output = 1.0 }}

[models.team]
provider = "agent"
codegen = "writer"
reviewer = "critic"
debugger = "critic"
max_iterations = 2
"""
WRONG = '{"is_correct": false, "issues": ["the route is missing"], "suggestions": []}'
RIGHT = '{"is_correct": true, "issues": [], "suggestions": []}'


def app(name: str, answer: str) -> str:
    return (
        f"```python\nfrom flask import Flask, jsonify, request\n\napp = Flask(__name__)\n\n\n"
        f'@app.get("/{name}")\ndef read():\n    return jsonify(name="{answer}")\n```'
    )


def role(seen: Seen) -> str:
    text = seen.body["messages"][0 if seen.body["model"] == "small" else -1]["content"]
    return "reviewer" if text.startswith("You review") else "debugger" if text.startswith("You correct") else "codegen"


def case(seen: Seen) -> str:
    return "alpha" if any("GET /alpha" in message["content"] for message in seen.body["messages"]) else "beta"


def team(seen: Seen) -> Scripted:
    """Write alpha wrongly and correct it after a review; write beta rightly."""
    name = case(seen)
    if role(seen) == "reviewer":
        fine = name == "beta" or 'jsonify(name="alpha")' in seen.body["messages"][0]["content"]
        return completion(RIGHT if fine else WRONG)
    first = role(seen) == "codegen" and name == "alpha"
    return completion(app(name, "nobody" if first else name))


@pytest.fixture
def serve(cases: Path) -> Iterator[Callable[..., Loopback]]:
    """Serve the models of the agent `team`."""
    running: list[Loopback] = []

    def start(*lines: str, answer: Callable[[Seen], Scripted] = team, **options: Any) -> Loopback:
        running.append(Loopback(answer=answer, **options).__enter__())
        (cases / "webbench.toml").write_text(TABLE.format(url=running[-1].url) + "\n".join(lines) + "\n", "utf-8")
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


def asked(server: Loopback) -> Counter[tuple[str, str]]:
    return Counter((case(seen), role(seen)) for seen in server.log)


def test_an_agent_is_judged_on_what_its_loop_ends_with(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = serve()
    assert bench(*AGENT, *workers).ret == 0
    assert asked(server) == {
        ("alpha", "codegen"): 1, ("alpha", "reviewer"): 2, ("alpha", "debugger"): 1,
        ("beta", "codegen"): 1, ("beta", "reviewer"): 1,
    }  # fmt: skip
    sent = {role(seen): (seen.body["model"], seen.body["temperature"], seen.body["seed"]) for seen in server.log}
    assert sent == {"codegen": ("big", 0.2, 7), "reviewer": ("small", 0.1, 0), "debugger": ("small", 0.2, 0)}
    alpha, beta = records(cases)
    assert [one["status"] for one in (alpha, beta)] == ["passed", "passed"]
    assert (alpha["model_id"], alpha["provider"], alpha["parameters"]["temperature"]) == ("agent_system", "agent", 0.2)
    assert [(step["iteration"], step["role"], step["is_correct"]) for step in alpha["trace"]] == [
        (0, "codegen", None), (0, "reviewer", False), (1, "debugger", None), (1, "reviewer", True),
    ]  # fmt: skip
    assert (alpha["input_tokens"], alpha["output_tokens"]) == (80, 32)
    assert alpha["cost"] == pytest.approx((20 * 1.0 + 8 * 2.0 + 3 * (20 * 0.5 + 8 * 1.0)) / 1e6)
    assert alpha["latency_seconds"] == pytest.approx(sum(step["latency_seconds"] for step in alpha["trace"]))
    assert {"revised", "repaired"} <= set(alpha["flags"])
    assert not {"revised", "repaired", "broken"} & set(beta["flags"])
    assert run_json(cases)["models"]["team"]["codegen"] == "writer"


def test_a_revision_that_breaks_what_worked_is_told(serve: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    def meddler(seen: Seen) -> Scripted:
        if role(seen) == "reviewer":
            return completion(WRONG)
        return completion(app(case(seen), case(seen) if role(seen) == "codegen" else "nobody"))

    serve(answer=meddler)
    assert bench(*AGENT, "-k", "alpha").ret == 0
    (alpha,) = records(cases)
    assert alpha["status"] == "model_failure"
    assert {"revised", "broken"} <= set(alpha["flags"])


def test_a_second_run_asks_nothing(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = serve()
    bench(*AGENT, STATIC, "--webbench-run-id=first")
    before, count = records(cases, "first"), len(server.log)
    result = bench(*AGENT, STATIC, "--webbench-offline", "--webbench-run-id=second", *workers)
    assert result.ret == 0
    assert len(server.log) == count
    again = records(cases, "second")
    assert [one["trace"] for one in again] == [one["trace"] for one in before]
    assert [one["from_store"] for one in before + again] == [False, False, True, True]
    result.stdout.fnmatch_lines(["completions: 2 from the store, 0 from models"])


def test_refreshing_asks_every_role_again(serve: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    server = serve()
    bench(*AGENT, STATIC)
    count = len(server.log)
    assert bench(*AGENT, STATIC, "--webbench-refresh").ret == 0
    assert len(server.log) == 2 * count


def test_samples_are_taken_where_they_are_asked_for(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = serve()
    assert bench(*AGENT, STATIC, "--webbench-samples=3", *workers).ret == 0
    assert [one["sample"] for one in records(cases)] == [0, 1, 2] * 2
    assert Counter(seen.body["seed"] for seen in server.log if role(seen) == "codegen") == {7: 2, 8: 2, 9: 2}


def test_hidden_checks_and_the_reference_are_in_no_request(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    for name in ("alpha", "beta"):
        folder = cases / "cases" / "flask" / name
        for file in ("checks.py", "reference.py"):
            path = folder / file
            path.write_text(f"{path.read_text('utf-8')}\nSECRET = 'canary-{file}'\n", "utf-8")
    server = serve("observe = 'examples'")
    assert bench(*AGENT).ret == 0
    said = "\n".join(json.dumps(body) for body in server.bodies)
    assert "canary" not in said
    assert "check_the_name_is_told" not in said
    assert "- GET /alpha: as expected (200" in said


@pytest.mark.parametrize("observe", [(), ("observe = 'examples'",)], ids=["blind", "observing"])
def test_after_a_kill_in_the_loop_no_answered_call_is_asked_again(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...], observe: tuple[str, ...]
) -> None:
    server = serve(*observe, latency=0.15)
    arguments = (*AGENT, "--webbench-samples=3", "--webbench-concurrency=2", *([] if observe else [STATIC]), *workers)
    process = subprocess.Popen([*PYTEST, *arguments], cwd=cases, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while sum(seen.replied is not None and role(seen) != "codegen" for seen in server.log) < 4:
        assert process.poll() is None, "the run ended too early"
        time.sleep(0.005)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in children:
        child.kill()
    in_flight = {key(seen) for seen in server.log[-2:]}
    answered = {role(seen) for seen in server.log if seen.replied is not None}
    assert answered >= {"codegen", "reviewer"}
    assert bench(*arguments).ret == 0
    assert len(records(cases)) == 6
    times = Counter(key(seen) for seen in server.log if seen.status == 200)
    assert len(times) == 3 * (4 + 2)
    assert {call for call, count in times.items() if count > 1} <= in_flight


def key(seen: Seen) -> str:
    return json.dumps(seen.body, sort_keys=True)


def test_a_dry_run_counts_the_calls_of_all_roles_at_most(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    server = serve()
    result = bench(*AGENT, "--webbench-dry-run")
    assert result.ret == 0
    result.stdout.re_match_lines([r"team\s+2\s+0\s+18\s"])
    assert server.log == []


def test_a_budget_stops_an_agent_in_its_loop(serve: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 500, "total_tokens": 600}
    server = serve(answer=lambda seen: completion(app(case(seen), "nobody"), usage=usage))
    result = bench(*AGENT, STATIC, "--webbench-budget=0.0015", "--webbench-concurrency=1")
    assert result.ret == 3
    assert [role(seen) for seen in server.log] == ["codegen"]
    failed = records(cases)
    assert {(one["status"], one["failure_class"]) for one in failed} == {("infrastructure_error", "budget")}
    assert {one["message"].partition(": ")[0] for one in failed} == {"codegen (writer)", "reviewer (critic)"}


def test_completions_of_an_agent_can_be_made_first_and_scored_later(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    server = serve()
    made = bench("--model=team", "--webbench-generate-only")
    assert made.ret == 0
    made.stdout.fnmatch_lines(["team: 2 of 2 completions stored"])
    count = len(server.log)
    assert bench(*AGENT, STATIC, "--webbench-offline").ret == 0
    assert len(server.log) == count


def test_a_role_that_cannot_be_asked_stops_the_agent_and_says_which(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    def refuse(seen: Seen) -> Scripted:
        return error(401, "no") if role(seen) == "reviewer" else team(seen)

    serve(answer=refuse)
    assert bench(*AGENT, STATIC).ret == 4
    found = {(one["status"], one["failure_class"]) for one in records(cases)}
    assert found == {("config_error", "auth")}
    assert all(one["message"].startswith("reviewer (critic): ") for one in records(cases))


def test_an_agent_and_its_own_models_run_side_by_side(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    serve()
    result = bench(*AGENT, "--model=writer", "--webbench-samples=2", STATIC)
    assert result.ret == 0
    assert Counter(one["model"] for one in records(cases)) == {"team": 4, "writer": 4}


def test_one_output_of_an_agent_has_no_static_pass_at_1(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    serve()
    for samples, rates in ((1, (None, 1.0)), (2, (1.0, 1.0))):
        assert bench(*AGENT, f"--webbench-samples={samples}").ret == 0
        scores = json.loads((cases / "reports" / "benchmark.json").read_text())[0]["scores"]["agent_system"]
        assert (scores["pass_at_1"], scores["functional_pass_at_1"]) == rates


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("temperature = 0.5", "*models.team.temperature: an agent has no temperature*"),
        ("debugger = 'reference'", "*models.team.debugger: expected a model that can be asked*found 'reference'*"),
        ("debugger = 'nobody'", "*models.team.debugger: *found 'nobody'*"),
        ("observe = 'checks'", "*models.team.observe: *examples*"),
    ],
)
def test_an_agent_that_cannot_work_is_refused_before_the_first_call(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, line: str, message: str
) -> None:
    server = serve()
    text = (cases / "webbench.toml").read_text("utf-8")
    if line.startswith("debugger"):
        text = text.replace('debugger = "critic"', "")
    (cases / "webbench.toml").write_text(text + line + "\n", "utf-8")
    result = bench(*AGENT)
    assert result.ret == 4
    result.stderr.fnmatch_lines([message])
    assert server.log == []


def test_examples_that_cannot_be_run_are_told_before_the_first_call(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    server = serve("observe = 'examples'")
    (cases / "conftest.py").write_text(
        "from pytest_webbench import observation\n"
        "observation.Observer.examine = lambda self: 'no namespaces here'\n", "utf-8"
    )  # fmt: skip
    result = bench(*AGENT)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*models.team.observe: examples cannot be run here: no namespaces here"])
    assert server.log == []
