"""`webbench rescore`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path

import click

from pytest_webbench.cases import CaseError, load_cases
from pytest_webbench.commands import LEVELS, fail, report_dir_option, run_folder, store_option, terminal_width
from pytest_webbench.completions.store import StoreError, is_there, open_store
from pytest_webbench.evaluation import Evaluation
from pytest_webbench.ledger import read_run, sample_id
from pytest_webbench.records import Record, RecordError
from pytest_webbench.reports.files import keep_asked, write_run_reports
from pytest_webbench.reports.terminal import flags, leaderboard
from pytest_webbench.rescoring.judging import Engine, Judging, JudgingFailed
from pytest_webbench.rescoring.run import Rescoring, RescoringError, prepare, rescore
from pytest_webbench.runs import open_runs
from pytest_webbench.settings import Tier
from pytest_webbench.statistics.summary import summarise_samples

NO_RAY = 'engine ray: install it on every node: pip install "pytest-webbench[ray]"'


@click.command("rescore")
@click.argument("run", default="latest")
@click.option("--cases", default="cases", show_default=True, help="The cases as they are now.")
@click.option("--tiers", type=click.Choice(["static", "functional", "secure"]), help="Default: those of the run.")
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True, help="Who judges.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count(), show_default="cores", help="Processes.")
@click.option("--sandbox", "level", type=click.Choice(LEVELS), help="Default: that of the run.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the new run.")
@store_option
@report_dir_option
def command(
    run: str,
    cases: str,
    tiers: Tier | None,
    engine: str,
    jobs: int,
    level: str | None,
    out: Path | None,
    store: str,
    report_dir: str,
) -> None:
    """Judge the stored completions of RUN again, with the cases and the code of today; no model is asked.

    The result is a run of its own beside RUN. With --engine ray the work is spread over the Ray cluster of
    RAY_ADDRESS, or over processes of this machine where there is none; every node needs this package.
    """
    judge = _engine(engine)
    try:
        data = read_run(run_folder(run, report_dir))
        rescoring = prepare(data, load_cases(cases))
        if not is_there(store):
            fail(f"{store}: no such completion store")
        before = data.description["settings"]
        judging = Judging(tiers or before["tier"], level or before["sandbox"])
        folder = out or _free(data.folder)
        if folder.exists() and any(folder.iterdir()):
            fail(f"--out: {folder} is not empty; choose another folder")
        with open_store(store) as opened:
            _judge_all(rescoring, rescore(rescoring, opened, judge, judging, jobs, folder))
        samples = open_runs([folder]).samples()
        summary = summarise_samples(folder.name, samples)
        keep_asked(data.folder, folder, list(rescoring.cases.values()))
        write_run_reports(folder, summary, samples, records=lambda: read_run(folder).records)
    except (CaseError, RecordError, RescoringError, StoreError) as error:
        fail(str(error))
    except JudgingFailed as error:
        fail(f"judging broke off, what was judged is in {os.path.relpath(folder)}: {error}")
    click.echo(leaderboard(summary, terminal_width()))
    for line in flags(summary):
        click.secho(line, fg="yellow")
    click.echo(_changed(data.records, read_run(folder).records))
    click.echo(f"wrote {os.path.relpath(folder)}")


def _engine(name: str) -> Engine:
    if name == "local":
        from pytest_webbench.rescoring.local import judged_locally

        return judged_locally
    if find_spec("ray") is None:
        fail(NO_RAY)
    from pytest_webbench.rescoring.on_ray import judged_on_ray

    return judged_on_ray


def _free(folder: Path) -> Path:
    """Return a folder beside `folder` that does not exist: `<run id>-rescored`, `-rescored-2` and so on."""
    names = (f"{folder.name}-rescored{suffix}" for suffix in chain([""], (f"-{number}" for number in count(2))))
    return next(path for name in names if not (path := folder.with_name(name)).exists())


def _judge_all(rescoring: Rescoring, evaluations: Iterable[Evaluation]) -> None:
    with click.progressbar(evaluations, length=rescoring.count, label="judging", show_pos=True) as bar:
        for _ in bar:
            pass


def _changed(before: Iterable[Record], after: Iterable[Record]) -> str:
    was = {sample_id(record): record.status for record in before}
    changes = Counter((was[sample_id(one)], one.status) for one in after if was.get(sample_id(one)) != one.status)
    told = ", ".join(f"{number} from {old} to {new}" for (old, new), number in sorted(changes.items()))
    return f"verdicts that changed: {told or 'none'}"
