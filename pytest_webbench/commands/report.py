"""`webbench report`."""

from __future__ import annotations

import os

import click

from pytest_webbench.commands import fail, report_dir_option, run_folder, terminal_width
from pytest_webbench.ledger import read_run
from pytest_webbench.records import RecordError
from pytest_webbench.reports.files import write_run_reports
from pytest_webbench.reports.terminal import flags, leaderboard
from pytest_webbench.statistics.summary import summarise


@click.command("report")
@click.argument("run")
@report_dir_option
def command(run: str, report_dir: str) -> None:
    """Make the reports of a run again from its records, and say what is missing.

    RUN is a run folder, the id of a run, or 'latest'. benchmark.json is not changed.
    """
    try:
        data = read_run(run_folder(run, report_dir))
    except RecordError as error:
        fail(str(error))
    summary = summarise(data.description["run_id"], data.records)
    files = write_run_reports(data.folder, summary, data.records)
    click.echo(leaderboard(summary, terminal_width()))
    for line in flags(summary):
        click.secho(line, fg="yellow")
    click.echo(f"wrote {len(files)} files to {os.path.relpath(data.folder)}")
