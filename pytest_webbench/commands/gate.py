"""`webbench gate`."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_webbench.baseline import BaselineError, read_baseline
from pytest_webbench.commands import fail, report_dir_option, run_folder
from pytest_webbench.gate import Gate, GateError, Kind, Rule, check_rules, parse_rule
from pytest_webbench.records import RecordError
from pytest_webbench.reports.files import append_step_summary, write_run_reports
from pytest_webbench.reports.markdown import summary_markdown
from pytest_webbench.reports.terminal import changes, verdict_lines
from pytest_webbench.runs import Runs, open_runs
from pytest_webbench.statistics.comparison import Side, sides
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import summarise_samples

LIMIT = "METRIC[FRAMEWORK]=VALUE"


@click.command("gate")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--baseline", help="benchmark.json, run folder, records.jsonl, or the id of a run.")
@click.option("--baseline-model", metavar="NAME", help="Which model of the baseline to compare with.")
@click.option("--baseline-common", is_flag=True, help="Compare on what both have, although settings differ.")
@click.option("--max-drop", multiple=True, metavar=LIMIT, help="Largest accepted drop (repeatable).")
@click.option("--fail-under", multiple=True, metavar=LIMIT, help="Smallest accepted value (repeatable).")
@report_dir_option
@click.pass_context
def command(
    context: click.Context,
    runs: tuple[str, ...],
    baseline: str | None,
    baseline_model: str | None,
    baseline_common: bool,
    max_drop: tuple[str, ...],
    fail_under: tuple[str, ...],
    report_dir: str,
) -> None:
    """Hold finished runs against limits; several RUNs are judged as one. No model is called.

    Exit 0: passed. 10: failed. 11: inconclusive. 4: cannot be used as asked.
    """
    try:
        rules = _rules(max_drop, fail_under, baseline is not None)
        found = open_runs([run_folder(run, report_dir) for run in runs])
        if found.shard is not None:
            fail(f"run {found.run_id} is shard {found.shard} only; give all shards of the run")
        samples = found.samples()
        pairs = None if baseline is None else _paired(baseline, report_dir, samples, baseline_model)
    except (BaselineError, GateError, RecordError) as error:
        fail(str(error))
    gate = Gate(rules, pairs, baseline_common)
    if differences := gate.differences(samples):
        fail(f"baseline {baseline}: not like this run; --baseline-common compares on what both have:\n  "
             + "\n  ".join(differences))  # fmt: skip
    _tell(context, gate, found, samples)


def _tell(context: click.Context, gate: Gate, found: Runs, samples: Samples) -> None:
    verdict = gate.judge(samples)
    if verdict is None:
        return
    for line in (*changes(gate.changes(samples)), *verdict_lines(verdict)):
        click.echo(line)
    summary = summarise_samples(found.run_id, samples)
    if len(found.folders) == 1:
        write_run_reports(found.folders[0], summary, samples, verdict, records=list, only=("json", "markdown"))
    append_step_summary(summary_markdown(summary, verdict))
    context.exit(verdict.exit_status)


def _rules(max_drop: tuple[str, ...], fail_under: tuple[str, ...], has_baseline: bool) -> tuple[Rule, ...]:
    limits: list[tuple[Kind, str]] = [("max-drop", text) for text in max_drop]
    limits += [("fail-under", text) for text in fail_under]
    if not limits:
        raise GateError("nothing to judge by: give --max-drop or --fail-under")
    rules = tuple(parse_rule(kind, text) for kind, text in limits)
    check_rules(rules, has_baseline)
    return rules


def _paired(baseline: str, report_dir: str, samples: Samples, named: str | None) -> dict[str, Side]:
    path = Path(baseline)
    path = path if path.exists() else run_folder(baseline, report_dir)
    return read_baseline(path).paired(list(sides(samples)), named)
