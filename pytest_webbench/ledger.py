"""The run folder: what a run expects, and every record the moment it comes.

`run.json` is written first; `records.jsonl` and `completions.jsonl` grow line by line and survive
Ctrl-C, SIGTERM and SIGKILL. Reports read this folder and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pytest_webbench.records import RECORDS, Record, RecordError, iterate_records

RUN = "run.json"
COMPLETIONS = "completions.jsonl"

SampleId = tuple[str, str, str, int]
"""Case name, model, template, sample index."""


def sample_id(record: Record) -> SampleId:
    """Return which sample a record is of."""
    return record.case_name, record.model, record.prompt_template, record.sample


def new_run_id() -> str:
    """Return a name for a run: UTC time and a short hash."""
    now = datetime.now(UTC)
    salt = hashlib.sha256(f"{now.isoformat()} {os.getpid()}".encode()).hexdigest()[:6]
    return f"{now:%Y%m%dT%H%M%SZ}-{salt}"


@dataclass(slots=True)
class Ledger:
    """Writes one run folder.

    `description` is the content of `run.json` but for `expected`, the samples of this run in item order.
    `records` holds what came back. The first record of a sample counts, unless it is an infrastructure error.
    """

    folder: Path
    description: Mapping[str, Any]
    expected: dict[SampleId, None] = field(default_factory=dict)
    records: dict[SampleId, Record] = field(default_factory=dict)
    _streams: dict[str, TextIO] = field(default_factory=dict)

    def expect(self, samples: Iterable[SampleId]) -> None:
        """Add samples to the expected ones and write `run.json`."""
        before = len(self.expected)
        self.expected.update(dict.fromkeys(samples))
        if len(self.expected) > before:
            self._write_run()

    def add(self, record: Record, answer: str | None = None) -> None:
        """Append a record and the conversation (one line of JSON) that it judges."""
        identity = sample_id(record)
        earlier = self.records.get(identity)
        if earlier is not None and earlier.status != "infrastructure_error":
            return
        self.records[identity] = record
        self._append(RECORDS, record.to_json())
        if answer is not None:
            self._append(COMPLETIONS, answer)

    @property
    def missing(self) -> list[SampleId]:
        """Expected samples that have no record."""
        return [identity for identity in self.expected if identity not in self.records]

    def all_records(self) -> list[Record]:
        """Return a record for every expected sample; one that did not come is `lost`."""
        description = {**self.description, "expected": [list(identity) for identity in self.expected]}
        return with_lost(description, self.records)

    def close(self) -> None:
        """Close the files."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()

    def _append(self, name: str, line: str) -> None:
        if name not in self._streams:
            self._streams[name] = _open_to_append(self.folder / name)
        self._streams[name].write(line + "\n")

    def _write_run(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**self.description, "expected": [list(identity) for identity in self.expected]}, indent=1)
        (self.folder / RUN).write_text(text + "\n", "utf-8")


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run folder holds: its description, and one record per expected sample, lost ones included."""

    folder: Path
    description: Mapping[str, Any]
    records: list[Record]


def read_run(path: Path) -> RunData:
    """Read a run folder (or its `records.jsonl`); raises `RecordError` where that is not possible."""
    folder = path if path.is_dir() else path.parent
    try:
        description = json.loads((folder / RUN).read_text("utf-8"))
    except OSError as error:
        raise RecordError(f"{folder / RUN}: {error.strerror}") from None
    except ValueError as error:
        raise RecordError(f"{folder / RUN}: not valid JSON: {error}") from None
    records: dict[SampleId, Record] = {}
    if (folder / RECORDS).exists():
        for record in iterate_records(folder):
            records[sample_id(record)] = record
    return RunData(folder, description, with_lost(description, records))


def with_lost(description: Mapping[str, Any], records: Mapping[SampleId, Record]) -> list[Record]:
    """Return a record for every expected sample in item order; one without a record is `lost`."""
    expected: list[SampleId] = [
        (case, model, template, sample) for case, model, template, sample in description["expected"]
    ]
    known = dict.fromkeys(expected)
    unexpected = [record for identity, record in records.items() if identity not in known]
    return [records.get(identity) or _lost(description, identity) for identity in expected] + unexpected


def _lost(description: Mapping[str, Any], identity: SampleId) -> Record:
    name, alias, template, sample = identity
    case, model = description["cases"][name], description["models"][alias]
    return Record(
        run_id=description["run_id"],
        node_id="",
        case_id=case["id"],
        case_name=name,
        case_version=case["version"],
        framework=case["framework"],
        category=case["category"],
        difficulty=case["difficulty"],
        model=alias,
        model_id=model["model_id"],
        provider=model["provider"],
        hosting=model["hosting"],
        prompt_template=template,
        sample=sample,
        parameters=model["parameters"],
        status="infrastructure_error",
        failure_class="lost",
        message="no record: the run or the worker ended before the sample was judged",
        started_at=description["created_at"],
    )


def _open_to_append(path: Path) -> TextIO:
    """Open a JSON Lines file at its end; a line that a killed run left unfinished is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        with path.open("rb+") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
    return path.open("a", buffering=1, encoding="utf-8")
