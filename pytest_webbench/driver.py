"""A run without pytest: one process that takes samples in order, with the store, records and judging of any other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webbench.bench import Bench, sample_of
from pytest_webbench.cases import Case, is_dataset
from pytest_webbench.evaluation import Sample
from pytest_webbench.records import Record
from pytest_webbench.run import Run, examined, start_run
from pytest_webbench.selection import Model
from pytest_webbench.settings import Settings, check_budget
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.workbench import Workbench

Note = Callable[[Record], None]


@dataclass(slots=True)
class Driver:
    """Takes samples: their completions are asked for together, then judged one by one as they come.

    `sandbox` is what is to be said of the sandbox, None where nothing is run.
    """

    run: Run
    bench: Bench
    sandbox: str | None

    def sample(self, case: Case, model: Model, template: str, index: int) -> Sample:
        """Return a sample under the name that pytest would give it."""
        file = Path(os.path.relpath(case.path, self.run.settings.root)).as_posix()
        entry = (case.id,) if is_dataset(case.path) else ()
        node_id = "::".join((file, *entry, model.alias, template, f"sample-{index}"))
        return sample_of(self.run.settings, self.run.endpoints, node_id, case, model.alias, template, index)

    def take(self, samples: Sequence[Sample], note: Note) -> None:
        """Judge the samples and keep their records; `note` is told each as it comes."""
        self.run.ledger.expect(sample.identity for sample in samples)
        self.run.announce(samples)
        for sample in samples:
            evaluation = self.bench.evaluate(sample)
            if evaluation is not None:
                self.run.ledger.add(evaluation.record, evaluation.answer)
                note(evaluation.record)

    def taken(self) -> Samples:
        """Return all samples so far."""
        return Samples.of(self.run.ledger.all_records(), self.run.ledger.description)


@contextmanager
def opened(settings: Settings, cases: Sequence[Case], selection: Mapping[str, Any]) -> Iterator[Driver]:
    """Prepare a run of these settings; leaving it stops asking and closes its files.

    Raises `SettingsError`, `ConfigError`, `CaseError` or `StoreError` for what can be known before the first call.
    """
    check_budget(settings)
    workbench = Workbench.of(settings)
    try:
        sandbox = None if settings.dry_run else examined(workbench, cases)
        run = start_run(settings, cases, selection)
        try:
            yield Driver(run, Bench(settings, run.endpoints, workbench, run.ask), sandbox)
        finally:
            run.close()
    finally:
        workbench.close()
