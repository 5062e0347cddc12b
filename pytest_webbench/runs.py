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
from pytest_webbench.reports.references import REFERENCES, read_references
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
        (folder / RUN).write_text(json.dumps(self.description, indent=1) + "\n", "utf-8")
        for name in (RECORDS, COMPLETIONS):
            with (folder / name).open("wb") as merged:
                for part in self.folders:
                    if (part / name).exists():
                        with (part / name).open("rb") as lines:
                            shutil.copyfileobj(lines, merged)
        references = {case: text for part in self.folders for case, text in read_references(part).items()}
        (folder / REFERENCES).write_text(json.dumps(references, indent=1) + "\n", "utf-8")


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
    """Refuse a set of shards that lacks some; `shard` of `run.json` is I/N."""
    found: dict[int, set[int]] = {}
    for description in described:
        if description.get("shard"):
            index, count = (int(part) for part in str(description["shard"]).split("/"))
            found.setdefault(count, set()).add(index)
    for count, indices in found.items():
        if missing := sorted(set(range(1, count + 1)) - indices):
            raise RecordError("missing: " + ", ".join(f"shard {index}/{count}" for index in missing))


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
