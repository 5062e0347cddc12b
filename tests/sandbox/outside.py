"""What the sandbox tests share: a client, a host to be left alone, and the course of a hostile app."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from pytest_webbench.sandbox import AppSource, Instance, Limits, Sandbox, Start

SECRET = "TOP-SECRET-canary"
MAX_BODY = 1 << 20
NO_TLS = httpx2.create_ssl_context(verify=False)


@dataclass(frozen=True)
class Reply:
    """What a client got: a response, cut at 1 MB, or the name of the error that ended it."""

    status: int | None = None
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


@dataclass(frozen=True)
class Outcome:
    """One hostile app from launch to stop."""

    start: Start
    reply: Reply
    ended_for: str | None
    signal: int | None
    log: str


def ask(instance: Instance, path: str = "/", method: str = "GET", seconds: float = 3.0, **options: object) -> Reply:
    """Send one request; the app is killed when `seconds` pass, so nothing can hang the caller."""
    watchdog = threading.Timer(seconds, instance.kill)
    watchdog.start()
    transport = httpx2.HTTPTransport(uds=instance.socket_path, verify=NO_TLS)
    try:
        with httpx2.Client(transport=transport, base_url="http://127.0.0.1", timeout=seconds) as client:
            headers = {"accept-encoding": "identity", **options.pop("headers", {})}
            with client.stream(method, path, headers=headers, **options) as response:
                body = b""
                for part in response.iter_raw():
                    body += part
                    if len(body) > MAX_BODY:
                        return Reply(response.status_code, body, dict(response.headers), "body too long")
                return Reply(response.status_code, body, dict(response.headers))
    except httpx2.HTTPError as error:
        return Reply(error=type(error).__name__)
    finally:
        watchdog.cancel()


@dataclass
class Host:
    """The machine outside: a bystander with a secret in its environment, a home, checks, listeners."""

    folder: Path
    bystander: subprocess.Popen[bytes]
    tcp: socket.socket
    udp: socket.socket
    named: socket.socket
    abstract: socket.socket
    fingerprint: str = ""

    def environment(self) -> dict[str, str]:
        return {
            "T_DECOY": str(self.folder / "home"),
            "T_CHECKS": str(self.folder / "checks.py"),
            "T_ZY": str(Path(__file__).parents[2] / "pyproject.toml"),
            "T_UDS": str(self.folder / "listener"),
            "T_ABS": self.abstract.getsockname()[1:].decode(),
            "T_PORT": str(self.tcp.getsockname()[1]),
            "T_DRIVER": str(self.bystander.pid),
        }

    def state(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            digest.update(f"{path} {path.lstat().st_mode}".encode())
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def was_reached(self) -> bool:
        for listener in (self.tcp, self.named, self.abstract):
            try:
                listener.accept()
            except BlockingIOError:
                continue
            return True
        try:
            return bool(self.udp.recv(1))
        except BlockingIOError:
            return False

    def assert_untouched(self) -> None:
        assert self.state() == self.fingerprint, "a file outside the sandbox changed"
        assert not self.was_reached(), "a listener outside the sandbox was reached"
        assert self.bystander.poll() is None, "a process outside the sandbox was killed"
        assert os.sched_getaffinity(self.bystander.pid) == os.sched_getaffinity(0), "a process was pinned"


def source(code: str, framework: str = "Flask", **options: object) -> AppSource:
    return AppSource({"app.py": code}, "app.py", framework, **options)


def run_hostile(sandbox: Sandbox, app: AppSource, limits: Limits, seconds: float, patience: float) -> Outcome:
    """Launch `app`, send `GET /` if it starts, give patrols their time, stop it, and look for the zygote."""
    with sandbox.launch(app, limits) as instance:
        pid = instance.zygote.pid
        start = instance.wait_ready(20)
        reply = ask(instance, seconds=seconds) if start.ok else Reply(error="not started")
        time.sleep(patience)
        log = instance.log_tail()
        end = instance.stop()
    assert os.path.exists(f"/proc/{pid}"), "the zygote died"
    return Outcome(start, reply, end.ended_for, end.signal, log)


def descendants(pid: int) -> list[int]:
    """Return all living processes below `pid`."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] + [below for child in children for below in descendants(int(child))]


def assert_good_app_still_passes(sandbox: Sandbox, good: str) -> None:
    with sandbox.launch(source(good)) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance).text == "good"
