"""Hosts made of network and mount namespaces of this machine, each with an ssh server and files of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

TOOLS = ("ip", "unshare", "ssh", "ssh-keygen", "/usr/sbin/sshd")
CONFIG = """\
ListenAddress {address}:22
HostKey {keys}/host
AuthorizedKeysFile {keys}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
"""
SSH = (
    "-q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=3 "
    "-o ServerAliveInterval=1 -o ServerAliveCountMax=3"
)
# The host's own copy of the project hides the controller's, and its store and reports are nowhere to be seen.
BOOT = """\
set -e
copy=$(mktemp -d)
cp -r "$1"/. "$copy"
mount -t tmpfs tmpfs "$1"
cp -r "$copy"/. "$1"
ip link set lo up
exec /usr/sbin/sshd -D -e -f "$2"
"""


def why_no_hosts() -> str:
    """Return what this machine lacks for hosts of its own."""
    if os.getuid() != 0:
        return "namespaces of other users' networks need root"
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"needs {', '.join(lacking)}" if lacking else ""


@dataclass(frozen=True, slots=True)
class Host:
    """A host that is up: its network link, its ssh server, and what pytest-xdist's `--tx` takes to use it."""

    address: str
    link: str
    server: psutil.Process
    tx: str

    def pull_the_plug(self) -> None:
        """End the host's network and all its processes at once."""
        _ip(f"link set {self.link} down")
        self.end()

    def end(self) -> None:
        """Kill the ssh server and all that came from it."""
        for process in (self.server, *self.server.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


@contextmanager
def host(number: int, project: Path, keys: Path) -> Iterator[Host]:
    """Run a host that has a copy of `project` at the same path; `keys` is a folder for its ssh keys."""
    net = os.getpid() % 60 * 4 + number  # tests of other processes have hosts too
    name, near, address = f"wb{net}", f"10.77.{net}.1", f"10.77.{net}.2"
    _make_keys(keys)
    config = keys / f"sshd-{number}"
    config.write_text(CONFIG.format(address=address, keys=keys), "utf-8")
    Path("/run/sshd").mkdir(exist_ok=True)
    _ip(f"netns add {name}")
    try:
        _ip(f"link add {name}a type veth peer name {name}b netns {name}")
        _ip(f"addr add {near}/24 dev {name}a")
        _ip(f"link set {name}a up")
        _ip(f"-n {name} addr add {address}/24 dev {name}b")
        _ip(f"-n {name} link set {name}b up")
        boot = ("ip", "netns", "exec", name, "unshare", "-m", "sh", "-c", BOOT, "boot", str(project), str(config))
        with subprocess.Popen(boot, stderr=subprocess.DEVNULL) as server:
            _wait_for(address)
            ssh = f"{SSH} -i {keys}/user root@{address}"
            up = Host(
                address, f"{name}a", psutil.Process(server.pid), f"ssh={ssh}//python={sys.executable}//chdir={project}"
            )
            yield up
            up.end()
    finally:
        subprocess.run(["ip", "link", "del", f"{name}a"], stderr=subprocess.DEVNULL, check=False)
        _ip(f"netns del {name}")


def _make_keys(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in ("host", "user"):
        if not (folder / name).exists():
            make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(make, check=True)


def _ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True)


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection((address, 22), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
