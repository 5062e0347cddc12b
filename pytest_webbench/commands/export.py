"""`webbench export`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from pytest_webbench.cases import Case, CaseError, load_cases
from pytest_webbench.commands import fail, report_dir_option, run_folder, store_option
from pytest_webbench.completions.store import StoreError, is_there, open_store
from pytest_webbench.completions.transfer import exported
from pytest_webbench.ledger import RunData, read_run
from pytest_webbench.options import DEFAULT_TEMPLATE
from pytest_webbench.prompts import load_template, prompts_json
from pytest_webbench.records import RecordError
from pytest_webbench.reports.conversations import chats
from pytest_webbench.reports.single_files import dataset_entries, result_files


@click.command("export")
@click.argument("out", default="-")
@click.option("--run", help="Only what this run used: a run folder, the id of a run, or 'latest'.")
@click.option("--conversations", is_flag=True, help="Write the chats of a run as JSON Lines, for fine-tuning.")
@click.option("--passed", is_flag=True, help="With --conversations: those of passed samples only.")
@click.option("--results", is_flag=True, help="Write <model>_single.json, <model>_pass1.json and agent_final.json.")
@click.option("--dataset", metavar="CASES", help="Write the cases below CASES as dataset.json and prompts.json.")
@store_option
@report_dir_option
def command(
    out: str,
    run: str | None,
    conversations: bool,
    passed: bool,
    results: bool,
    dataset: str | None,
    store: str,
    report_dir: str,
) -> None:
    """Write the completion store as JSON Lines to OUT (default: standard output).

    'webbench import' reads it elsewhere, under the same keys. With --conversations, --results or --dataset (OUT is
    a folder then) something else is written; the first two are of the latest run unless --run names one.
    """
    if sum((conversations, results, dataset is not None)) > 1:
        fail("one of --conversations, --results and --dataset, please")
    try:
        if dataset is not None:
            _write_dataset(Path(out if out != "-" else "."), load_cases(dataset))
        elif conversations:
            data = _run(run or "latest", report_dir)
            records = [record for record in data.records if record.status == "passed" or not passed]
            _write(out, (json.dumps(chat) + "\n" for chat in chats(data.folder, records)))
        elif results:
            _write_results(Path(out if out != "-" else "."), _run(run or "latest", report_dir))
        else:
            _write_store(out, store, run, report_dir)
    except (CaseError, RecordError, StoreError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write {error.filename}: {error.strerror}")


def _run(name: str, report_dir: str) -> RunData:
    return read_run(run_folder(name, report_dir))


def _write_store(out: str, store: str, run: str | None, report_dir: str) -> None:
    if not is_there(store):
        fail(f"{store}: no such completion store")
    keys = None
    if run is not None:
        keys = {record.completion_key for record in _run(run, report_dir).records if record.completion_key}
    with open_store(store) as opened:
        _write(out, exported(opened, keys))


def _write_dataset(folder: Path, cases: Sequence[Case]) -> None:
    if not cases:
        fail("--dataset: there is no case")
    folder.mkdir(parents=True, exist_ok=True)
    entries = json.dumps(dataset_entries(cases), indent=1, ensure_ascii=False) + "\n"
    _write(str(folder / "dataset.json"), [entries])
    _write(str(folder / "prompts.json"), [prompts_json(cases, [load_template(DEFAULT_TEMPLATE)])])


def _write_results(folder: Path, data: RunData) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in result_files(data).items():
        _write(str(folder / name), [_json(content)])


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _write(out: str, texts: Iterable[str]) -> None:
    if out == "-":
        sys.stdout.writelines(texts)
        return
    with Path(out).open("w", encoding="utf-8") as file:
        file.writelines(texts)
    click.echo(f"wrote {out}")
