"""`webbench scan`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from pytest_webbench.cases import Case, CaseError
from pytest_webbench.commands import fail, store_option, terminal_width
from pytest_webbench.completions.store import StoreError
from pytest_webbench.driver import Driver, opened
from pytest_webbench.exits import INTERRUPTED, PASSED, exit_status
from pytest_webbench.ledger import new_run_id
from pytest_webbench.models import ConfigError
from pytest_webbench.options import DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.records import Record
from pytest_webbench.reports.accumulated import BENCHMARK, BenchmarkError, read_benchmark
from pytest_webbench.reports.files import why_no_plots, write_asked, write_run_reports
from pytest_webbench.reports.scans import CHART, LEAST, NAMES, counted, scan_lines, scan_table, write_scan
from pytest_webbench.reports.terminal import narrowed
from pytest_webbench.reports.text import text_table
from pytest_webbench.run import load_selected_cases
from pytest_webbench.scan import Plan, drawn, every, hardest, named, parse_axes, samples_of, scan, settings_of
from pytest_webbench.selection import Model, Wishes, choose_templates, read_models
from pytest_webbench.settings import Settings, store_location
from pytest_webbench.statistics.scans import Point, ScanResult
from pytest_webbench.statistics.summary import summarise_samples

STATIC = ("pass_at_1", "web_codebleu")


@click.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@click.option("--model", "name", required=True, help="A name of the models table or PROVIDER:MODEL_ID.")
@click.option(
    "--grid",
    multiple=True,
    required=True,
    metavar="NAME=V1,V2,...",
    help="Values of a parameter (repeatable): temperature, top_p, max_tokens or one that the server knows. With "
    "--random also NAME=LOW..HIGH.",
)
@click.option("--random", "count", type=click.IntRange(min=1), help="Draw N settings instead of trying all.")
@click.option("--seed", type=int, default=0, show_default=True, help="What --random draws.")
@click.option("--case", "names", multiple=True, help="Case of the first stage (repeatable; default: the hardest).")
@click.option("--samples", type=int, help="Samples per case and setting (default: as for a run, 10).")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, help="Settings that go on.")
@click.option("--metric", type=click.Choice(list(NAMES)), default="points", show_default=True, help="What is best.")
@click.option("--prompt", "template", default=DEFAULT_TEMPLATE, show_default=True, help="Prompt template.")
@click.option("--templates", "folder", type=click.Path(path_type=Path), help="Folder of prompt templates of your own.")
@click.option("--models", "table", metavar="FILE", help="Models table; default as for pytest.")
@click.option("--budget", type=float, metavar="USD", help="Stop asking when the scan would spend more.")
@click.option("--offline", is_flag=True, help="Only stored completions.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked; ask nothing.")
@click.option("--sandbox", "level", default="auto", show_default=True, help="auto, full, kernel, weak or off.")
@click.option("--report-dir", default="reports", show_default=True, help="Where the run folder goes.")
@store_option
def command(
    paths: tuple[Path, ...],
    name: str,
    grid: tuple[str, ...],
    count: int | None,
    seed: int,
    names: tuple[str, ...],
    samples: int | None,
    top: int,
    metric: str,
    template: str,
    folder: Path | None,
    table: str | None,
    budget: float | None,
    offline: bool,
    dry_run: bool,
    level: str,
    report_dir: str,
    store: str,
) -> None:
    """Find the sampling parameters that suit a model, and say whether they can be told from chance.

    Every setting is tried on the hardest case (or on each --case), the --top best then on all cases at PATHS
    (default: 'cases'). Completions are kept in the store: the same scan again asks nothing, and one that was
    interrupted goes on. benchmark.json is not changed. With --metric pass_at_1 or web_codebleu nothing is executed.

    Exit 0: every sample was judged, 3: some was not, 4: usage or configuration error.
    """
    root = Path.cwd()
    try:
        (model,) = read_models(
            [name],
            root,
            store_location(root, store),
            Wishes(samples=samples),
            file=table,
            asks=not (offline or dry_run),
        )
        points = _points(grid, count, seed)
        plan, reason = _plan(model, points, _cases(paths), names, root / report_dir)
        templates = choose_templates([template], folder)
        if len(templates) > 1:
            fail("--prompt: a scan takes one template, since settings are compared on the same prompts")
        plan = replace(plan, template=template, top=top, metric=metric)
        settings = Settings(
            root=root,
            run_id=f"scan-{new_run_id()}",
            models=plan.models,
            templates=templates,
            store=store_location(root, store),
            report_dir=root / report_dir,
            tier="static" if metric in STATIC else "functional",
            budget=budget,
            offline=offline,
            dry_run=dry_run,
            sandbox=level,
        )
        sys.exit(_run(plan, settings, reason))
    except (BenchmarkError, CaseError, ConfigError, SettingsError, StoreError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        click.echo("\ninterrupted: the same command goes on where this one stopped", err=True)
        sys.exit(INTERRUPTED)


def _cases(paths: Sequence[Path]) -> tuple[Case, ...]:
    for path in paths:
        if not path.exists():
            fail(f"{path}: no such file or folder")
    cases = load_selected_cases([str(path) for path in paths or (Path("cases"),)], Path.cwd())
    if not cases:
        fail(f"no case below {', '.join(map(str, paths)) or 'cases'}")
    return tuple(cases)


def _points(grid: Sequence[str], count: int | None, seed: int) -> list[Point]:
    axes = parse_axes(grid)
    return every(axes) if count is None else drawn(axes, count, seed)


def _plan(
    model: Model, points: Sequence[Point], cases: tuple[Case, ...], names: Sequence[str], report_dir: Path
) -> tuple[Plan, str]:
    """Return the plan, and why its first stage has the cases that it has."""
    if names:
        first, reason = named(cases, names), "chosen"
    else:
        case, reason = hardest(cases, read_benchmark(report_dir / BENCHMARK), model.alias)
        first = (case,)
    return Plan(model, settings_of(model, points), first, cases), reason


def _run(plan: Plan, settings: Settings, reason: str) -> int:
    with opened(settings, plan.cases, {"scan": list(plan.points)}) as driver:
        _announce(plan, driver, reason)
        if settings.dry_run:
            return PASSED
        result = scan(plan, driver, _note)
        click.echo(err=True)
        records, samples = driver.run.ledger.all_records(), driver.taken()
        progress = driver.run.fetcher.progress()
    write_asked(settings.run_folder, driver.run.asked_cases, settings.templates)
    write_run_reports(
        settings.run_folder,
        summarise_samples(settings.run_id, samples),
        samples,
        records=lambda: records,
        only=("csv", "json", "html"),
    )
    write_scan(settings.run_folder, result)
    _show(result, records)
    click.echo(f"completions: {progress.stored} from the store, {progress.done} from models")
    click.echo(f"reports: {os.path.relpath(settings.run_folder)} ({why_no_plots() or CHART})")
    return exit_status(PASSED, records, failing_tests=False, report_only=True)


def _announce(plan: Plan, driver: Driver, reason: str) -> None:
    """Say what will be asked, at most."""
    settings, finalists = list(plan.points), list(plan.points)[: plan.top]
    stages = [(settings, plan.first, f"{', '.join(case.name for case in plan.first)} ({reason})")]
    if plan.later:
        stages.append((finalists, plan.later, "the best settings on the other cases"))
    if driver.sandbox:
        click.echo(driver.sandbox)
    for number, (aliases, cases, where) in enumerate(stages, start=1):
        samples = samples_of(plan, driver, aliases, cases)
        stored = len(driver.run.stored(samples)) if number == 1 else 0
        kept = f", {stored} of them stored" if stored else ""
        click.echo(
            f"stage {number}: {counted(len(aliases), 'setting')} x {counted(len(cases), 'case')} x "
            f"{counted(plan.model.samples, 'sample')} = {counted(len(samples), 'completion')}{kept}: {where}"
        )


def _note(record: Record) -> None:
    click.echo({"passed": ".", "model_failure": "F"}.get(record.status, "E"), nl=False, err=True)


def _show(result: ScanResult, records: Sequence[Record]) -> None:
    width = terminal_width()
    click.echo(text_table(narrowed(scan_table(result), width, LEAST), width))
    for line in scan_lines(result):
        click.echo(line)
    for message in dict.fromkeys(record.message for record in records if not record.judged):
        click.secho(f"not judged: {message}", fg="yellow")
