"""Starting, asking, restarting and stopping one app."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from outside import NO_TLS, ask, descendants, source

from pytest_webbench.sandbox import AppSource, Level, Limits, Sandbox, folders, open_sandbox
from pytest_webbench.sandbox.folders import OwnedFolder

APPS = Path(__file__).parent / "data" / "apps"
HELLO = {
    "Flask": "from flask import Flask\napp = Flask(__name__)\napp.get('/')(lambda: 'hello')",
    "FastAPI": "from fastapi import FastAPI\napp = FastAPI()\napp.get('/')(lambda: 'hello')",
    "Django": "from django.http import HttpResponse\nfrom django.urls import path\n"
    "urlpatterns = [path('', lambda request: HttpResponse('hello'))]",
}


@pytest.mark.parametrize("framework", ["Flask", "FastAPI", "Django"])
def test_an_app_of_each_framework_registers_logs_in_and_keeps_notes(framework: str, sandbox: Sandbox) -> None:
    code = (APPS / f"{framework.lower()}_app.py").read_text()
    user = {"name": "ada", "pw": "secret"}
    with sandbox.launch(source(code, framework)) as instance:
        assert instance.wait_ready(30).ok
        assert ask(instance, "/register", "POST", json=user).status == 201
        token = json.loads(ask(instance, "/login", "POST", json=user).body)["token"]
        bearer = {"authorization": f"Bearer {token}"}
        assert ask(instance, "/notes", "POST", json={"text": "x"}, headers=bearer).status == 201
        found = json.loads(ask(instance, "/notes", headers=bearer).body)
        assert (found["notes"], found["ip"]) == ([{"id": 1, "text": "x"}], "127.0.0.1")
        assert ask(instance, "/notes").status == 401


def test_a_stopped_app_reports_its_exit_and_leaves_no_file(sandbox: Sandbox) -> None:
    instance = sandbox.launch(source("print('hi')\n" + HELLO["Flask"]))
    assert instance.wait_ready(20).ok
    assert instance.alive()
    end = instance.stop()
    assert (end.exit_code, end.signal, end.log_tail) == (None, 9, "hi\n")
    assert 0 < end.cpu_seconds < 5
    assert 10 << 20 < end.max_rss < 300 << 20
    assert not instance.alive()
    assert instance.stop() == end
    assert not any(path.exists() for path in (Path(instance.socket_path), Path(instance.folder), instance._log_path))


def test_a_dead_app_refuses_connections_at_once(best: Sandbox) -> None:
    with best.launch(source(HELLO["Flask"])) as instance:
        assert instance.wait_ready(20).ok
        threading.Thread(target=instance.kill).start()
        while instance.alive():
            time.sleep(0.01)
        assert ask(instance, seconds=5).error == "ConnectError"


@pytest.mark.parametrize(
    ("code", "failure_class", "detail"),
    [
        ("raise ValueError('no such luck')", "runtime", "ValueError: no such luck"),
        ("import nonexistent_package", "runtime", "No module named 'nonexistent_package'"),
        ("return 1", "runtime", "SyntaxError"),
        ("import sys; sys.exit('bye')", "runtime", "bye"),
        ("import os, signal; os.abort()", "runtime", "killed by SIG"),
        ("x = 1", "structure_missing", "no app"),
        ("import time; time.sleep(60)", "timeout", "not serving after"),
    ],
)
def test_a_failed_start_says_why(code: str, failure_class: str, detail: str, best: Sandbox) -> None:
    with best.launch(source(code)) as instance:
        start = instance.wait_ready(1.0 if failure_class == "timeout" else 20)
    assert (start.ok, start.failure_class) == (False, failure_class)
    assert detail in start.detail + start.log_tail


def test_a_failing_lifespan_is_a_failed_start(best: Sandbox) -> None:
    code = """
from contextlib import asynccontextmanager
from fastapi import FastAPI
@asynccontextmanager
async def lifespan(app):
    raise RuntimeError("no database")
    yield
app = FastAPI(lifespan=lifespan)
"""
    with best.launch(source(code, "FastAPI")) as instance:
        start = instance.wait_ready(20)
    assert start.failure_class == "runtime"
    assert "no database" in start.log_tail


def test_waiting_sends_nothing_to_the_app(best: Sandbox) -> None:
    code = """
from flask import Flask
app = Flask(__name__)
calls = []
app.before_request(lambda: calls.append(1))
app.get("/")(lambda: {"calls": len(calls)})
"""
    with best.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        assert json.loads(ask(instance).body) == {"calls": 1}


def test_a_restart_keeps_files_and_forgets_memory(sandbox: Sandbox) -> None:
    code = """
