"""The zygote: a trusted, single-threaded fork server with one framework imported.

It takes launch orders over a SEQPACKET socket, forks a child per app instance, and reports the child's
pidfd and, later, how it ended. A child confines itself before it touches generated code; until then it
holds a pipe over which it can say that confining failed. Afterwards it holds no channel to anyone.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_webbench.sandbox import confine
from pytest_webbench.sandbox.contract import AppSource
from pytest_webbench.sandbox.inside import child, preload

_PATROL_SECONDS = 0.2
_BOX_SIZE = (1 << 20, 1 << 14)
_MAX_MESSAGE = 1 << 16


@dataclass(frozen=True, slots=True)
class Config:
    """What the zygote is told at its start.

    `packages` extend its search path; `readable` is what an app may read, `programs` what it may run if it
    may run anything, `below_tmp` what must stay in sight under its own /tmp. `uid` is whom the zygote turns
    into, if anyone; `capabilities` are those that it keeps, `app_capabilities` those that an app keeps
    (None: all that it has).
    """

    framework: str
    packages: list[str]
    readable: list[str]
    programs: list[str]
    below_tmp: list[str]
    namespaces: bool
    landlock: bool
    seccomp: bool
    uid: int | None
    capabilities: int
    app_capabilities: int | None


@dataclass(slots=True)
class _Running:
    """One live child: `folder` is its working folder as the zygote sees it."""

    id: int
    pid: int
    folder: str
    limits: dict[str, float]
    deadline: float
    ended_for: str | None = None


@dataclass(slots=True)
class Zygote:
    """Forks and watches app instances until the control socket closes."""

    control: socket.socket
    config: Config
    filters: dict[bool, confine.SystemCallFilter]
    own_pid_namespace: int
    starter: bytes
    running: dict[int, _Running] = field(default_factory=dict)
    boxes: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Serve orders; return when the worker closed its end or died."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll(self._patience()):
                if descriptor != self.control.fileno():
                    poll.unregister(descriptor)
                    self._bury(descriptor)
                elif not self._obey(poll):
                    return
            self._patrol()

    def _patience(self) -> float | None:
        return _PATROL_SECONDS * 1000 if self.running else None

    def _obey(self, poll: select.poll) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, _MAX_MESSAGE, 4)
        if not data:
            return False
        order = json.loads(data)
        if order["order"] == "discard":
            self._discard(order["folder"])
        else:
            pidfd = self._launch(order, descriptors)
            if pidfd is not None:
                poll.register(pidfd, select.POLLIN)
        return True

    def _launch(self, order: dict[str, Any], descriptors: list[int]) -> int | None:
        listener, log, payload = descriptors
        job = json.loads(_read_all(payload))
        self._prepare_box(order["folder"], job["limits"])
        failure, report = os.pipe()
        if self.config.namespaces:
            confine.unshare(confine.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            self.control.detach()
            source = AppSource(**job["source"])
            work = child.Work(source, order["folder"], job["limits"], order["fresh"], self.starter)
            child.run(work, self.config, self.filters, child.Descriptors(listener, log, report))
        if self.config.namespaces:
            confine.join_namespace(self.own_pid_namespace, confine.CLONE_NEWPID)
        for descriptor in (report, *descriptors):
            os.close(descriptor)
        error = _read_all(failure).decode(errors="replace")
        os.close(failure)
        if error:
            os.waitpid(pid, 0)
            self._tell({"id": order["id"], "event": "broken", "error": error})
            return None
        pidfd = os.pidfd_open(pid)
        deadline = time.monotonic() + job["limits"]["wall_seconds"]
        self.running[pidfd] = _Running(order["id"], pid, order["folder"], job["limits"], deadline)
        self._tell({"id": order["id"], "event": "started", "pid": pid}, pidfd)
        return pidfd

    def _prepare_box(self, folder: str, limits: dict[str, float]) -> None:
        if self.config.namespaces and folder not in self.boxes:
            os.mkdir(folder, 0o700)
            confine.mount_tmpfs(folder, int(limits["disk_bytes"]), int(limits["disk_files"]))
            os.mkdir(f"{folder}/work", 0o700)
            os.mkdir(f"{folder}/tmp", 0o700)
            self.boxes.add(folder)

    def _discard(self, folder: str) -> None:
        if folder in self.boxes:
            self.boxes.remove(folder)
            confine.detach(folder)
            os.rmdir(folder)

    def _bury(self, pidfd: int) -> None:
        dead = self.running.pop(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(dead.pid, 0)
        self._sweep()
        self._tell(
            {
                "id": dead.id,
                "event": "ended",
                "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
                "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "max_rss": usage.ru_maxrss * 1024,
                "ended_for": dead.ended_for,
            }
        )

    def _sweep(self) -> None:
        """Kill and reap what ended apps left behind; a pid namespace has done so by itself."""
        if self.config.namespaces:
            return
        known = {running.pid for running in self.running.values()}
        while orphans := _children() - known:
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                os.waitpid(pid, 0)

    def _patrol(self) -> None:
        for pidfd, running in self.running.items():
            running.ended_for = running.ended_for or self._excess(running)
            if running.ended_for:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _excess(self, running: _Running) -> str | None:
        if time.monotonic() > running.deadline:
            return "wall_seconds"
        if self.config.namespaces:
            return None
        size = files = 0
        for item in _walk(running.folder):
            size, files = size + item.st_blocks * 512, files + 1
            if size > running.limits["disk_bytes"]:
                return "disk_bytes"
            if files > running.limits["disk_files"]:
                return "disk_files"
        return None

    def _tell(self, event: dict[str, Any], *descriptors: int) -> None:
        socket.send_fds(self.control, [json.dumps(event).encode()], descriptors)


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as stream:
        return stream.read()


def _children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def _walk(folder: str) -> Iterator[os.stat_result]:
    """Yield the status of everything below `folder` that can be seen; what vanishes meanwhile is skipped."""
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue


def main() -> None:
    """Import the framework, give up all rights that are not needed, report readiness and serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    config = Config(**json.loads(sys.argv[2]))
    sys.path += [path for path in config.packages if path not in sys.path]
    own_pid_namespace = fcntl.fcntl(os.open("/proc/self/ns/pid", os.O_RDONLY), fcntl.F_DUPFD_CLOEXEC, 200)
    if config.uid is not None:
        confine.become(config.uid, config.capabilities)
    if config.namespaces:
        confine.mount_tmpfs(confine.BOX, *_BOX_SIZE)
    confine.set_process_flag(confine.PR_SET_CHILD_SUBREAPER, 1)
    starter = preload.import_framework(config.framework)
    if config.landlock:
        confine.load_landlock()
    filters = {
        allowed: confine.system_call_filter(allow_subprocess=allowed) for allowed in (False, True) if config.seccomp
    }
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"the zygote must have one thread to fork safely, not {threads}")
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"event": "ready"}).encode())
    Zygote(control, config, filters, own_pid_namespace, starter).run()
