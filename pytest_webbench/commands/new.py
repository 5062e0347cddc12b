"""`webbench new`."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_webbench.commands import fail
from pytest_webbench.scaffold import new_case


@click.command("new")
@click.argument("name")
@click.option("--cases", "root", type=click.Path(path_type=Path), default=Path("cases"), show_default=True)
def command(name: str, root: Path) -> None:
    """Write the skeleton of a case, such as flask/my_case.

    It holds a small working example and comments that teach; 'webbench validate' refuses it until every TODO is filled
    in.
    """
    try:
        files = new_case(root, name)
    except FileExistsError:
        fail(f"{root / name} exists already")
    except (ValueError, OSError) as error:
        fail(str(error))
    for file in files:
        click.echo(f"wrote {file}")
    click.echo(f"fill in the TODOs, then: webbench validate {files[0].parent}")