from pathlib import Path
from flask import Flask
app = Flask(__name__)
memory = []
@app.post("/")
def add():
    memory.append(1)
    with open("data.txt", "a") as file: file.write("x")
    return "", 201
@app.get("/")
def count(): return {"memory": len(memory), "file": Path("data.txt").stat().st_size}
"""
    with sandbox.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        ask(instance, method="POST")
        assert json.loads(ask(instance).body) == {"memory": 1, "file": 1}
        for size in (1, 2):
            instance.restart()
            assert instance.wait_ready(20).ok
            assert json.loads(ask(instance).body) == {"memory": 0, "file": size}
            ask(instance, method="POST")


def test_a_restart_runs_the_code_as_the_app_left_it(sandbox: Sandbox) -> None:
    code = """
from pathlib import Path
from flask import Flask
app = Flask(__name__)
VERSION = "1"
@app.get("/v")
def version(): return VERSION
@app.get("/w")
def rewrite():
    code = Path("app.py").read_text()
    Path("app.py").write_text(code.replace("1", "2"))
    return ""
"""
    with sandbox.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance, "/w").status == 200
        assert ask(instance, "/v").text == "1"
        instance.restart()
        assert instance.wait_ready(20).ok
        assert ask(instance, "/v").text == "2"


def test_a_stopped_app_leaves_no_mount_in_the_zygote(open_level: Callable[[str], Sandbox]) -> None:
    sandbox = open_level("full")
    counts = []
    for _ in range(3):
        with sandbox.launch(source(HELLO["Flask"])) as instance:
            assert instance.wait_ready(20).ok
        with sandbox.launch(source(HELLO["Flask"])) as instance:
            zygote = descendants(instance.zygote.pid)[-2]
            counts.append(len(Path(f"/proc/{zygote}/mountinfo").read_text().splitlines()))
    assert len(set(counts)) == 1


def test_a_view_that_exits_ends_its_request_only(best: Sandbox) -> None:
    code = "import sys\n" + HELLO["Flask"] + "\napp.get('/exit', endpoint='exit')(lambda: sys.exit(1))"
    with best.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance, "/exit").error
        assert ask(instance).text == "hello"


@pytest.mark.parametrize("framework", ["Flask", "Django"])
def test_a_header_that_cannot_be_written_ends_the_request_at_once(best: Sandbox, framework: str) -> None:
    code = {
        "Flask": HELLO["Flask"] + "\napp.get('/odd', endpoint='odd')(lambda: ('x', 200, {'X-Name': '\\u010d'}))",
        "Django": HELLO["Django"] + "\nurlpatterns += [path('odd', lambda request: odd())]\n"
        "class odd(HttpResponse):\n    def items(self): return [('X-Name', '\\u010d')]",
    }[framework]
    with best.launch(source(code, framework)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance, "/odd").error == "RemoteProtocolError"
        assert ask(instance).text == "hello"


def test_code_may_ask_for_the_event_loop_while_it_is_loaded(best: Sandbox) -> None:
    code = "import asyncio\nloop = asyncio.get_event_loop()\n" + HELLO["FastAPI"]
    with best.launch(source(code, "FastAPI")) as instance:
        start = instance.wait_ready(20)
    assert start.ok, start


def test_files_beside_the_entry_are_importable_by_their_plain_name(best: Sandbox) -> None:
    files = {
        "src/main.py": "from names import NAME\n" + HELLO["Flask"].replace("'hello'", "NAME"),
        "src/names.py": "NAME = 'me'",
    }
    with best.launch(AppSource(files, "src/main.py", "Flask")) as instance:
        start = instance.wait_ready(20)
        assert start.ok, start
        assert ask(instance).text == "me"


def test_an_app_of_several_files_imports_its_own(sandbox: Sandbox) -> None:
    files = {
        "shop/main.py": "from flask import Flask, render_template\nfrom .models import NAME\nimport settings\n"
        "app = Flask(__name__)\napp.get('/')(lambda: render_template('index.html', name=NAME, mode=settings.MODE))",
        "shop/models.py": "NAME = 'shop'",
        "shop/templates/index.html": "{{ name }}-{{ mode }}",
        "settings.py": "MODE = 'test'",
    }
    with sandbox.launch(AppSource(files, "shop/main.py", "Flask")) as instance:
        start = instance.wait_ready(20)
        assert start.ok, start.log_tail
        assert ask(instance).text == "shop-test"


@pytest.mark.parametrize("name", ["/etc/app.py", "../app.py", "a/../../b.py", ""])
def test_files_outside_the_working_folder_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a relative path"):
        AppSource({"app.py": "", name: ""}, "app.py", "Flask")


def test_an_entry_must_be_among_the_files() -> None:
    with pytest.raises(ValueError, match="not among the files"):
        AppSource({"app.py": ""}, "main.py", "Flask")


OVERLAP = """
import threading, time
from flask import Flask
app = Flask(__name__)
running, most, threads = 0, 0, set()
@app.get("/slow")
def slow():
    global running, most
    running += 1
    most = max(most, running)
    time.sleep(0.3)
    running -= 1
    return "done"
