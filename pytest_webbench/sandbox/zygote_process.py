"""The trusted side's handle of one zygote: start it, order launches, hear of ends."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_webbench.sandbox import confine
from pytest_webbench.sandbox.contract import SandboxBroken
from pytest_webbench.sandbox.folders import remove_folder
from pytest_webbench.sandbox.interpreter import interpreter
from pytest_webbench.sandbox.levels import UNPRIVILEGED_UID, Machine, Walls, identity

if TYPE_CHECKING:
    from pytest_webbench.sandbox.instance import Instance

_START_SECONDS = 120.0
_ANSWER_SECONDS = 60.0
_MAX_MESSAGE = 1 << 16
_MAIN = "from pytest_webbench.sandbox.inside.zygote import main\nmain()"
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


class ZygoteProcess:
    """A running zygote for one framework. `ended` keeps the end of instances until somebody asks."""

    def __init__(self, framework: str, walls: Walls, machine: Machine, scratch: Path) -> None:
        self._namespaces = walls.namespaces
        self._error_path = scratch / f"{framework}.err"
        self._ended: dict[int, dict[str, Any]] = {}
        self._launches = 0
        self._broken = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._error_path.open("wb") as errors:
            config = json.dumps(_config(framework, walls, machine))
            wrapper = list(machine.bubblewrap or ()) if walls.namespaces else []
            uid = machine.bubblewrap_uid if walls.namespaces else None
            self._process = subprocess.Popen(
                [*wrapper, *interpreter().command(_MAIN), str(theirs.fileno()), config],
                pass_fds=[theirs.fileno()],
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
            )
        self._control.settimeout(_START_SECONDS)
        self._receive()
        self._control.settimeout(_ANSWER_SECONDS)

    @property
    def pid(self) -> int:
        """Process id of the zygote, or of the bubblewrap around it."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Return whether the zygote can take orders."""
        return not self._broken and self._process.poll() is None

    def start(self, instance: Instance, listener: int, log: int, *, fresh: bool) -> tuple[int, int]:
        """Launch `instance`; return its id and pidfd. Raise SandboxBroken if it could not be confined."""
        self._launches += 1
        number = self._launches
        order = {"order": "launch", "id": number, "folder": instance.folder, "fresh": fresh}
        job = {"source": _plain(instance), "limits": instance.limits.to_json()}
        job["limits"]["processes"] += _tasks_counted_against_limit(self._namespaces)
        payload = os.memfd_create("webbench")
        try:
            with open(payload, "wb", closefd=False) as stream:
                stream.write(json.dumps(job).encode())
            os.lseek(payload, 0, os.SEEK_SET)
            self._send(order, listener, log, payload)
        finally:
            os.close(payload)
        return number, self._await_start(number)

    def await_end(self, number: int) -> dict[str, Any]:
        """Return how the instance ended, waiting for it; the caller has killed it or seen it dead."""
        while number not in self._ended:
            self._receive()
        return self._ended.pop(number)

    def discard(self, folder: str) -> None:
        """Remove the working folder of an instance that has ended."""
        if self._namespaces:
            self._send({"order": "discard", "folder": folder})
        else:
            remove_folder(Path(folder))

    def close(self) -> None:
        """End the zygote and all that it started."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _await_start(self, number: int) -> int:
        while True:
            event, descriptors = self._receive()
            if event["event"] == "broken" and event["id"] == number:
                raise SandboxBroken(f"an app could not be confined: {event['error']}")
            if event["event"] == "started" and event["id"] == number:
                return descriptors[0]

    def _send(self, order: dict[str, Any], *descriptors: int) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], descriptors)
        except OSError as error:
            raise self._gone() from error

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _MAX_MESSAGE, 4)
        except OSError as error:
            raise self._gone() from error
        if not data:
            raise self._gone()
        event: dict[str, Any] = json.loads(data)
        if event["event"] == "ended":
            del event["event"]
            self._ended[event.pop("id")] = event
            return {"event": "ended", "id": 0}, []
        return event, descriptors

    def _gone(self) -> SandboxBroken:
        self._broken = True
        self._process.poll()
        tail = self._error_path.read_text(errors="replace")[-2000:]
        return SandboxBroken(f"the sandbox's zygote is gone or silent (exit {self._process.returncode}): {tail}")


def _config(framework: str, walls: Walls, machine: Machine) -> dict[str, Any]:
    python, who = interpreter(), identity(walls, machine)
    return {
        "framework": framework,
        "packages": list(python.packages),
        "readable": list(python.readable),
        "programs": [python.executable, os.path.realpath(python.executable), f"{sys.base_prefix}/lib"],
        "below_tmp": confine.shown_below_tmp(python.shown),
        "namespaces": walls.namespaces,
        "landlock": bool(walls.landlock),
        "seccomp": walls.seccomp,
        "uid": who.uid if who else None,
        "capabilities": who.zygote if who else 0,
        "app_capabilities": who.apps if who else None,
    }


def _plain(instance: Instance) -> dict[str, Any]:
    source = asdict(instance.source)
    return {**source, "files": dict(source["files"]), "env": dict(source["env"])}


def _tasks_counted_against_limit(namespaces: bool) -> int:
    """Return how many tasks the app's user has already; the kernel counts them all against RLIMIT_NPROC."""
    root = os.geteuid() == 0
    uid = UNPRIVILEGED_UID if root else os.getuid()
    if namespaces and not root:
        return 0
    return sum(_threads(entry.path) for entry in os.scandir("/proc") if entry.name.isdigit() and _owner(entry) == uid)


def _owner(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_uid
    except OSError:
        return -1


def _threads(process: str) -> int:
    try:
        return len(os.listdir(f"{process}/task"))
    except OSError:
        return 0
