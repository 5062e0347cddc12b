"""`webbench compare`."""

from __future__ import annotations

import click

from pytest_webbench.commands import fail, report_dir_option, run_folder, terminal_width
from pytest_webbench.records import RecordError
from pytest_webbench.reports.files import comparison_json
from pytest_webbench.reports.tables import change_table
from pytest_webbench.reports.text import text_table
from pytest_webbench.runs import open_runs
from pytest_webbench.statistics.comparison import ModelComparison, PairingError, compare_samples
from pytest_webbench.statistics.metrics import METRICS

SHOWN = ("functional_pass_at_1", "pass_at_1", "points", "web_codebleu")


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--a-model", metavar="NAME", help="Which model of A to compare with.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@report_dir_option
def command(a: str, b: str, a_model: str | None, as_json: bool, report_dir: str) -> None:
    """Compare two runs, paired by case: what changed from A to B, with 95 % intervals and flips.

    A and B are run folders, ids of runs, or 'latest'. Models pair by name; one model on each side pairs anyway.
    """
    try:
        first, second = (open_runs([run_folder(run, report_dir)]).samples() for run in (a, b))
        change = compare_samples(first, second, a_model)
    except (RecordError, PairingError) as error:
        fail(str(error))
    if as_json:
        click.echo(comparison_json(change), nl=False)
        return
    for text in change.differences:
        click.secho(f"not the same: {text}", fg="yellow")
    for model in change.models:
        click.echo("\n".join(_lines(model)))


def _lines(model: ModelComparison) -> list[str]:
    width = terminal_width()
    name = model.b if model.a == model.b else f"{model.a} -> {model.b}"
    metrics = {metric: {"difference": model.overall[metric]} for metric in METRICS if model.overall[metric].cases}
    shown = tuple(metric for metric in SHOWN if metric in metrics)
    changed = {
        case: of_case
        for case, of_case in model.by_case.items()
        if any(of_case[metric].better or of_case[metric].worse for metric in shown if metric != "web_codebleu")
    }
    groups = (model.by_framework, model.by_category)
    return [
        f"{name} (differences B - A on the cases that both have)",
        text_table(change_table("", metrics, ("difference",)), width),
        *("\n" + text_table(change_table("", group, shown), width) for group in groups if group),
        "",
        f"cases that changed: {len(changed)} of {len(model.by_case)}",
        *([text_table(change_table("", changed, shown), width)] if changed else []),
    ]
