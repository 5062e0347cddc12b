"""`webbench validate`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from pytest_webbench.cases import find_case_files
from pytest_webbench.commands import fail
from pytest_webbench.reports.validation import case_lines, total_line
from pytest_webbench.sandbox import SandboxUnavailable
from pytest_webbench.validation import CaseReport, Options, validate

INVALID = 1


@click.command("validate")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--repeat", type=click.IntRange(min=1), default=3, show_default=True, help="Runs of each reference.")
@click.option("--mutants", default="20", show_default=True, help="Mutants of each reference to try: a number or 'all'.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which mutants are chosen.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count(), show_default="cores", help="Processes.")
@click.option("--sandbox", "level", default="auto", show_default=True, help="auto, full, kernel, weak or off.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="File in which clean results are kept: cases that did not change are not tried again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(
    paths: tuple[Path, ...],
    repeat: int,
    mutants: str,
    seed: int,
    jobs: int,
    level: str,
    results: Path | None,
    as_json: bool,
) -> None:
    """Check cases: PATHs are folders or files, default 'cases'.

    A case is valid if its definition is complete, its reference passes everything in every repetition, every wrong
    solution is caught, every exploit succeeds against at least one wrong solution, and no app without any function
    passes. Mutants of the reference show how much the checks notice. Exit 0: all valid, 1: some are not.
    """
    files = find_case_files(list(paths or (Path("cases"),)))
    if not files:
        fail(f"no definition.toml below {', '.join(map(str, paths or (Path('cases'),)))}")
    options = Options(repeat=repeat, mutants=_number(mutants), seed=seed)
    progress = None if as_json else _tell
    try:
        found = validate(files, options=options, level=level, jobs=jobs, results=results, progress=progress)
    except (SandboxUnavailable, ValueError) as error:
        fail(str(error))
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        click.echo(total_line(found))
    sys.exit(0 if found.ok else INVALID)


def _number(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal():
        fail(f"--mutants: expected a number or 'all', found {text!r}")
    return int(text)


def _tell(report: CaseReport, done: int, total: int) -> None:
    head, *rest = case_lines(report)
    click.echo(f"[{done}/{total}] {head}")
    for line in rest:
        click.echo(line)
