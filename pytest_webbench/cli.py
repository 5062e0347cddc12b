"""The `webbench` command: everything that is not a test run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

import click

USAGE_ERROR = 4


class UserError(click.ClickException):
    """A mistake that the user can mend: one clear line, exit 4."""

    exit_code = USAGE_ERROR

    def show(self, file: object = None) -> None:
        """Print the line."""
        click.echo(f"error: {self.message}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pytest-webbench")
def main() -> None:
    """Look at runs, cases, models and metrics. Runs themselves are started by pytest:

    \b
        pytest --model local -m smoke          a real small model on this machine, no key
        pytest --model llama -n 4              a model of the models table
        pytest --model openai:gpt-5-mini       any OpenAI-compatible model
    """


@main.command()
@click.argument("run")
@click.argument("case")
@click.option("--model", help="Which model's answer, where the run has several.")
@click.option("--template", help="Which prompt template's answer, where the run has several.")
@click.option("--sample", type=int, default=0, show_default=True, help="Which sample.")
@click.option("--report-dir", default="reports", show_default=True, help="Where RUN is looked for.")
def show(run: str, case: str, model: str | None, template: str | None, sample: int, report_dir: str) -> None:
    """Show one answer: conversation, code, each check and why it failed.

    RUN is a run folder, the id of a run, or 'latest'; CASE is a case's name (flask/todo_crud) or id.
    """
    from pytest_webbench.ledger import read_run
    from pytest_webbench.records import RecordError
    from pytest_webbench.reports.answer import answer_text, find_answer, select

    try:
        data = read_run(run_folder(run, report_dir))
        record = select(data.records, case, model, template, sample)
        click.echo(answer_text(record, find_answer(data.folder, record)))
    except (RecordError, LookupError) as error:
        fail(str(error.args[0]))


@main.command()
@click.argument("run")
@click.option("--report-dir", default="reports", show_default=True, help="Where RUN is looked for.")
def report(run: str, report_dir: str) -> None:
    """Make the reports of a run again from its records, and say what is missing.

    RUN is a run folder, the id of a run, or 'latest'. `benchmark.json` is not changed.
    """
    from pytest_webbench.ledger import read_run
    from pytest_webbench.records import RecordError
    from pytest_webbench.reports.files import write_run_reports
    from pytest_webbench.reports.terminal import flags, leaderboard
    from pytest_webbench.statistics.summary import summarise

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


@main.command()
@click.argument("reference")
@click.argument("hypothesis")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def metrics(reference: str, hypothesis: str, as_json: bool) -> None:
    """Web-CodeBLEU and its parts for two files; one of them may be - (standard input)."""
    from pytest_webbench.metrics.command import UnreadableSource, compare_files, render_json, render_table

    try:
        score = compare_files(reference, hypothesis)
    except UnreadableSource as error:
        fail(str(error))
    click.echo(render_json(score) if as_json else render_table(score))


@main.command()
@click.option("--table", "file", help="Models table; default as for pytest: webbench.toml, pyproject.toml.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def models(file: str | None, as_json: bool) -> None:
    """The models table: what can be given to --model, which keys are present, prices."""
    from pytest_webbench.model_table import TableError, load_table
    from pytest_webbench.reports.models import models_table
    from pytest_webbench.settings import read_environment

    root = Path.cwd()
    try:
        table = load_table(root, file)
    except TableError as error:
        fail(str(error))
    environment = read_environment(root)
    if as_json:
        rows = {
            alias: {**entry.model_dump(), "key_present": bool(environment.get(entry.api_key_env or ""))}
            for alias, entry in table.items()
        }
        click.echo(json.dumps(rows, indent=1))
    else:
        click.echo(models_table(table, environment, terminal_width()))


def run_folder(run: str, report_dir: str) -> Path:
    """Return the folder of a run given by path, by id or as `latest`."""
    candidates = (Path(run), Path(report_dir) / "runs" / run, Path(report_dir) / run)
    for path in candidates:
        if path.exists():
            return path.resolve() if path.is_dir() else path
    fail(
        f"no run {run!r}: expected a run folder, the id of a run below {Path(report_dir) / 'runs'}, or 'latest'"
    )


def terminal_width() -> int:
    """Return the columns of the terminal, or of a wide page where there is none."""
    import shutil

    return shutil.get_terminal_size((160, 24)).columns


def fail(message: str) -> NoReturn:
    """End with one clear line."""
    raise UserError(message)
