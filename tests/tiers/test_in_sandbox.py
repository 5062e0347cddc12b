"""Real framework apps in the real sandbox, judged over HTTP."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_webbench.cases import Example
from pytest_webbench.sandbox import SandboxUnavailable, open_sandbox
from pytest_webbench.tiers.http import calibrate, first_failure, run_http_tiers
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.tiers.results import MAXIMUM, Deadlines

from .sample_case import make_case

HOSTILE = Path(__file__).parent.parent / "sandbox" / "hostile"
FLASK = """
import time
from flask import Flask, jsonify, request, session

app = Flask(__name__)
app.secret_key = "k"
stock = {"left": 1}

@app.post("/buy")
def buy():
    left = stock["left"]
    time.sleep(0.05)
    if left < 1:
        return {"error": "sold out"}, 409
    stock["left"] = left - 1
    return {}, 201

@app.get("/visits")
def visits():
    with open("visits.txt", "a+") as file:
        file.write("x")
        file.seek(0)
        return jsonify(len(file.read()), request.remote_addr)
"""
FASTAPI = """
from fastapi import FastAPI, Form, WebSocket

app = FastAPI()

@app.get("/stream")
async def stream():
    from fastapi.responses import StreamingResponse
    import asyncio
    async def events():
        while True:
            yield "data: tick\\n\\n"
            await asyncio.sleep(0.01)
    return StreamingResponse(events(), media_type="text/event-stream")

@app.websocket("/ws")
async def echo(socket: WebSocket):
    await socket.accept()
    await socket.send_text((await socket.receive_text())[::-1])
    await socket.close()
"""


@pytest.fixture(scope="module")
def sandbox():
    try:
        opened = open_sandbox()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    with opened:
        yield opened


@pytest.fixture
def judge(sandbox, tmp_path):
    def run(case, app, **options):
        options = {"turnstile": Turnstile(tmp_path / "locks")} | options
        return run_http_tiers(case, {"app.py": dedent(app)}, "app.py", sandbox, **options)

    return run


def test_a_race_is_seen_by_parallel_requests(judge, tmp_path):
    check = """
    def check_one_buyer(client, parallel):
        answers = parallel([lambda: client.post("/buy")] * 6)
        assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409, 409]
    """
    (result,) = judge(make_case(tmp_path, check), FLASK).checks
    assert result.passed is False
    locked = FLASK.replace("def buy():", "def buy():\n    with lock:\n        return sell()\n\ndef sell():").replace(
        "stock = ", "import threading\nlock = threading.Lock()\nstock = "
    )
    (result,) = judge(make_case(tmp_path, check), locked).checks
    assert result.passed, result.message


def test_a_restart_keeps_files_and_each_check_starts_without_any(judge, tmp_path):
    check = """
    def check_{}(client, restart):
        assert client.get("/visits").json() == [1, "127.0.0.1"]
        restart()
        assert client.get("/visits").json()[0] == 2
    """
    checks = dedent(check.format("a")) + dedent(check.format("b"))
    tiers = judge(make_case(tmp_path, checks), FLASK)
    assert tiers.unit_tests == "passed", tiers.message


def test_websockets_and_endless_streams_of_fastapi(judge, tmp_path):
    checks = """
    def check_echo(websocket):
        connection = websocket("/ws")
        connection.send("abc")
        assert connection.recv(timeout=5) == "cba"

    def check_stream(client):
        with client.stream("GET", "/stream") as response:
            lines = response.iter_lines()
            assert [next(lines) for _ in range(3)] == ["data: tick", "", "data: tick"]
    """
    app = FASTAPI.replace("Form, ", "")
    tiers = judge(make_case(tmp_path, checks, framework="FastAPI"), app)
    assert tiers.unit_tests == "passed", tiers.message


def test_django_answers_too(judge, tmp_path):
    app = """
    from django.http import JsonResponse
    from django.urls import path
    urlpatterns = [path("up/", lambda request: JsonResponse({"up": True}))]
    """
    case = make_case(
        tmp_path,
        "def check_up(client):\n    assert client.get('/up/').json() == {'up': True}",
        framework="Django",
        imports=("django",),
        criteria=("execution", "unit_tests", "examples"),
        examples=(Example("GET", "/up/", status=200),),
    )
    tiers = judge(case, app)
    assert (tiers.execution, tiers.examples, tiers.unit_tests) == ("passed", "passed", "passed")


@pytest.mark.parametrize(
    ("app", "failure_class"),
    [
        ("from models import db", "runtime"),
        ("from flask import Markup", "runtime"),
        ("import requests_imaginary", "missing_dependency"),
        ("x = 1", "structure_missing"),
        ("def broken(:", "runtime"),
        ("return 1", "runtime"),
    ],
)
def test_an_app_that_does_not_start_has_its_reason(judge, tmp_path, app, failure_class):
    tiers = judge(make_case(tmp_path, "def check_it(client):\n    pass"), app)
    assert (tiers.execution, tiers.unit_tests, tiers.failure_class) == ("failed", "failed", failure_class)
    assert tiers.message


@pytest.mark.parametrize(
    "name", ["gzip_bomb", "http_100_forever", "http_garbage", "json_depth_bomb", "slow_body", "slow_header"]
)
def test_a_hostile_answer_ends_within_the_deadline_as_a_failure(judge, tmp_path, name):
    checks = """
    def check_json(client):
        assert client.get("/x").json() == {}
    """
    code = (HOSTILE / f"{name}.py").read_text()
    case = make_case(tmp_path, checks)
    tiers = judge(case, code, deadlines=Deadlines(start=10, check=3, request=2))
    (result,) = tiers.checks
    assert result.passed is False
    assert result.seconds < 20
    assert len(result.message) <= 2048


def test_the_reference_sets_the_deadlines(sandbox, tmp_path):
    case = make_case(tmp_path, "def check_it(client):\n    client.get('/visits')", reference=FLASK)
    deadlines = calibrate(case, sandbox)
    assert MAXIMUM.check / 4 <= deadlines.check <= MAXIMUM.check


def test_the_first_failure_ends_the_matter(sandbox, tmp_path):
    checks = "def check_a(client):\n    assert 0\ndef check_b(client):\n    raise SystemExit('never reached')\n"
    turnstile = Turnstile(tmp_path / "locks")

    def failure(*texts, app=FLASK):
        case = make_case(tmp_path, *texts)
        return first_failure(case, {"app.py": app}, "app.py", sandbox, turnstile=turnstile)

    assert failure(checks) == "check_a"
    assert failure("def check_a(client):\n    pass", "def exploit_a(client):\n    assert 0") == "exploit_a"
    assert failure("def check_a(client):\n    pass") is None
    assert failure(checks, app="1 / 0") == "execution"


def test_a_first_failure_for_lack_of_time_on_a_busy_machine_is_confirmed_alone(sandbox, tmp_path, monkeypatch):
    attempts = tmp_path / "attempts"
    checks = f"""
def check_a(client):
    with open({str(attempts)!r}, "a") as file:
        file.write("x")
    if open({str(attempts)!r}).read() == "x":
        raise TimeoutError("busy")
"""
    case = make_case(tmp_path, checks)
    monkeypatch.setattr("pytest_webbench.tiers.http.overloaded", lambda: True)
    turnstile = Turnstile(tmp_path / "locks")
    assert first_failure(case, {"app.py": FLASK}, "app.py", sandbox, turnstile=turnstile) is None
    assert attempts.read_text() == "xx"
