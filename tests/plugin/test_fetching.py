"""Completions in whole runs: faults of the network cost no sample, nothing is paid twice, nothing hangs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from loopback import Loopback, Scripted, Seen, completion, error, faulty
from project import PYTEST, records

Bench = Callable[..., pytest.RunResult]
KILLS = int(os.environ.get("WEBBENCH_TEST_KILLS", "3"))
CANARY = "sk-canary-4f1d77"
STATIC = ("--webbench-tiers=static", "--webbench-report-only")


def asked(seen: Seen) -> tuple[str, int]:
    """Return what a request is for: the case's prompt and the sample."""
    return seen.body["messages"][-1]["content"], seen.body["seed"]


def table(root: Path, **urls: str) -> None:
    """Write a models table: name -> base URL, or URL and further lines."""
    entries = (f"[models.{name}]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{url}'\n" for name, url in urls.items())
    (root / "webbench.toml").write_text("\n".join(entries), "utf-8")


def more(root: Path, *lines: str) -> None:
    """Add keys to the last model of the table."""
    with (root / "webbench.toml").open("a") as file:
        file.write("\n".join(lines) + "\n")


@pytest.fixture
def serve(cases: Path) -> Iterator[Callable[..., Loopback]]:
    """Serve the model `some`."""
    running: list[Loopback] = []

    def start(*keys: str, **options: Any) -> Loopback:
        running.append(Loopback(**options).__enter__())
        table(cases, some=running[-1].url)
        more(cases, *keys)
        return running[-1]

    yield start
    for server in running:
        server.__exit__()


def test_faults_cost_no_sample_and_every_request_is_a_sample_or_a_retry(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    answer = faulty(lambda seen: completion(), rate_limited=0.1, reset=0.05)
    server = serve("max_retries = 8", answer=answer, latency=0.5)
    result = bench("--model=some", "--webbench-samples=100", "--webbench-concurrency=32", *STATIC, *workers)
    assert result.ret == 0
    assert len(records(cases)) == 200
    limited = sum(seen.status == 429 for seen in server.log)
    reset = sum(seen.then == "reset" for seen in server.log)
    assert limited > 0 < reset
    assert len(server.log) == 200 + limited + reset
    assert server.most_in_flight <= 32


@pytest.mark.parametrize("seed", range(KILLS))
def test_after_a_kill_at_any_moment_no_answered_request_is_sent_again(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, seed: int
) -> None:
    answer = faulty(lambda seen: completion(), rate_limited=0.1, reset=0.05, seed=seed)
    server = serve("max_retries = 8", answer=answer, latency=0.1)
    arguments = ("--model=some", "--webbench-samples=20", "--webbench-concurrency=4", *STATIC)
    process = subprocess.Popen([*PYTEST, *arguments], cwd=cases, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stop = random.Random(seed).randrange(1, 36)
    while sum(seen.replied is not None for seen in server.log) < stop and process.poll() is None:
        time.sleep(0.005)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in children:
        child.kill()
    in_flight = {asked(seen) for seen in server.log[-4:]}
    assert bench(*arguments).ret == 0
    assert len(records(cases)) == 40
    answered = (seen for seen in server.log if seen.status == 200 and seen.then == "keep")
    times = Counter(map(asked, answered))
    assert len(times) == 40
    assert {key for key, count in times.items() if count > 1} <= in_flight


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_runs_at_once_ask_for_each_completion_once(
    serve: Callable[..., Loopback], cases: Path, request: pytest.FixtureRequest, database: str
) -> None:
    store = "shared.sqlite" if database == "sqlite" else request.getfixturevalue("postgres_url")
    server = serve(latency=0.5)
    arguments = (*PYTEST, "--model=some", "--webbench-samples=20", "--webbench-concurrency=4", *STATIC)
    folders = ("one", "other")
    runs = [
        subprocess.Popen(
            [*arguments, f"--webbench-store={store}", f"--webbench-report-dir={folder}"],
            cwd=cases,
            stdout=subprocess.PIPE,
            text=True,
        )
        for folder in folders
    ]
    printed = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], printed
    assert "sesame" not in "".join(printed)
    assert Counter(map(asked, server.log)) == dict.fromkeys(map(asked, server.log), 1)
    assert len(server.log) == 40
    assert server.most_in_flight > 4
    for folder in folders:
        lines = (cases / folder / "latest" / "records.jsonl").read_text("utf-8").splitlines()
        assert len(lines) == 40
        assert "sesame" not in (cases / folder / "latest" / "run.json").read_text("utf-8")


def test_requests_a_minute_hold_over_all_workers(serve: Callable[..., Loopback], cases: Path, bench: Bench) -> None:
    (cases / "conftest.py").write_text(
        "from pytest_webbench.completions import limits\nlimits.MINUTE, limits.MARGIN_SECONDS = 2.0, 0.5\n", "utf-8"
    )
    server = serve("requests_per_minute = 10")
    assert bench("--model=some", "--webbench-samples=11", *STATIC, "-n", "4").ret == 0
    moments = [seen.arrived for seen in server.log]
    assert len(moments) == 22
    assert max(sum(start <= moment < start + 2.0 for moment in moments) for start in moments) <= 10


@pytest.mark.parametrize(
    "reply", [Scripted(delay=60), Scripted(body=b"{" + b" " * 500, drip=1.0)], ids=["hangs", "drips"]
)
def test_a_server_that_never_finishes_is_infrastructure_within_the_deadline(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...], reply: Scripted
) -> None:
    server = serve("timeout = 0.5", answer=lambda seen: reply)
    result = bench("--model=some", "--webbench-samples=1", *STATIC, *workers)
    assert result.ret == 3
    assert {(one["status"], one["failure_class"]) for one in records(cases)} == {("infrastructure_error", "timeout")}
    assert len(server.log) == 4
    assert max(seen.arrived for seen in server.log) - server.log[0].arrived < 10


