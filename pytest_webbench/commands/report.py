"""`webbench report`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from pytest_webbench.commands import fail, report_dir_option, run_folder, terminal_width
from pytest_webbench.ledger import read_run
from pytest_webbench.records import RecordError
from pytest_webbench.reports.files import PARTS, why_no_plots, write_run_reports
from pytest_webbench.reports.terminal import flags, leaderboard
from pytest_webbench.reports.worst import FirstFailures, worst_cases
from pytest_webbench.runs import open_runs
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import summarise_samples

SLOW = 5.0


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="Write these reports only (repeatable).")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where several runs are merged to.")
@report_dir_option
def command(runs: tuple[str, ...], only: tuple[str, ...], out: Path | None, report_dir: str) -> None:
    """Make the reports of runs again from their records, and say what is missing.

    RUN is a run folder, the id of a run, or 'latest'. Several are read as one: shards of a run, or runs of
    several models; they are merged into a run folder of their own. benchmark.json is not changed.
    """
    started, failures = time.monotonic(), FirstFailures()
    try:
        found = open_runs([run_folder(run, report_dir) for run in runs])
        folder = found.folders[0] if len(runs) == 1 and out is None else out or Path(report_dir) / "runs" / found.run_id
        if folder != found.folders[0]:
            found.write_merged(folder)
        samples = Samples.of(failures.seen_in(found.records()), found.description)
        summary = summarise_samples(found.run_id, samples)
        files = write_run_reports(
            folder, summary, samples, records=lambda: read_run(folder).records, only=only or PARTS
        )
    except RecordError as error:
        fail(str(error))
    click.echo(leaderboard(summary, terminal_width()))
    for line in worst_cases(summary, failures.records.values(), terminal_width()):
        click.echo(line)
    for line in flags(summary):
        click.secho(line, fg="yellow")
    if found.shard is not None:
        click.secho(f"this is shard {found.shard} only; give all shards of the run for the whole", fg="yellow")
    took = time.monotonic() - started
    rate = f" ({len(samples)} samples in {took:.0f} s, {len(samples) / took:.0f}/s)" if took > SLOW else ""
    click.echo(f"wrote {len(files)} files to {os.path.relpath(folder)}{rate}")
    if reason := why_no_plots():
        click.echo(reason)
