"""A sandbox per level, and a host around it whose secrets, files and listeners no app may touch."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from outside import SECRET, Host

from pytest_webbench.sandbox import Sandbox, SandboxUnavailable, open_sandbox


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    """A folder that any user may read and write: only the sandbox keeps an app out of it."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    (folder / "home" / ".ssh").mkdir(parents=True)
    (folder / "home" / ".ssh" / "id_fake").write_text(SECRET)
    (folder / "checks.py").write_text(f"# {SECRET}")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777)
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", tcp.getsockname()[1]))
    named, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    named.bind(str(folder / "listener"))
    (folder / "listener").chmod(0o777)
    abstract.bind(f"\0test-{secrets.token_hex(6)}")
    for listener in (named, abstract):
        listener.listen()
    for listener in (tcp, udp, named, abstract):
        listener.setblocking(False)
    bystander = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(3600)"], env={"API_KEY": SECRET, "PATH": os.defpath}
    )
    outside = Host(folder, bystander, tcp, udp, named, abstract)
    outside.fingerprint = outside.state()
    yield outside
    bystander.kill()
    bystander.wait()
    for listener in (tcp, udp, named, abstract):
        listener.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def open_level() -> Iterator[Callable[[str], Sandbox]]:
    """Return the session's sandbox of a level; skip the test where the machine lacks it."""
    opened: dict[str, Sandbox] = {}

    def at(level: str) -> Sandbox:
        if level not in opened:
            try:
                opened[level] = open_sandbox(level)
            except SandboxUnavailable as error:
                pytest.skip(str(error))
        return opened[level]

    yield at
    for sandbox in opened.values():
        sandbox.close()


@pytest.fixture(params=["full", "kernel"])
def sandbox(request: pytest.FixtureRequest, open_level: Callable[[str], Sandbox]) -> Sandbox:
    return open_level(request.param)


@pytest.fixture
def best(open_level: Callable[[str], Sandbox]) -> Sandbox:
    return open_level("auto")
