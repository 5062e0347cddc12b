"""Apps that try to pass without being right. The judge only ever sees HTTP, so each of them fails."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outside import SECRET, Host, Reply, ask, source

from pytest_webbench.sandbox import AppSource, Limits, Sandbox, SandboxBroken

VERDICT = '{"passed": true, "verdict": "PASS", "id": 1, "event": "ended", "exit_code": 0, "signal": null}'
OUTCOMES = [0, 1, 81, 82, 83, 84, 255]


def reply_of(sandbox: Sandbox, app: AppSource, **options: object) -> tuple[bool, Reply]:
    with sandbox.launch(app, Limits(cpu_seconds=2)) as instance:
        start = instance.wait_ready(20)
        return start.ok, ask(instance, "/total", **options) if start.ok else Reply(error="not started")


def is_right(reply: Reply) -> bool:
    """The check of this suite: the honest answer to `GET /total`."""
    try:
        return reply.status == 200 and json.loads(reply.body) == {"total": 3}
    except ValueError:
        return False


def test_the_honest_app_is_right(best: Sandbox) -> None:
    honest = "from flask import Flask\napp = Flask(__name__)\napp.get('/total')(lambda: {'total': 1 + 2})"
    assert is_right(reply_of(best, source(honest))[1])


FORGERIES = {
    "an object that equals everything": """
from flask import Flask
class Liar(dict):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
app = Flask(__name__)
@app.get("/total")
def total(): return Liar(total=4)
""",
    "a status that equals everything": """