@app.get("/")
def seen():
    threads.add(threading.current_thread() is threading.main_thread())
    return {"most": most, "main": sorted(threads)}
"""


def test_flask_requests_overlap_only_where_clients_do(best: Sandbox) -> None:
    with best.launch(source(OVERLAP)) as instance:
        assert instance.wait_ready(20).ok
        for _ in range(30):
            assert json.loads(ask(instance).body) == {"most": 0, "main": [True]}
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: ask(instance, "/slow"), range(8)))
        assert {reply.text for reply in replies} == {"done"}
        assert json.loads(ask(instance).body)["most"] > 1


def test_a_connection_of_the_importing_thread_serves_one_client_after_another(best: Sandbox) -> None:
    code = """
import sqlite3
from flask import Flask
app = Flask(__name__)
db = sqlite3.connect(":memory:")
db.execute("create table t (n)")
@app.route("/", methods=["GET", "HEAD", "POST", "DELETE"])
def add():
    db.execute("insert into t values (1)")
    return {"n": db.execute("select count(*) from t").fetchone()[0]}
@app.get("/error")
def error(): raise ValueError
@app.get("/empty")
def empty(): return "", 204
@app.get("/stream")
def stream(): return (str(n) for n in range(5))
"""
    with best.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        for number in range(1, 60, 3):
            assert json.loads(ask(instance, method="POST").body) == {"n": number}
            path, status = [("/error", 500), ("/empty", 204), ("/stream", 200)][number % 3]
            assert ask(instance, path).status == status
            assert ask(instance, method="HEAD").status == 200
            assert json.loads(ask(instance, method="DELETE").body) == {"n": number + 2}


@pytest.mark.parametrize("framework", ["Flask", "FastAPI", "Django"])
def test_forty_clients_at_once_fit_into_the_default_limits(framework: str, best: Sandbox) -> None:
    code = HELLO[framework].replace("'hello'", "(__import__('time').sleep(0.05), 'hello')[1]", 1)
    with best.launch(source(code, framework)) as instance:
        assert instance.wait_ready(20).ok
        with ThreadPoolExecutor(40) as pool:
            replies = list(pool.map(lambda _: ask(instance, seconds=20), range(40)))
    assert {reply.status for reply in replies} == {200}


def test_large_uploads_chunked_bodies_streams_and_websockets_pass(best: Sandbox) -> None:
    from websockets.sync.client import unix_connect

    code = (APPS / "fastapi_app.py").read_text()
    with best.launch(source(code, "FastAPI")) as instance:
        assert instance.wait_ready(20).ok
        upload = ask(instance, "/up", "POST", files={"f": ("big.bin", b"x" * (2 << 20))})
        assert json.loads(upload.body) == {"n": 2 << 20, "name": "big.bin"}
        assert ask(instance, "/stream").text == "data: 0\n\ndata: 1\n\ndata: 2\n\n"
        with unix_connect(instance.socket_path, "ws://127.0.0.1/ws") as connection:
            connection.send("hi")
            assert connection.recv() == "echo:hi"


def test_chunked_request_bodies_reach_wsgi_apps(best: Sandbox) -> None:
    code = """
