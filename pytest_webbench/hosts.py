"""Hosts that pytest-xdist reaches by ssh: where a lost one's worker is replaced.

xdist starts the replacement of a worker where the worker was. Where the host itself is gone that ends the
session; so the replacement is sent to a host that is there, or to this machine where none is left.
"""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass, field
from typing import Any

PATIENCE_SECONDS = 15


@dataclass(slots=True)
class Hosts:
    """The places of the workers that are up: the specification of each one's `--tx`, by its id."""

    _up: dict[str, Any] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)

    def up(self, node: Any) -> None:
        """Note a worker that is ready."""
        self._up[node.gateway.id] = node.gateway.spec

    def down(self, node: Any) -> str | None:
        """Note a worker that ended by mistake; return what is to be said where its host is gone."""
        spec = self._up.pop(node.gateway.id, node.gateway.spec)
        gone = spec.ssh
        if not gone or (gone not in self._gone and _answers(gone)):
            return None
        self._gone.add(gone)
        for worker, other in list(self._up.items()):
            if other.ssh == gone:
                del self._up[worker]
        refuge = next((other for other in self._up.values() if other.ssh), None)
        for name in ("ssh", "python", "chdir"):
            setattr(spec, name, getattr(refuge, name) if refuge else None)
        spec.popen = refuge is None
        host, to = shlex.split(gone)[-1], shlex.split(refuge.ssh)[-1] if refuge else "this machine"
        return f"webbench: host {host} is gone; its samples go to {to}"


def _answers(destination: str) -> bool:
    """Whether a host can still be reached; `destination` is what ssh takes."""
    command = ["ssh", "-n", "-o", "BatchMode=yes", *shlex.split(destination), "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