def test_hopeless_models_stop_with_the_remedy_and_the_others_finish(
    cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    scripts = {
        "badkey": error(401, "no"),
        "retired": error(404, "The model `m` does not exist"),
        "poor": error(429, "You exceeded your current quota", code="insufficient_quota"),
    }
    servers = {name: Loopback(answer=lambda seen, reply=reply: reply) for name, reply in scripts.items()}
    with Loopback() as good, servers["badkey"], servers["retired"], servers["poor"]:
        table(cases, away="http://127.0.0.1:9/v1", **{name: one.url for name, one in servers.items()}, good=good.url)
        models = [f"--model={name}" for name in ("away", *scripts, "good", "reference")]
        result = bench(*models, "--webbench-samples=3", "--webbench-concurrency=2", *STATIC, *workers)
        assert max(len(one.log) for one in servers.values()) <= 2
        assert len(good.log) == 6
    assert result.ret == 4
    found = {one["model"]: (one["status"], one["failure_class"]) for one in records(cases)}
    assert found == {
        "away": ("config_error", "unreachable"),
        "badkey": ("config_error", "auth"),
        "retired": ("config_error", "model_unavailable"),
        "poor": ("config_error", "quota_exhausted"),
        "good": ("passed", None),
        "reference": ("passed", None),
    }
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("E  *")
    result.stdout.fnmatch_lines_random(
        [
            "*base_url right*",
            "*names none) was refused*: check the key*",
            "*change `model` of this models table entry*",
            "*top it up*",
        ]
    )


def test_a_key_is_nowhere_on_disk_on_screen_or_in_the_help(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", CANARY)
    (cases / ".env").write_text("NIM_API_KEY=dotenv-canary-9f\n", "utf-8")
    refusal = error(400, f"Incorrect API key provided: {CANARY}")
    server = serve("api_key_env = 'SOME_KEY'", script=[completion(), refusal])
    shown = [
        bench("--model=some", "--webbench-samples=1", *STATIC, "--webbench-concurrency=1", "-vv", "--junitxml=j.xml"),
        bench("--help", "--model=some"),
    ]
    outputs = [result.stdout.str() + result.stderr.str() for result in shown]
    for arguments in (["models"], ["models", "--json"], ["export", "out.jsonl"], ["report", "latest"]):
        outputs.append(webbench(cases, *arguments))
    assert all(seen.headers["authorization"] == f"Bearer {CANARY}" for seen in server.log)
    for key in (CANARY, "dotenv-canary-9f"):
        assert not any(key in output for output in outputs)
        holders = [path for path in cases.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
        assert holders in ([], [cases / ".env"])
    assert list((cases / ".webbench").iterdir())


def webbench(root: Path, *arguments: str, status: int = 0) -> str:
    """Run the command; return what it showed."""
    command = [sys.executable, "-m", "pytest_webbench", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_a_dry_run_counts_and_asks_nothing(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = serve("max_tokens = 1000", "price = { input = 0, output = 1 }", "api_key_env = 'ABSENT_KEY'")
    result = bench("--model=some", "--webbench-samples=5", "--webbench-dry-run", *workers)
    assert result.ret == 0
    result.stdout.re_match_lines([r"some\s+10\s+0\s+10\s.*10,000\s+0\.0100", "at most: 0.0100 USD"])
    assert server.log == []
    assert not (cases / "reports").exists()


def test_completions_can_be_made_first_and_scored_later(
    serve: Callable[..., Loopback], cases: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    server = serve(answer=lambda seen: completion(), script=[error(400, "strange prompt")])
    arguments = ("--model=some", "--webbench-samples=2", "--webbench-concurrency=1")
    failed = bench(*arguments, "--webbench-generate-only", *workers)
    assert failed.ret == 4
    failed.stdout.fnmatch_lines(["some: 0 of 4 completions stored", "  bad_parameter: *strange prompt*"])
    made = bench(*arguments, "--webbench-generate-only", *workers)
    assert made.ret == 0
    made.assert_outcomes(passed=4)
    assert not (cases / "reports").exists()
    assert bench(*arguments, "--webbench-offline", *STATIC, *workers).ret == 0
    assert len(server.log) == 5


def test_several_samples_come_with_one_request_and_fewer_are_asked_for_again(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    def at_most_three(seen: Seen) -> Scripted:
        count = min(3, seen.body.get("n", 1))
        choice = {"message": {"role": "assistant", "content": "```python\nx = 1\n```"}, "finish_reason": "stop"}
        return completion(choices=[{**choice, "index": index} for index in range(count)])

    server = serve("n_per_request = 5", "price = { input = 0, output = 1000000 }", answer=at_most_three)
    assert bench("--model=some", "--webbench-samples=5", *STATIC, "-k", "alpha").ret == 0
    assert [body.get("n") for body in server.bodies] == [5, 2]
    assert all("seed" not in body for body in server.bodies)
    assert sum(record["cost"] for record in records(cases)) == 16.0


def test_a_store_travels_and_replays_elsewhere_under_the_same_keys(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    server = serve()
    bench("--model=some", "--webbench-samples=2", "--webbench-generate-only")
    webbench(cases, "export", "recorded.jsonl")
    (cases / ".webbench" / "completions.sqlite").unlink()
    assert "4 added" in webbench(cases, "import", "recorded.jsonl")
    assert "0 added, 4 already there" in webbench(cases, "import", "recorded.jsonl")
    assert bench("--model=some", "--webbench-samples=2", "--webbench-offline", *STATIC).ret == 0
    assert len(server.log) == 4
    changed = (cases / "recorded.jsonl").read_text().replace('"sample":1', '"sample":7')
    (cases / "changed.jsonl").write_text(changed, "utf-8")
    assert "does not match its key" in webbench(cases, "import", "changed.jsonl", status=4)


def test_replies_made_elsewhere_are_scored_without_a_key(cases: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    good = "```python\nfrom flask import Flask\napp = Flask(__name__)\n@app.get('/')\ndef index():\n    return 'x'\n```"
    (cases / "replies.json").write_text(json.dumps({"web_alpha": [good, "no"], "flask/beta": [good, good]}), "utf-8")
    assert "4 added" in webbench(cases, "import", "--model", "elsewhere", "replies.json")
    bench("--model=elsewhere", "--webbench-offline", *STATIC, *workers).assert_outcomes(passed=3, failed=1)
    (cases / "unknown.json").write_text('{"web_gamma": ["x"]}', "utf-8")
    assert "no case 'web_gamma'" in webbench(cases, "import", "--model", "elsewhere", "unknown.json", status=4)


def test_each_answer_leaves_a_conversation_and_its_evaluation(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    script = [completion(), completion("no code"), completion(), completion(None, finish_reason="content_filter")]
    serve(script=script, answer=lambda seen: completion(), latency=0.01)
    bench("--model=some", "--webbench-samples=2", "--webbench-concurrency=1", *STATIC)
    folder = cases / "reports" / "latest" / "conversations" / "flask"
    pairs = sorted(path.name for path in (folder / "alpha" / "some").iterdir())
    assert [name.split("__")[:3] for name in pairs] == [
        *[["conversation", "web_expert", "1SHOT"]] * 2,
        *[["evaluation", "web_expert", "1SHOT"]] * 2,
    ]
    assert [name.rpartition("-")[2] for name in pairs] == ["s0.json", "s1.json"] * 2
    chat, _, evaluation, _ = (json.loads((folder / "alpha" / "some" / name).read_text()) for name in pairs)
    assert [message["role"] for message in chat][-2:] == ["user", "assistant"]
    assert evaluation.keys() >= {
        "name", "parsed", "executed", "unit_tests_count", "unit_tests_passed", "examples_count", "examples_executed",
        "tokens", "elapsed_seconds", "cost", "model", "timestamp", "prompt_strategy", "prompt_label", "device",
        "version_prompt", "schema", "version_pt", "parameters", "experiment",
    }  # fmt: skip
    assert (evaluation["parsed"], evaluation["tokens"], evaluation["model"]) == (True, [20, 8], "some")
    webbench(cases, "export", "--conversations", "--passed", "chats.jsonl")
    lines = [json.loads(line) for line in (cases / "chats.jsonl").read_text().splitlines()]
    assert [line["messages"][-1]["role"] for line in lines] == ["assistant"] * 2
    webbench(cases, "export", "--results", "results")
    single = json.loads((cases / "results" / "some_single.json").read_text())
    rates = {one["id"]: one["pass_at_1"] for one in json.loads((cases / "results" / "some_pass1.json").read_text())}
    assert [one["id"] for one in single] == ["web_alpha", "web_beta"]
    assert rates == {"web_alpha": 0.5, "web_beta": 1.0}


def test_another_model_behind_the_name_and_a_cut_prompt_are_flagged(
    serve: Callable[..., Loopback], cases: Path, bench: Bench
) -> None:
    long = cases / "cases" / "flask" / "beta" / "definition.toml"
    long.write_text(long.read_text("utf-8").replace("with its name.", "with its name. " + "word " * 800), "utf-8")
    serve(script=[completion(model="m-1")], answer=lambda seen: completion(model="m-2"))
    first = bench("--model=some", "--webbench-samples=1", *STATIC, "-k", "alpha")
    first.stdout.no_fnmatch_line("*another model*")
    second = bench("--model=some", "--webbench-samples=1", *STATIC)
    second.stdout.fnmatch_lines_random(
        ["some: 1 answers or prompts were perhaps cut*", "some: the server named another model than before for 1 *"]
    )
    assert [one["model_returned"] for one in records(cases)] == ["m-1", "m-2"]
    row = json.loads((cases / "reports" / "latest" / "summary.json").read_text())["by_model"][0]
    assert (row["suspected"], row["model_changed"]) == (1, 1)
