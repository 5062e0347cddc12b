"""Every hostile app, at full and at kernel level: what it tried, and that nothing outside noticed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from outside import SECRET, Host, Outcome, ask, assert_good_app_still_passes, descendants, run_hostile, source

from pytest_webbench.sandbox import Limits, Sandbox

FOLDER = Path(__file__).parent / "hostile"
GOOD = (FOLDER / "good.py").read_text()
PATROLLED = ("disk_fill", "inode_fill")
SLOW = ("disk_fill", "inode_fill", "thread_bomb", "mem_list", "mem_mmap", "symlink_tree", "mem_numpy", "net")
DENIED = ("PermissionError", "Errno 13", "Errno 1]", "EPERM", "EACCES", "No such", "not permitted", "ProcessLookup")

Judge = Callable[[Outcome, Sandbox], None]
EXPECTED: dict[str, Judge] = {}


def expect(*names: str) -> Callable[[Judge], Judge]:
    def register(judge: Judge) -> Judge:
        EXPECTED.update(dict.fromkeys(names, judge))
        return judge

    return register


def answer(outcome: Outcome) -> dict[str, object]:
    assert outcome.reply.status == 200, (outcome.reply, outcome.log)
    found: dict[str, object] = json.loads(outcome.reply.body)
    return found


def is_denied(result: object) -> bool:
    return any(word in str(result) for word in DENIED)


@expect("alarm", "loop_handler", "loop_c_regex", "segfault", "close_fds", "http_garbage", "http_100_forever")
@expect("slow_header", "forge_fds")
def no_answer(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.start.ok
    assert outcome.reply.error
    assert outcome.reply.status is None


@expect("sigstop")
def stopped_or_not_the_client_goes_on(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.error or outcome.reply.text == "x"


@expect("slow_body", "gzip_bomb")
def body_is_cut(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.error
    assert len(outcome.reply.body) < 8 << 20


@expect("cpu_import")
def loops_at_import(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert (outcome.start.ok, outcome.start.failure_class) == (False, "timeout")


@expect("mem_import", "os_exit_import", "syntax_error")
def fails_at_import(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert (outcome.start.ok, outcome.start.failure_class) == (False, "runtime")


@expect("no_app")
def has_no_app(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert (outcome.start.ok, outcome.start.failure_class) == (False, "structure_missing")


@expect("good")
def is_good(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.text == "good"


@expect("app_run")
def its_own_server_is_not_started(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.text == "ok"


@expect("disk_fill")
def disk_is_bounded(outcome: Outcome, sandbox: Sandbox) -> None:
    if sandbox.walls.namespaces:
        assert answer(outcome)["mb"] <= 32
        assert "No space left" in str(answer(outcome)["err"])
    else:
        assert outcome.ended_for == "disk_bytes"


@expect("inode_fill")
def files_are_bounded(outcome: Outcome, sandbox: Sandbox) -> None:
    if sandbox.walls.namespaces:
        assert answer(outcome)["files"] <= 4096
    else:
        assert outcome.ended_for == "disk_files"


@expect("fork_bomb")
def no_process_is_started(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert answer(outcome)["forked"] == 0


@expect("thread_bomb")
def threads_are_bounded(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.error or answer(outcome)["threads"] < 400


@expect("mem_list")
def memory_error_is_a_500(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.status == 500


@expect("mem_mmap")
def mapped_memory_is_bounded(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert answer(outcome)["mb"] < 800


@expect("mem_numpy")
def array_memory_is_bounded(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert "err" in answer(outcome) or outcome.reply.status == 500


@expect("json_depth_bomb")
def depth_is_the_readers_matter(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.body == b"[" * 200000


@expect("net")
def network_is_closed(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert found.pop("pair") == "True"
    found.pop("dns")
    reachable = [
        name for name, result in found.items() if not is_denied(result) and "ConnectionError" not in str(result)
    ]
    assert not reachable, found


@expect("read_files")
def secrets_stay_unread(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert found["leak"] is False
    results = dict(found["r"])
    assert [name for name in results if name not in ("ls /", "ls /tmp") and not is_denied(results[name])] == []


@expect("read_proc")
def processes_stay_unread(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert found["leak"] is False
    assert found["readable"] == {}
    assert is_denied(found["driver_env"])


@expect("ptrace")
def memory_of_others_is_closed(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert all(is_denied(result) or "ESRCH" in str(result) for result in found.values()), found


@expect("syscalls")
def system_calls_are_denied(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    capabilities = str(found.pop("caps"))
    assert set(capabilities) <= set("[0, 4]"), capabilities
    if "Invalid argument" in str(found["setuid0"]):  # root does not exist in its user namespace
        del found["setuid0"]
    allowed = [name for name, result in found.items() if not is_denied(result) and "ESRCH" not in str(result)]
    assert not allowed, found


@expect("kill_parent")
def parents_are_out_of_reach(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert found["k"] == "ppid not visible" or is_denied(found["k"])
    assert is_denied(found["k0"])


@expect("kill_all")
def nobody_else_is_killed(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert outcome.reply.error or outcome.reply.status == 200


@expect("delete_files")
def only_its_own_files_go(outcome: Outcome, _sandbox: Sandbox) -> None:
    assert "Error" in str(answer(outcome)["decoy"])


@expect("symlink_tree")
def links_lead_nowhere(outcome: Outcome, _sandbox: Sandbox) -> None:
    found = answer(outcome)
    assert all("Error" in str(found[name]) for name in ("through", "read", "hard", "rename")), found


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_hostile_app_is_contained(name: str, sandbox: Sandbox, host: Host) -> None:
    app = source((FOLDER / f"{name}.py").read_text(), env=host.environment())
    seconds = 8.0 if name in SLOW else 0.9
    limits = Limits(cpu_seconds=1 if name == "cpu_import" else 2)
    outcome = run_hostile(sandbox, app, limits, seconds, patience=0.6 if name in PATROLLED else 0)
    EXPECTED[name](outcome, sandbox)
    assert SECRET not in outcome.reply.text + outcome.log
    host.assert_untouched()
    assert_good_app_still_passes(sandbox, GOOD)


DAEMON = """
import os, time
from flask import Flask
app = Flask(__name__)
@app.get("/")
def leave():
    for _ in range(8):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
    return "left"
