"""Finished runs, read together: shards of one run, or runs of several models, as if they had been one."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from pytest_webbench.ledger import COMPLETIONS, RUN
from pytest_webbench.records import RECORDS, Record, RecordError, iterate_records
from pytest_webbench.reports.references import PROMPTS, REFERENCES, read_references
from pytest_webbench.shards import Shard, parse_shard
from pytest_webbench.statistics.samples import Samples

SHOWN = 3
Cell = tuple[str, str, str]
"""Case name, model, template."""


@dataclass(frozen=True, slots=True)
class Runs:
    """One or several run folders; `description` is their `run.json`, merged."""

    folders: tuple[Path, ...]
    description: Mapping[str, Any]

    @property
    def shard(self) -> str | None:
        """Which part of a run this is, such as 2/4; None for a whole."""
        shard: str | None = self.description.get("shard")
        return shard

    @property
    def run_id(self) -> str:
        """The run's id; of several a name made from theirs."""
        return str(self.description["run_id"])

    def records(self) -> Iterator[Record]:
        """Yield what the folders hold, in file order."""
        return chain.from_iterable(iterate_records(folder) for folder in self.folders if (folder / RECORDS).exists())

    def samples(self) -> Samples:
        """Return one row a sample; expected ones without a record are lost."""
        return Samples.of(self.records(), self.description)

    def write_merged(self, folder: Path) -> None:
        """Write the runs into one folder that can be read like any other run."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RUN).write_text(_json(self.description), "utf-8")
        for name in (RECORDS, COMPLETIONS):
            with (folder / name).open("wb") as merged:
                for part in self.folders:
                    if (part / name).exists():
                        with (part / name).open("rb") as lines:
                            shutil.copyfileobj(lines, merged)
        prompts = {json.dumps(prompt): None for part in self.folders for prompt in _prompts(part)}
        (folder / PROMPTS).write_text(_json([json.loads(prompt) for prompt in prompts]), "utf-8")
        references = {case: text for part in self.folders for case, text in read_references(part).items()}
        (folder / REFERENCES).write_text(_json(references), "utf-8")


def open_runs(paths: Sequence[Path]) -> Runs:
    """Open run folders (or their `records.jsonl`) together.

    Raises `RecordError` naming what is wrong: an unreadable folder, a sample that two runs have, a shard or a
    sample that none has, a name that means two models, a case in two versions.
    """
    folders = tuple(path if path.is_dir() else path.parent for path in paths)
    described = [_description(folder) for folder in folders]
    if len(folders) == 1:
        return Runs(folders, described[0])
    _check_alike(described, "models", ("model_id", "provider", "parameters"))
    _check_alike(described, "cases", ("id", "version"))
    _check_shards(described)
    _check_samples(described)
    return Runs(folders, _merged(described))


def _prompts(folder: Path) -> list[Any]:
    found: list[Any] = json.loads((folder / PROMPTS).read_text("utf-8")) if (folder / PROMPTS).exists() else []
    return found


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _description(folder: Path) -> Mapping[str, Any]:
    try:
        description = from_json((folder / RUN).read_bytes(), cache_strings="all")
    except OSError as error:
        raise RecordError(f"{folder / RUN}: {error.strerror}") from None
    except ValueError as error:
        raise RecordError(f"{folder / RUN}: not valid JSON: {error}") from None
    if missing := [key for key in ("run_id", "created_at", "models", "cases", "expected") if key not in description]:
        raise RecordError(f"{folder / RUN}: has no {', '.join(missing)}")
    found: Mapping[str, Any] = description
    return found


def _check_alike(described: Sequence[Mapping[str, Any]], kind: str, keys: Sequence[str]) -> None:
    known: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for description in described:
        for name, about in description[kind].items():
            run, other = known.setdefault(name, (description["run_id"], about))
            for key in keys:
                if about.get(key) != other.get(key):
                    raise RecordError(
                        f"runs {run} and {description['run_id']} cannot be merged: {name} has {key} "
                        f"{other.get(key)} in one and {about.get(key)} in the other"
                    )


def _check_shards(described: Sequence[Mapping[str, Any]]) -> None:
    """Refuse shards that are not of one selection of cases, and a model of which some shard is not there."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for description in described:
        if description.get("shard"):
            for alias in description["models"]:
                found.setdefault(alias, []).append(description)
    for alias, shards in found.items():
        for other in shards[1:]:
            _check_selection(shards[0], other)
        shared = [parse_shard(str(description["shard"])) for description in shards]
        missing = [str(one) for one in _whole(shared) if one not in shared]
        if missing:
            raise RecordError(f"missing: shard {', '.join(missing)} of {alias}")


def _whole(shards: Sequence[Shard]) -> list[Shard]:
    """Return every shard of the runs that these are parts of."""
    counts = sorted({shard.count for shard in shards})
    return [Shard(index, count) for count in counts for index in range(1, count + 1)]


def _check_selection(a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
    runs = f"{a['run_id']} (shard {a['shard']}) and {b['run_id']} (shard {b['shard']})"
    for option, value in b.get("selection", {}).items():
        before = a.get("selection", {}).get(option)
        if before != value:
            raise RecordError(f"{runs} share out different cases: {option} {before} in one and {value} in the other")
    if only := sorted(a["cases"].keys() ^ b["cases"].keys()):
        _refuse(f"{runs} share out different cases, only one has", only)


def _check_samples(described: Sequence[Mapping[str, Any]]) -> None:
    seen: dict[Cell, set[int]] = {}
    twice: list[str] = []
    for description in described:
        for case, model, template, sample in description["expected"]:
            indices = seen.setdefault((case, model, template), set())
            if sample in indices:
                twice.append(f"{case} {model} {template} sample-{sample} (again in {description['run_id']})")
            indices.add(sample)
    _refuse("in more than one run", twice)
    wanted = {alias: about.get("samples", 1) for one in described for alias, about in one["models"].items()}
    absent = [
        f"{case} {model} {template} sample-{index}"
        for (case, model, template), indices in seen.items()
        for index in sorted(set(range(wanted[model])) - indices)
    ]
    _refuse("in none of the runs", absent)


def _refuse(what: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise RecordError(f"{what}: {', '.join(names[:SHOWN])}{more}")


def _merged(described: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ids = [str(description["run_id"]) for description in described]
    name = hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:8]
    return {
        **{key: value for key, value in described[0].items() if key != "shard"},
        "run_id": f"merged-{name}",
        "merged": ids,
        "created_at": max(str(description["created_at"]) for description in described),
        "models": {alias: about for one in described for alias, about in one["models"].items()},
        "cases": {case: about for one in described for case, about in one["cases"].items()},
        "expected": [identity for description in described for identity in description["expected"]],
    }
