"""Run generated apps walled in, and let trusted code talk to them over HTTP."""

from .contract import AppSource, Exit, Level, Limits, SandboxBroken, SandboxUnavailable, Start
from .host import Sandbox, open_sandbox
from .instance import Instance

__all__ = [
    "AppSource",
    "Exit",
    "Instance",
    "Level",
    "Limits",
    "Sandbox",
    "SandboxBroken",
    "SandboxUnavailable",
    "Start",
    "open_sandbox",
]
