"""`webbench show`."""

from __future__ import annotations

import click

from pytest_webbench.commands import fail, report_dir_option, run_folder
from pytest_webbench.ledger import read_run
from pytest_webbench.records import RecordError
from pytest_webbench.reports.answer import answer_text, find_answer, select


@click.command("show")
@click.argument("run")
@click.argument("case")
@click.option("--model", help="Which model's answer, where the run has several.")
@click.option("--template", help="Which prompt template's answer, where the run has several.")
@click.option("--sample", type=int, default=0, show_default=True, help="Which sample.")
@report_dir_option
def command(run: str, case: str, model: str | None, template: str | None, sample: int, report_dir: str) -> None:
    """Show one answer: conversation, code, each check and why it failed.

    RUN is a run folder, the id of a run, or 'latest'; CASE is a case's name (flask/todo_crud) or id.
    """
    try:
        data = read_run(run_folder(run, report_dir))
        record = select(data.records, case, model, template, sample)
    except (RecordError, LookupError) as error:
        fail(str(error.args[0]))
    click.echo(answer_text(record, find_answer(data.folder, record)))
