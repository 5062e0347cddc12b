"""`webbench metrics`."""

from __future__ import annotations

import click

from pytest_webbench.commands import fail
from pytest_webbench.metrics.command import UnreadableSource, compare_files, render_json, render_table


@click.command("metrics")
@click.argument("reference")
@click.argument("hypothesis")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(reference: str, hypothesis: str, as_json: bool) -> None:
    """Web-CodeBLEU and its parts for two files; one of them may be - (standard input).

    Similarity of HYPOTHESIS to REFERENCE, never its correctness.
    """
    try:
        score = compare_files(reference, hypothesis)
    except UnreadableSource as error:
        fail(str(error))
    click.echo(render_json(score) if as_json else render_table(score))
