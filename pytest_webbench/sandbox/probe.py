"""An app made to break out, and what became of its attempts."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webbench.sandbox.contract import AppSource, Limits, SandboxBroken

if TYPE_CHECKING:
    from pytest_webbench.sandbox.host import Sandbox

_START_SECONDS = 30.0
_FRAMEWORK = "probe"
_APP = Path(__file__).with_name("probe_app.txt")


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What each escape attempt met: `held` maps its name to the error it got, `escaped` lists those that worked."""

    level: str
    held: dict[str, str]
    escaped: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Return whether every attempt was held back."""
        return not self.escaped

    def describe(self) -> str:
        """Return one line for people."""
        tried = len(self.held) + len(self.escaped)
        if self.ok:
            return f"probe: {tried} of {tried} escape attempts held back"
        return f"probe: {len(self.escaped)} of {tried} ESCAPED: {', '.join(self.escaped)}"


def probe(sandbox: Sandbox) -> ProbeReport:
    """Launch the probe app in `sandbox` and compare what it says with what the trusted side saw."""
    with _bait() as bait:
        try:
            outcomes = _attempt(sandbox, bait)
        finally:
            sandbox.retire(_FRAMEWORK)
    held = {name: error for name, error in outcomes.items() if error is not None}
    return ProbeReport(sandbox.level, held, tuple(name for name, error in outcomes.items() if error is None))


def _attempt(sandbox: Sandbox, bait: _Bait) -> dict[str, str | None]:
    source = AppSource({"app.py": _APP.read_text(encoding="utf-8")}, "app.py", _FRAMEWORK, bait.environment)
    with sandbox.launch(source, Limits(wall_seconds=60)) as instance:
        start = instance.wait_ready(_START_SECONDS)
        if not start.ok:
            raise SandboxBroken(f"the probe did not start: {start.detail}")
        outcomes: dict[str, str | None] = json.loads(_get(instance.socket_path))
    return outcomes | bait.taken()


@dataclass(frozen=True, slots=True)
class _Bait:
    """Things outside that an app must neither read, change nor reach."""

    folder: Path
    listeners: dict[str, socket.socket]

    @property
    def environment(self) -> dict[str, str]:
        return {
            "BAIT_FILE": str(self.folder / "secret"),
            "BAIT_FOLDER": str(self.folder),
            "BAIT_TCP": str(self.listeners["tcp"].getsockname()[1]),
            "BAIT_UDP": str(self.listeners["udp"].getsockname()[1]),
            "BAIT_UNIX": str(self.folder / "listener"),
            "BAIT_ABSTRACT": self.listeners["abstract"].getsockname()[1:].decode(),
            "BAIT_PID": str(os.getpid()),
            "BAIT_PACKAGES": sysconfig.get_path("purelib"),
        }

    def taken(self) -> dict[str, str | None]:
        """Return what the trusted side saw of attempts that the app could be wrong about."""
        seen: dict[str, str | None] = {}
        for name, listener in self.listeners.items():
            seen[f"{name} seen outside"] = None if _was_reached(listener) else "nothing arrived"
        strangers = sorted(path.name for path in self.folder.iterdir() if path.name not in ("secret", "listener"))
        seen["file seen outside"] = None if strangers else "nothing appeared"
        return seen


@contextmanager
def _bait() -> Iterator[_Bait]:
    with tempfile.TemporaryDirectory(prefix="webbench-probe-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "secret").write_text("bait")
        (folder / "secret").chmod(0o666)
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        named, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        named.bind(str(folder / "listener"))
        (folder / "listener").chmod(0o666)
        abstract.bind(f"\0webbench-{secrets.token_hex(8)}")
        listeners = {"tcp": tcp, "udp": udp, "unix": named, "abstract": abstract}
        try:
            for listener in (named, abstract):
                listener.listen()
            yield _Bait(folder, listeners)
        finally:
            for listener in listeners.values():
                listener.close()


def _was_reached(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        return bool(listener.recv(1)) if listener.type == socket.SOCK_DGRAM else bool(listener.accept())
    except BlockingIOError:
        return False


def _get(socket_path: str) -> bytes:
    """Return the body of `GET /`, read to the end of the connection."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_START_SECONDS)
        connection.connect(socket_path)
        connection.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    return answer.partition(b"\r\n\r\n")[2]