"""
BOMB = """
import os, time
from flask import Flask
app = Flask(__name__)
@app.get("/")
def bomb():
    count = 0
    try:
        while count < 2000:
            if os.fork() == 0:
                time.sleep(600)
            count += 1
    except OSError as error:
        return {"count": count, "error": str(error)}
    return {"count": count}
"""


def test_no_process_survives_an_app_that_may_start_some(sandbox: Sandbox) -> None:
    before = len(descendants(sandbox.launch(source(GOOD)).zygote.pid))
    with sandbox.launch(source(DAEMON, allow_subprocess=True)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance).text == "left"
        assert len(descendants(instance.zygote.pid)) >= before + 8
        instance.stop()
        assert len(descendants(instance.zygote.pid)) == before


def test_a_fork_bomb_meets_the_process_limit_where_processes_are_allowed(sandbox: Sandbox) -> None:
    with sandbox.launch(source(BOMB, allow_subprocess=True)) as instance:
        assert instance.wait_ready(20).ok
        found = json.loads(ask(instance, seconds=20).body)
        assert found["count"] < 400
        assert "temporarily unavailable" in found["error"]
        zygote = instance.zygote.pid
        instance.stop()
    time.sleep(0.1)
    assert len(descendants(zygote)) < 10


def test_what_an_app_with_subprocesses_runs_is_walled_in_too(sandbox: Sandbox, host: Host) -> None:
    code = f"""
import subprocess
from flask import Flask
app = Flask(__name__)
@app.get("/")
def run():
    done = subprocess.run(["/bin/cat", {str(host.folder / "checks.py")!r}, "app.py"], capture_output=True, text=True)
    return {{"out": done.stdout, "err": done.stderr}}
"""
    with sandbox.launch(source(code, allow_subprocess=True)) as instance:
        assert instance.wait_ready(20).ok
        found = json.loads(ask(instance).body)
    assert "import subprocess" in found["out"]
    assert SECRET not in found["out"]
    assert "checks.py" in found["err"]