from flask import Flask, request
app = Flask(__name__)
@app.post("/")
def size(): return {"n": len(request.get_data())}
"""
    with best.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        reply = ask(instance, method="POST", content=iter([b"x" * 1000] * 50))
        assert json.loads(reply.body) == {"n": 50_000}


def test_limits_end_an_app_that_nobody_stops(best: Sandbox) -> None:
    with best.launch(source(HELLO["Flask"]), Limits(wall_seconds=0.5)) as instance:
        assert instance.wait_ready(20).ok
        deadline = time.monotonic() + 10
        while instance.alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert instance.stop().ended_for == "wall_seconds"


def test_two_apps_run_side_by_side_and_apart(sandbox: Sandbox) -> None:
    code = "import os\nopen('mine', 'w').close()\n" + HELLO["Flask"].replace("'hello'", "os.listdir('.')")
    with sandbox.launch(source(code)) as first, sandbox.launch(source(code)) as second:
        assert first.wait_ready(20).ok
        assert second.wait_ready(20).ok
        first.stop()
        assert sorted(json.loads(ask(second).body)) == ["app.py", "mine"]


def test_off_isolates_nothing_and_says_so() -> None:
    with open_sandbox("off") as sandbox:
        assert (sandbox.level, sandbox.header) == (Level.OFF, "webbench sandbox: off (rlimits)")
        code = HELLO["Flask"].replace("'hello'", f"open({__file__!r}).read()")
        with sandbox.launch(source(code)) as instance:
            assert instance.wait_ready(20).ok
            assert ask(instance).text == Path(__file__).read_text()
        report = sandbox.probe()
    assert not report.ok
    assert "read a file outside" in report.escaped
    assert "ESCAPED" in report.describe()


def test_the_probe_finds_every_wall_standing(sandbox: Sandbox) -> None:
    report = sandbox.probe()
    assert report.escaped == ()
    assert len(report.held) > 20
    assert report.describe() == f"probe: {len(report.held)} of {len(report.held)} escape attempts held back"


KILLED_WORKER = """
import os, sys, time
from pytest_webbench.sandbox import AppSource, open_sandbox
sandbox = open_sandbox(sys.argv[1])
instance = sandbox.launch(AppSource({"app.py": sys.argv[2]}, "app.py", "Flask"))
assert instance.wait_ready(30).ok
print(instance.zygote.pid, flush=True)
time.sleep(600)
"""


def test_a_killed_worker_takes_everything_with_it(sandbox: Sandbox) -> None:
    level = str(sandbox.level)
    command = [sys.executable, "-c", KILLED_WORKER, level, HELLO["Flask"]]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as worker:
        assert worker.stdout is not None
        zygote = int(worker.stdout.readline())
        below = [zygote, *descendants(zygote)]
        assert len(below) >= 2
        worker.kill()
    deadline = time.monotonic() + 10
    while any(map(is_running, below)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in below if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_next_run_clears_what_a_killed_worker_left(tmp_path: Path) -> None:
    held, young = OwnedFolder(tmp_path, 0o700), tmp_path / f"{folders.PREFIX}young"
    abandoned, foreign = tmp_path / f"{folders.PREFIX}old", tmp_path / "something-else"
    for folder in (young, abandoned, foreign):
        folder.mkdir()
    for folder in (held.path, abandoned, foreign):
        os.utime(folder, (0, 0))
    OwnedFolder(tmp_path, 0o700).remove()
    assert set(tmp_path.iterdir()) == {held.path, young, foreign}
    held.remove()
    held.remove()
    assert not held.path.exists()


def test_closing_leaves_no_process_descriptor_or_file(sandbox: Sandbox) -> None:
    level = str(sandbox.level)
    descriptors = len(os.listdir("/proc/self/fd"))
    with open_sandbox(level) as own:
        for _ in range(3):
            with own.launch(source(HELLO["Flask"])) as instance:
                assert instance.wait_ready(20).ok
        abandoned = own.launch(source(HELLO["Flask"]))
        left = [own._scratch.path, *([own._work.path] if own._work else [])]
        zygote = abandoned.zygote.pid
        below = [zygote, *descendants(zygote)]
        abandoned.stop()
    assert not any(folder.exists() for folder in left)
    assert not [pid for pid in below if is_running(pid)]
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_two_hundred_apps_leave_nothing_behind(best: Sandbox) -> None:
    def holdings() -> tuple[int, int, int, int]:
        zygotes = descendants(os.getpid())
        inside = sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in zygotes if os.access(f"/proc/{pid}/fd", os.R_OK))
        return len(zygotes), inside, len(os.listdir("/proc/self/fd")), len(os.listdir(best._scratch.path))

    def run_one() -> None:
        with best.launch(source(HELLO["Flask"])) as instance:
            assert instance.wait_ready(20).ok

    run_one()
    before = holdings()
    for _ in range(200):
        run_one()
    assert holdings() == before


def test_the_client_can_be_any_http_library(best: Sandbox) -> None:
    with best.launch(source(HELLO["Flask"])) as instance:
        assert instance.wait_ready(20).ok
        with socket.socket(socket.AF_UNIX) as plain:
            plain.connect(instance.socket_path)
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert plain.recv(15) == b"HTTP/1.1 200 OK"
        transport = httpx2.HTTPTransport(uds=instance.socket_path, verify=NO_TLS)
        with httpx2.Client(transport=transport, base_url="http://127.0.0.1") as client:
            assert [client.get("/").text for _ in range(3)] == ["hello"] * 3
