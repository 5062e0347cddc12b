"""A finished run judged again, as a run of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_webbench.cases import Case
from pytest_webbench.completions.store import CompletionStore
from pytest_webbench.evaluation import SAMPLE_FIELDS, Evaluation, installed_versions
from pytest_webbench.ledger import Ledger, RunData, sample_id
from pytest_webbench.records import Record
from pytest_webbench.rescoring.judging import Engine, Judging, Task

NOT_STORED = "not_stored"


class RescoringError(Exception):
    """A run that cannot be judged again; the message says why."""


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What is to be judged again: the records that name a completion, by its key."""

    run: RunData
    cases: Mapping[str, Case]
    by_key: Mapping[str, Sequence[Record]]

    @property
    def count(self) -> int:
        """How many records are to be judged again."""
        return sum(map(len, self.by_key.values()))


def prepare(run: RunData, cases: Iterable[Case]) -> Rescoring:
    """Match a run's records with the cases of today; raises `RescoringError` naming cases that are gone."""
    known = {case.name: case for case in cases}
    if gone := sorted(set(run.description["cases"]) - known.keys()):
        raise RescoringError(f"cases of the run that are not there: {', '.join(gone)}")
    by_key: dict[str, list[Record]] = {}
    for record in run.records:
        if record.completion_key is not None:
            by_key.setdefault(record.completion_key, []).append(record)
    return Rescoring(run, known, by_key)


def rescore(
    rescoring: Rescoring, store: CompletionStore, engine: Engine, judging: Judging, jobs: int, folder: Path
) -> Iterator[Evaluation]:
    """Judge everything again and write the run folder `folder`; yield the evaluations as they come.

    A judged record whose completion is not in the store is `infrastructure_error: not_stored`; one that was not
    judged for want of a completion stays as it is.
    """
    ledger = Ledger(folder, _description(rescoring, judging, folder.name))
    ledger.expect(sample_id(record) for record in rescoring.run.records)
    try:
        for evaluation in engine(_tasks(rescoring, store, folder.name), judging, jobs):
            ledger.add(evaluation.record, evaluation.answer)
            yield evaluation
        for record in rescoring.run.records:
            if sample_id(record) not in ledger.records:
                left = _not_stored(record) if record.judged else record
                ledger.add(replace(left, run_id=folder.name))
    finally:
        ledger.close()


def _tasks(rescoring: Rescoring, store: CompletionStore, run_id: str) -> Iterator[Task]:
    for stored in store:
        for record in rescoring.by_key.get(stored.request.key, ()):
            yield Task(replace(record, run_id=run_id), rescoring.cases[record.case_name], stored)


def _not_stored(record: Record) -> Record:
    return Record(
        **{name: getattr(record, name) for name in SAMPLE_FIELDS},
        case_version=record.case_version,
        status="infrastructure_error",
        failure_class=NOT_STORED,
        message="the completion is not in this store",
    )


def _description(rescoring: Rescoring, judging: Judging, run_id: str) -> dict[str, Any]:
    before = rescoring.run.description
    return {
        **{key: value for key, value in before.items() if key != "expected"},
        "run_id": run_id,
        "rescored": before["run_id"],
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {**before["settings"], "tier": judging.tier, "sandbox": judging.level},
        "cases": {name: {**about, "version": rescoring.cases[name].version} for name, about in before["cases"].items()},
        "versions": installed_versions(),
    }
