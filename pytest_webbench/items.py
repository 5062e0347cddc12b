"""The tree of items: case file -> (case) -> model -> template -> sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_webbench.cases import Case, is_dataset, load_case_file
from pytest_webbench.records import OUTCOME_FIELDS

if TYPE_CHECKING:
    from pytest_webbench.bench import Bench
    from pytest_webbench.records import Record
    from pytest_webbench.shards import Shard

PROPERTY = "webbench"
ANSWER = "webbench_answer"
BENCH: pytest.StashKey[Bench] = pytest.StashKey()


class CaseFile(pytest.File):
    """A `definition.toml` or a `dataset.json`."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield a node per model, below a node per case where the file holds several."""
        cases = load_case_file(self.path)
        if is_dataset(self.path):
            for case in cases:
                yield CaseNode.from_parent(self, name=case.id, case=case)
        else:
            yield from _model_nodes(self, cases[0])


class CaseNode(pytest.Collector):
    """One entry of a `dataset.json`."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield a node per model."""
        return _model_nodes(self, self.case)


class ModelNode(pytest.Collector):
    """The case put to one model."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        for name in case.markers:
            self.add_marker(name)

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield a node per prompt template."""
        for template in self.config.stash[BENCH].settings.templates:
            yield TemplateNode.from_parent(self, name=template.name, case=self.case, model=self.name)


class TemplateNode(pytest.Collector):
    """The case put to one model with one prompt template."""

    def __init__(self, *, case: Case, model: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.model = model

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the samples."""
        for index in range(self.config.stash[BENCH].settings.model(self.model).samples):
            yield SampleItem.from_parent(
                self,
                name=f"sample-{index}",
                case=self.case,
                model=self.model,
                template=self.name,
                index=index,
            )


class SampleItem(pytest.Item):
    """One sample: its setup obtains and judges the completion, its call asserts what the record says."""

    record: Record | None = None
    answer: str | None = None

    def __init__(self, *, case: Case, model: str, template: str, index: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.model = model
        self.template = template
        self.index = index

    def setup(self) -> None:
        """Obtain the completion and judge it; a sample that could not be judged is a pytest error."""
        bench = self.config.stash[BENCH]
        sample = bench.sample(self.nodeid, self.case, self.model, self.template, self.index)
        evaluation = bench.evaluate(sample)
        if evaluation is None:
            return
        self.record = record = evaluation.record
        self.answer = evaluation.answer
        self.user_properties[:] = [(PROPERTY, record.to_json())]
        self.user_properties += [
            (name, value) for name in OUTCOME_FIELDS if (value := getattr(record, name)) is not None
        ]
        if not record.judged:
            pytest.fail(f"{record.status}: {record.failure_class}: {record.message}", pytrace=False)

    def runtest(self) -> None:
        """Fail where the record does not pass."""
        record = self.record
        if record is not None and record.status != "passed":
            pytest.fail(explain(record), pytrace=False)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Name the sample in headings."""
        return self.path, None, f"{self.case.name} {self.model} {self.template} {self.name}"


def keep_shard(config: pytest.Config, items: list[pytest.Item], shard: Shard) -> None:
    """Deselect the samples whose case another shard has."""
    kept = shard.of(item.case.id for item in items if isinstance(item, SampleItem))
    others = [item for item in items if isinstance(item, SampleItem) and item.case.id not in kept]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if not isinstance(item, SampleItem) or item.case.id in kept]


def explain(record: Record) -> str:
    """Say in a few lines why a sample failed: tier, check, expected and got, and where to see all of it."""
    failed = [check for check in record.checks if check.passed is False]
    first_line = record.message.partition("\n")[0]
    lines = [f"{record.failure_class}: {first_line}"]
    for check in failed[:3]:
        lines.append(f"  {check.tier} {check.name}: {_shortened(check.message)}")
    if len(failed) > 3:
        lines.append(f"  and {len(failed) - 3} more")
    lines.append(
        f"webbench show {record.run_id} {record.case_name} --model {record.model} "
        f"--template {record.prompt_template} --sample {record.sample}"
    )
    return "\n".join(lines)


def _shortened(text: str, limit: int = 400) -> str:
    flat = "\n    ".join(text.strip().split("\n"))
    return flat if len(flat) <= limit else flat[:limit] + " ..."


def _model_nodes(parent: pytest.Collector, case: Case) -> Iterator[pytest.Collector]:
    for model in parent.config.stash[BENCH].settings.models:
        yield ModelNode.from_parent(parent, name=model.alias, case=case)
