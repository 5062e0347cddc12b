"""`benchmark.json`, which accumulates the scores of every model over runs, and `comparison_table.csv` from it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.model_table import score_key
from pytest_webbench.records import Record
from pytest_webbench.statistics.summary import METRICS, partition, summarise_group

BENCHMARK = "benchmark.json"
COMPARISON = "comparison_table.csv"
FIRST_COLUMNS = ("gemini", "llama", "mixtral", "agent")


class BenchmarkError(Exception):
    """A `benchmark.json` that cannot be read."""


def read_benchmark(path: Path) -> list[dict[str, Any]]:
    """Read a `benchmark.json`; a file that is not there is an empty one."""
    if not path.exists():
        return []
    try:
        entries = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{path}: not a readable benchmark.json: {error}") from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and "id" in entry for entry in entries):
        raise BenchmarkError(f"{path}: expected an array of entries with an id")
    return entries


def accumulate(
    entries: Sequence[Mapping[str, Any]],
    cases: Sequence[Case],
    records: Sequence[Record],
    built_in: Sequence[str],
    template: str,
) -> list[dict[str, Any]]:
    """Return the entries with the scores of these records in place of the same models' earlier ones.

    `built_in` holds the keys of the built-in models: each is listed, null until measured. Only records of
    `template`, the default one, count.
    """
    merged = {entry["id"]: dict(entry) for entry in entries}
    by_case = partition(
        [record for record in records if record.prompt_template == template], lambda record: record.case_id
    )
    for case in cases:
        scores: dict[str, Any] = dict.fromkeys(built_in) | merged.get(case.id, {}).get("scores", {})
        for alias, group in partition(by_case.get(case.id, []), lambda record: record.model).items():
            scores = _replace(scores, alias, group)
        merged[case.id] = {
            "id": case.id,
            "domain": case.domain,
            "language": case.language,
            "framework": case.framework,
            "prompt": case.prompt,
            "reference_code": case.reference,
            "scores": scores,
        }
    return [merged[case_id] for case_id in sorted(merged)]


def write_benchmark(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write `benchmark.json` in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
    part.replace(path)


def comparison_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return `comparison_table.csv`: one row a case, Web-CodeBLEU and static Pass@1 of each model."""
    names = _column_names(entries)
    header = ["id", "framework"]
    for name in names:
        header += [f"{name}_codebleu"] + ([] if name == "agent" else [f"{name}_pass1"])
    rows = [[entry["id"], entry["framework"], *_cells(entry, names)] for entry in entries]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _replace(scores: dict[str, Any], alias: str, records: Sequence[Record]) -> dict[str, Any]:
    row = summarise_group((alias,), records)
    if row.n == 0:
        return scores
    first = records[0]
    kept = {key: None if score and score["alias"] == alias else score for key, score in scores.items()}
    key = score_key(first.provider, first.model_id)
    if kept.get(key) is not None:
        key = f"{key} ({alias})"
    kept[key] = {
        **{name: row.metrics[name].value for name in METRICS},
        "n": row.n,
        "coverage": row.coverage,
        "alias": alias,
        "run_id": first.run_id,
        "prompt_template": first.prompt_template,
        "parameters": first.parameters,
        "case_version": first.case_version,
    }
    return kept


def _column_names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    measured = {score["alias"] for entry in entries for score in entry["scores"].values() if score}
    return [*FIRST_COLUMNS, *sorted(measured - set(FIRST_COLUMNS))]


def _cells(entry: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    by_alias = {score["alias"]: score for score in entry["scores"].values() if score}
    cells: list[Any] = []
    for name in names:
        score = by_alias.get(name, {})
        cells.append(_cell(score.get("web_codebleu")))
        if name != "agent":
            cells.append(_cell(score.get("pass_at_1")))
    return cells


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