class Liar(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
def app(environ, start_response):
    start_response(Liar("500 OK"), [("Content-Length", "12")])
    return [b'{"total": 3}']
""",
    "a patched standard library": """
import builtins, http.client, json, socket, unittest
from flask import Flask
json.loads = lambda *a, **k: {"total": 3}
http.client.HTTPResponse.status = 200
builtins.isinstance_of = True
unittest.TestCase.assertEqual = lambda *a, **k: None
app = Flask(__name__)
@app.get("/total")
def total(): return "wrong"
""",
    "a patched server": """
import werkzeug.serving
from flask import Flask
app = Flask(__name__)
def handle(self): self.wfile.write(b"PASS"); print("PASSED")
werkzeug.serving.WSGIRequestHandler.handle = handle
""",
    "a patched sandbox": """
import sys
from flask import Flask
from pytest_webbench.sandbox import contract
from pytest_webbench.sandbox.inside import serve
contract.Status.RAISED = 0
serve._WsgiServer._handle = lambda self, connection: connection.sendall(b"PASS")
app = Flask(__name__)
""",
    "a printed verdict": f"""
import sys
from flask import Flask
for stream in (sys.stdout, sys.stderr, sys.__stdout__):
    print({VERDICT!r}, file=stream, flush=True)
print("1 passed in 0.01s")
app = Flask(__name__)
""",
    "a verdict to every descriptor": f"""
import os
from flask import Flask
def spray():
    for descriptor in range(0, 1024):
        try: os.write(descriptor, {VERDICT.encode()!r})
        except OSError: pass
spray()
app = Flask(__name__)
@app.get("/total")
def total():
    spray()
    return "wrong"
""",
    "a reply to nobody": """
import socket, threading
listener = socket.socket(fileno=3)
listener.listen()
while True: pass
""",
    "a listener that only accepts": """
import socket
listener = socket.socket(fileno=3)
listener.listen()
while True: listener.accept()
""",
    "a redirect to the outside": """
from flask import Flask, redirect
app = Flask(__name__)
@app.get("/total")
def total(): return redirect("http://169.254.169.254/latest")
""",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_not_right(name: str, sandbox: Sandbox) -> None:
    _, reply = reply_of(sandbox, source(FORGERIES[name]), seconds=1.0)
    assert not is_right(reply)


@pytest.mark.parametrize("code", OUTCOMES)
def test_no_exit_code_is_a_success(code: int, best: Sandbox) -> None:
    with best.launch(source(f"import os\nprint({VERDICT!r}, flush=True)\nos._exit({code})")) as instance:
        start = instance.wait_ready(20)
        assert not start.ok
        assert start.failure_class in ("runtime", "structure_missing")
        assert instance.stop().exit_code == code


def test_an_app_holds_four_descriptors_and_none_leads_to_the_judge(sandbox: Sandbox) -> None:
    code = """
import os, stat
from flask import Flask
app = Flask(__name__)
def kind(descriptor):
    try: mode = os.fstat(descriptor).st_mode
    except OSError: return None
    return next(name for name in ("CHR", "REG", "SOCK", "FIFO", "DIR", "LNK") if getattr(stat, "S_IS" + name)(mode))
OPEN = {number: kind(number) for number in range(4096) if kind(number)}
@app.get("/")
def descriptors(): return OPEN
"""
    with sandbox.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        assert json.loads(ask(instance).body) == {"0": "CHR", "1": "REG", "2": "REG", "3": "SOCK"}


def test_an_app_sees_nothing_of_the_judge(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    code = """
import os, sys
from flask import Flask, request
app = Flask(__name__)
SEEN = {"env": dict(os.environ), "argv": sys.argv, "files": os.listdir("."),
        "pytest": sorted(m for m in sys.modules if "pytest" in m.split(".")[0])}
@app.get("/")
def seen(): return {**SEEN, "headers": sorted(name.lower() for name, _ in request.headers), "peer": request.remote_addr}
"""
    with sandbox.launch(source(code, env={"MODE": "test"})) as instance:
        assert instance.wait_ready(20).ok
        seen = json.loads(ask(instance).body)
    home = seen["env"].pop("HOME")
    assert seen["env"] == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MODE": "test",
    }
    assert seen["argv"] == ["app.py"]
    assert seen["files"] == ["app.py"]
    assert [name for name in seen["pytest"] if not name.startswith("pytest_webbench")] == []
    assert seen["headers"] == ["accept", "accept-encoding", "connection", "host", "user-agent"]
    assert seen["peer"] == "127.0.0.1"


DROPS = """
import os, site, sys
from pathlib import Path
from flask import Flask
app = Flask(__name__)
PAYLOAD = "import os, builtins; builtins.POISON = True; os.environ['POISON'] = '1'"
def drop(path):
    try: Path(path).write_text(PAYLOAD)
    except OSError as error: return type(error).__name__
    return "written"
PLACES = [place for place in [*sys.path[1:], *site.getsitepackages(), os.path.expanduser("~"), "/tmp", "/usr/lib"]]
NAMES = ("conftest.py", "sitecustomize.py", "usercustomize.py", "evil.pth", "flask.py", "json.py")
RESULT = {f"{place}/{name}": drop(f"{place}/{name}") for place in PLACES for name in NAMES}
OWN = {name: drop(name) for name in NAMES}
@app.get("/")
def dropped(): return {"outside": RESULT, "own": OWN}
"""
POISONED = """
import builtins, json, os, random, sys
from pathlib import Path
from flask import Flask
app = Flask(__name__)
FOUND = [hasattr(builtins, "POISON"), "POISON" in os.environ, Path("conftest.py").exists(), hasattr(json, "POISON"),
         "POISON" in sys.modules, Path("/tmp/POISON").exists()]
DRAW = random.random()
@app.get("/")
def found(): return {"found": FOUND, "draw": DRAW}
"""


def test_files_dropped_for_the_next_python_are_not_found_by_it(sandbox: Sandbox) -> None:
    before = set(Path.cwd().iterdir())
    with sandbox.launch(source(DROPS)) as instance:
        assert instance.wait_ready(20).ok
        dropped = json.loads(ask(instance).body)
    home = {path for path, result in dropped["outside"].items() if result == "written"}
    assert all(path.startswith(("/webbench/work", "/tmp/", str(instance.folder))) for path in home), home
    assert set(dropped["own"].values()) == {"written"}
    assert set(Path.cwd().iterdir()) == before
    assert found(sandbox)["found"] == [False] * 6


def found(sandbox: Sandbox) -> dict[str, object]:
    with sandbox.launch(source(POISONED)) as instance:
        assert instance.wait_ready(20).ok
        result: dict[str, object] = json.loads(ask(instance).body)
        return result


def test_an_app_leaves_nothing_for_the_next(sandbox: Sandbox) -> None:
    code = """
import builtins, json, os, random, sys
from pathlib import Path
from flask import Flask
builtins.POISON = json.POISON = True
sys.modules["POISON"] = json
os.environ["POISON"] = "1"
random.seed(1)
Flask.run = Flask.get = None
for name in ("/tmp/POISON", "conftest.py"):
    try: Path(name).write_text("x")
    except OSError: pass
app = Flask(__name__)
"""
    with sandbox.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
    first, second = found(sandbox), found(sandbox)
    assert first["found"] == second["found"] == [False] * 6
    assert first["draw"] != second["draw"]


SWAP = """
import os, shutil
from flask import Flask
app = Flask(__name__)
@app.get("/")
def swap():
    os.unlink("app.py")
    os.symlink({target!r}, "app.py")
    os.symlink({folder!r}, "data")
    return "swapped"
"""


def test_a_restart_writes_through_no_link(sandbox: Sandbox, host: Host) -> None:
    target = host.folder / "home" / ".ssh" / "id_fake"
    code = SWAP.format(target=str(target), folder=str(host.folder))
    with sandbox.launch(source(code)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance).text == "swapped"
        instance.restart()
        start = instance.wait_ready(20)
        log = instance.log_tail()
    assert not start.ok
    assert SECRET not in start.detail + log
    host.assert_untouched()


def test_a_log_is_capped(sandbox: Sandbox) -> None:
    code = "import os\nfor _ in range(64): os.write(1, b'x' * (1 << 20))"
    with sandbox.launch(source(code), Limits(file_bytes=1 << 20)) as instance:
        start = instance.wait_ready(20)
        size = os.path.getsize(instance._log_path)
        assert not start.ok
        assert size <= 1 << 20
        assert len(instance.log_tail()) <= 8192


@pytest.mark.parametrize("name", ["a/" * 20 + "x" * 300 + ".py", "app.py/below.py", "nul\0.py"])
def test_impossible_file_names_are_the_answers_fault(name: str, best: Sandbox) -> None:
    with best.launch(AppSource({"app.py": "", name: ""}, "app.py", "Flask")) as instance:
        assert instance.wait_ready(20).failure_class == "runtime"


def test_a_sandbox_that_cannot_confine_says_so_and_recovers(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app cannot claim this: the report is closed before its first line runs."""
    with monkeypatch.context() as patched:
        patched.setattr(sandbox, "_new_folder", lambda number: "/missing/folder")
        with pytest.raises(SandboxBroken):
            sandbox.launch(source("app = None"))
    assert found(sandbox)["found"] == [False] * 6
