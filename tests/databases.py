"""A PostgreSQL server of the tests' own on 127.0.0.1, from the packages of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

QUICK = "-c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c unix_socket_directories=''"


def server_programs() -> Path | None:
    """Return the folder with `initdb` and `pg_ctl`, if there is one."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """Run a server until the block ends; yield the URL of its database, whose password is `sesame`."""
    folder = Path(tempfile.mkdtemp(prefix="webbench-postgres-"))
    data, log, secret = folder / "data", folder / "log", folder / "secret"
    secret.write_text("sesame", "utf-8")
    port = _free_port()
    owner: dict[str, Any] = {"cwd": folder}
    if os.getuid() == 0:  # the server refuses to run as root
        owner |= {"user": "nobody", "group": "nogroup"}
        for path in (folder, secret):
            shutil.chown(path, "nobody", "nogroup")
    initdb = (programs / "initdb", "-D", data, "-U", "bench", "-A", "scram-sha-256", f"--pwfile={secret}", "-N")
    _run(*initdb, "-E", "UTF8", "--locale=C", **owner)
    start = f"-c listen_addresses=127.0.0.1 -p {port} {QUICK}"
    _run(programs / "pg_ctl", "-D", data, "-w", "-l", log, "-o", start, "start", **owner)
    try:
        yield f"postgresql://bench:sesame@127.0.0.1:{port}/postgres"
    finally:
        _run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop", **owner)
        shutil.rmtree(folder)


def _run(*command: str | Path, **options: Any) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
