"""Subcommands of `webbench`, one module each, and what they share: runs by name, mistakes in one line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO, Any, NoReturn

import click

from pytest_webbench.exits import USAGE_ERROR

LEVELS = ("auto", "full", "kernel", "weak", "off")


class UserError(click.ClickException):
    """A mistake that the user can mend: one clear line, exit 4."""

    exit_code = USAGE_ERROR

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"error: {self.message}", err=True)


def fail(message: str) -> NoReturn:
    """End with one clear line."""
    raise UserError(message)


report_dir_option = click.option(
    "--report-dir", default="reports", show_default=True, help="Where RUN is looked for by id."
)


store_option = click.option(
    "--store",
    default=".webbench/completions.sqlite",
    show_default=True,
    help="The completion store: a file, or a postgresql:// URL.",
)


def run_folder(run: str, report_dir: str) -> Path:
    """Return the folder of a run given by path, by id or as `latest`."""
    for path in (Path(run), Path(report_dir) / "runs" / run, Path(report_dir) / run):
        if path.exists():
            return path.resolve() if path.is_dir() else path
    runs = Path(report_dir) / "runs"
    raise UserError(f"no run {run!r}: expected a run folder, the id of a run below {runs}, or 'latest'")


def terminal_width() -> int:
    """Return the columns of the terminal, or of a wide page where there is none."""
    return shutil.get_terminal_size((160, 24)).columns
