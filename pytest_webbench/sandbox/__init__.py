"""Run generated apps walled in, and let trusted code talk to them over HTTP."""

from pytest_webbench.sandbox.contract import AppSource, Exit, Level, Limits, SandboxBroken, SandboxUnavailable, Start
from pytest_webbench.sandbox.host import Sandbox, open_sandbox
from pytest_webbench.sandbox.instance import Instance

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
