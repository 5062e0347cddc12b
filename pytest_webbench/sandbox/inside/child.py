"""From fork to serving: confine this process, then load the generated app and serve it."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pytest_webbench.sandbox import confine
from pytest_webbench.sandbox.contract import AppSource, Status
from pytest_webbench.sandbox.inside import loader, serve

if TYPE_CHECKING:
    from pytest_webbench.sandbox.inside.zygote import Config

_LISTENER, _REPORT = 3, 4
_PROGRAMS = ("/bin", "/usr/bin", "/usr/local/bin", "/usr/lib", "/lib", "/lib64")


@dataclass(frozen=True, slots=True)
class Work:
    """One launch: `fresh` says whether the working folder is new and the files are still to be written."""

    source: AppSource
    folder: str
    limits: Mapping[str, float]
    fresh: bool
    starter: bytes


@dataclass(frozen=True, slots=True)
class Descriptors:
    """The descriptors that an app process starts with."""

    listener: int
    log: int
    report: int


def run(
    work: Work, config: Config, filters: Mapping[bool, confine.SystemCallFilter], descriptors: Descriptors
) -> NoReturn:
    """Become the app: confine, load, serve, exit. An error before the app's own code goes to the report."""
    report = descriptors.report
    try:
        _arrange_descriptors(descriptors)
        report = _REPORT
        home = _enter_folder(work, config)
        _arrange_python(work, home)
        _confine(work, config, filters, home)
    except BaseException:
        os.write(report, traceback.format_exc().encode())
        os._exit(1)
    os.close(_REPORT)
    os._exit(_live(work))


def _live(work: Work) -> int:
    try:
        if work.fresh:
            _write_files(work.source)
        app = loader.load(work.source, work.starter)
        serve.serve(app, socket.socket(fileno=_LISTENER))
    except loader.NoApp as error:
        sys.stderr.write(f"no app: {error}\n")
        return Status.NO_APP
    except serve.StartupFailed:
        return Status.STARTUP_FAILED
    except BaseException:
        traceback.print_exc()
        return Status.RAISED
    return Status.STOPPED_SERVING


def _arrange_descriptors(descriptors: Descriptors) -> None:
    """Keep standard streams (null, log, log), the listener and the report; close everything else."""
    os.setsid()
    safe = [
        fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 200)
        for descriptor in (descriptors.listener, descriptors.log, descriptors.report)
    ]
    null = os.open("/dev/null", os.O_RDONLY)
    for source, target in zip((null, safe[1], safe[1], safe[0], safe[2]), range(5), strict=True):
        os.dup2(source, target, inheritable=target < _LISTENER)
    os.closerange(_REPORT + 1, 1 << 16)


def _enter_folder(work: Work, config: Config) -> str:
    home = work.folder
    if config.namespaces:
        home = confine.HOME
        confine.unshare(confine.CLONE_NEWNS)
        confine.keep_mounts_private()
        confine.bind_folder(f"{work.folder}/work", home)
        for path in config.below_tmp:
            os.makedirs(f"{work.folder}{path}", exist_ok=True)
            confine.bind_folder(path, f"{work.folder}{path}")
        confine.bind_folder(f"{work.folder}/tmp", "/tmp")
        confine.detach(confine.BOX)
        confine.detach("/proc")
    os.chdir(home)
    return home


def _write_files(source: AppSource) -> None:
    for name, text in source.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def _arrange_python(work: Work, home: str) -> None:
    """Give the app streams, signals, an environment, a search path and arguments of its own."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - lives as long as the process
    sys.stdout, sys.stderr = _text_stream(1), _text_stream(2)
    vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin",
        HOME=home,
        TMPDIR=home,
        LANG="C.UTF-8",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
    )
    os.environ.update(work.source.env)
    tempfile.tempdir = None
    sys.argv[:] = [work.source.entry]
    sys.path[:0] = dict.fromkeys([home, str(Path(home, work.source.entry).parent)])


def _text_stream(descriptor: int) -> io.TextIOWrapper:
    raw = open(descriptor, "wb", buffering=0, closefd=False)  # noqa: SIM115 - lives as long as the process
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _confine(work: Work, config: Config, filters: Mapping[bool, confine.SystemCallFilter], home: str) -> None:
    confine.set_process_flag(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
    confine.set_limits(work.limits)
    if config.app_capabilities is not None:
        confine.set_capabilities(config.app_capabilities)
    confine.set_process_flag(confine.PR_SET_NO_NEW_PRIVS, 1)
    if config.landlock:
        writable = [home, "/tmp"] if config.namespaces else [home]
        programs = [*_PROGRAMS, *config.programs] if work.source.allow_subprocess else []
        confine.wall_off_files(config.readable, writable, programs)
    if config.seccomp:
        filters[work.source.allow_subprocess].load()
