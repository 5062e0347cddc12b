"""`webbench import`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from pytest_webbench.cases import Case, CaseError, load_cases
from pytest_webbench.commands import fail, store_option
from pytest_webbench.completions.store import Stored, StoreError, open_store
from pytest_webbench.completions.transfer import TransferError, parsed, put_all, reply
from pytest_webbench.evaluation import Sample
from pytest_webbench.model_table import TableError, imported_entry, load_table
from pytest_webbench.models import ConfigError
from pytest_webbench.options import DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.plans import endpoint_of, plan_of
from pytest_webbench.prompts import load_template, template_names
from pytest_webbench.selection import Model, model_by_table, read_environment

Replies = dict[str, list[str]]


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", help="FILE holds replies made elsewhere by this model, not an exported store.")
@click.option("--prompt", "template", default=DEFAULT_TEMPLATE, show_default=True, help="Template they answer.")
@click.option("--cases", default="cases", show_default=True, help="Where the cases are.")
@click.option("--table", help="Models table; default as for pytest: webbench.toml, pyproject.toml.")
@click.option("--replace", is_flag=True, help="Overwrite stored completions that differ.")
@store_option
def command(
    file: Path, model: str | None, template: str, cases: str, table: str | None, replace: bool, store: str
) -> None:
    """Put completions into the store: an exported store, or replies made elsewhere.

    FILE is what 'webbench export' wrote. With --model it is a JSON object {case id: [reply, ...]}; score the
    replies without a key by 'pytest --model NAME --webbench-offline'. A NAME that is in no models table needs
    no entry; one that is gets the replies as completions of that model with its settings of the table.
    """
    try:
        if model is None:
            with open_store(store) as opened, file.open(encoding="utf-8") as lines:
                click.echo(f"{file}: {put_all(opened, parsed(lines), replace=replace)}")
            return
        replies = _replies(file)
        known = _cases(cases, replies)
        items = list(_completions(_model(model, replies, table), template, known, replies))
        with open_store(store) as opened:
            click.echo(f"{file}: {put_all(opened, items, replace=replace)}")
    except (CaseError, ConfigError, SettingsError, StoreError, TableError, TransferError) as error:
        fail(str(error))
    most = max(map(len, replies.values()), default=0)
    prompt = "" if template == DEFAULT_TEMPLATE else f" --webbench-prompt {template}"
    click.echo(f"score them: pytest {cases} --model {model} --webbench-samples {most}{prompt} --webbench-offline")


def _replies(file: Path) -> Replies:
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        fail(f"{file}: not readable as JSON: {error}")
    if not isinstance(data, dict):
        fail(f"{file}: expected an object {{case id: [reply, ...]}}; an exported store is imported without --model")
    for name, replies in data.items():
        if not isinstance(replies, list) or not all(isinstance(text, str) for text in replies):
            fail(f"{file}: {name}: expected an array of replies (texts)")
    return data


def _cases(path: str, replies: Replies) -> dict[str, Case]:
    """Return the cases that the replies name, by id or name."""
    cases = load_cases(path)
    known = {case.name: case for case in cases} | {case.id: case for case in cases}
    unknown = [name for name in replies if name not in known]
    if unknown:
        fail(f"no case {', '.join(map(repr, unknown[:5]))} in {path}; ids are such as {', '.join(sorted(known)[:3])}")
    return known


def _model(alias: str, replies: Replies, table: str | None) -> Model:
    root = Path.cwd()
    entry = load_table(root, table).get(alias) or imported_entry(alias, max(map(len, replies.values()), default=0) or 1)
    return model_by_table(alias, entry, read_environment(root))


def _completions(model: Model, template: str, cases: dict[str, Case], replies: Replies) -> Iterator[Stored]:
    if template not in template_names():
        fail(f"--prompt: unknown template {template!r}; known: {', '.join(template_names())}")
    asked = load_template(template)
    endpoint, now = plan_of(model, {}, Path.cwd()).endpoint, datetime.now(UTC).isoformat(timespec="seconds")
    for name, texts in replies.items():
        case = cases[name]
        for index, text in enumerate(texts):
            sample = Sample("", case, model, endpoint_of(endpoint, model, case), asked, index)
            yield reply(sample.request, text, now)
