"""`webbench models`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pytest_webbench.commands import fail, terminal_width
from pytest_webbench.model_table import TableError, load_table
from pytest_webbench.reports.models import models_table
from pytest_webbench.selection import read_environment


@click.command("models")
@click.option("--table", "file", help="Models table; default as for pytest: webbench.toml, pyproject.toml.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(file: str | None, as_json: bool) -> None:
    """The models table: what can be given to --model, which keys are present, prices."""
    root = Path.cwd()
    try:
        table = load_table(root, file)
    except TableError as error:
        fail(str(error))
    environment = read_environment(root)
    if not as_json:
        click.echo(models_table(table, environment, terminal_width()))
        return
    rows = {
        alias: {**entry.model_dump(), "key_present": bool(environment.get(entry.api_key_env or ""))}
        for alias, entry in table.items()
    }
    click.echo(json.dumps(rows, indent=1))
