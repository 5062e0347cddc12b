"""`webbench cases`."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_webbench.cases import CaseError, load_cases
from pytest_webbench.commands import fail, terminal_width
from pytest_webbench.reports.cases import case_table, category_table, weakness_table
from pytest_webbench.reports.markdown import markdown_table
from pytest_webbench.reports.tables import Table
from pytest_webbench.reports.text import text_table

BEGIN = "<!-- tables: written by webbench cases --update -->"
END = "<!-- end of tables -->"


@click.command("cases")
@click.argument("path", default="cases", type=click.Path(path_type=Path))
@click.option("--markdown", is_flag=True, help="Print markdown.")
@click.option("--update", type=click.Path(path_type=Path), help="Renew the tables between the marks in this file.")
def command(path: Path, markdown: bool, update: Path | None) -> None:
    """What the cases at and below PATH cover: categories by framework and difficulty, weaknesses, and each case."""
    try:
        cases = load_cases(path)
    except CaseError as error:
        fail(str(error))
    if not cases:
        fail(f"no definition.toml and no dataset.json below {path}")
    tables = (category_table(cases), weakness_table(cases), case_table(cases))
    if update is not None:
        _renew(update, tables)
    elif markdown:
        click.echo(_markdown(tables))
    else:
        for table in tables:
            click.echo(f"{table.title}\n{text_table(table, terminal_width())}\n")


def _markdown(tables: tuple[Table, ...]) -> str:
    return "\n\n".join(map(markdown_table, tables))


def _renew(file: Path, tables: tuple[Table, ...]) -> None:
    text = file.read_text("utf-8") if file.is_file() else ""
    head, begun, rest = text.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not (begun and ended):
        fail(f"{file}: expected the lines {BEGIN} and {END}, between which the tables go")
    file.write_text(f"{head}{BEGIN}\n\n{_markdown(tables)}\n\n{END}{tail}", "utf-8")
