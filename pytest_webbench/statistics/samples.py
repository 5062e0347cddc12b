"""Samples as columns: what every statistic is computed from. A million samples take some 170 MB.

Records are read once, one by one, and may come in any order; the columns are in the order of every report:
case, model, template, sample.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pytest_webbench.records import OUTCOME_FIELDS, Record

STATUSES = ("passed", "model_failure", "blocked", "infrastructure_error", "config_error")
PASSES = ("static_pass", "functional_pass", "secure_pass")
WORDS = frozenset({"status", "failure_class", "finish_reason"})
NUMBERS = tuple(name for name in OUTCOME_FIELDS if name not in WORDS)
TRUNCATED, WARM, UNPARSED, REVISED, SUSPECTED, MODEL_CHANGED, REPAIRED, BROKEN = (1 << bit for bit in range(8))
SUSPICIONS = frozenset({"truncation_suspected", "prompt_truncation_suspected"})
LOST = "lost"
UNKNOWN_NUMBER = float("nan")

Ints = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """What is known of a case; `scenario` names the need that several frameworks' cases share."""

    name: str
    id: str
    version: str
    framework: str
    category: str
    difficulty: str
    scenario: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model; `base` is the alias of the model that an agent writes code with."""

    alias: str
    model_id: str
    provider: str
    hosting: str
    parameters: Mapping[str, Any]
    size_b: float | None = None
    exclude: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """One row a sample, in report order.

    `case`, `model`, `template`, `status`, `failure` and `finish` are positions in `cases`, `models`,
    `templates`, `STATUSES`, `failures` and `finishes` (-1: none). `numbers` holds NaN for what is not known,
    0 and 1 for passes. `marks` combines TRUNCATED, WARM (temperature above 0), UNPARSED, REVISED (an agent
    changed its answer after a review), REPAIRED and BROKEN (the changed answer passes and the first one did not,
    or the other way round), SUSPECTED (of a cut that nobody told) and MODEL_CHANGED (the server named another
    model than before); `code` and `key` are hashes of the code and of the completion key, 0
    where there is none. `prompts` maps case name and template to the hash of the prompt.
    """

    cases: tuple[CaseFacts, ...]
    models: tuple[ModelFacts, ...]
    templates: tuple[str, ...]
    failures: tuple[str, ...]
    finishes: tuple[str, ...]
    prompts: Mapping[tuple[str, str], str]
    case: Ints
    model: Ints
    template: Ints
    sample: Ints
    status: Ints
    failure: Ints
    finish: Ints
    marks: Ints
    code: Ints
    key: Ints
    numbers: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.case)

    @classmethod
    def of(cls, records: Iterable[Record], description: Mapping[str, Any] | None = None) -> Self:
        """Return the samples of records; an expected one (`run.json`) without a record is lost.

        Of several records of one sample the last judged one counts. Where an agent gave one output for a case,
        its static pass is unknown: one output of a loop is no sample of a rate.
        """
        columns = _Columns(description or {})
        for record in records:
            columns.add(record)
        columns.expect()
        samples = cls(**columns.sorted())
        samples.numbers["static_pass"][_single_outputs(samples)] = UNKNOWN_NUMBER
        return samples

    @property
    def judged(self) -> Mask:
        """Which samples count in n."""
        return self.status <= STATUSES.index("model_failure")

    def where(self, mask: Mask) -> Samples:
        """Return the samples that a mask selects."""
        return self if mask.all() else self.at(np.flatnonzero(mask))

    def at(self, rows: Ints) -> Samples:
        """Return the samples at these positions."""
        columns = {name: getattr(self, name)[rows] for name in _INTS}
        numbers = {name: values[rows] for name, values in self.numbers.items()}
        shared = {name: getattr(self, name) for name in _SHARED}
        return Samples(**shared, **columns, numbers=numbers)

    def with_numbers(self, names: Sequence[str]) -> Samples:
        """Return the samples with these numbers only, so that parts of them are cheap."""
        return replace(self, numbers={name: self.numbers[name] for name in names})

    def of_model(self, alias: str) -> Samples:
        """Return the samples of one model."""
        position = [model.alias for model in self.models].index(alias)
        return self.where(self.model == position)

    def of_cases(self, wanted: Callable[[CaseFacts], bool]) -> Samples:
        """Return the samples of the cases that are wanted."""
        return self.where(np.array([wanted(case) for case in self.cases], dtype=bool)[self.case])

    def attribute(self, name: str) -> tuple[tuple[str, ...], Ints]:
        """Return the sorted values of a case's attribute, and each sample's position among them."""
        values = [str(getattr(case, name)) for case in self.cases]
        known = tuple(sorted(set(values)))
        positions = np.array([known.index(value) for value in values], dtype=np.int64)
        return known, positions[self.case]


_SHARED = ("cases", "models", "templates", "failures", "finishes", "prompts")
_IDENTITY = ("case", "model", "template", "sample")
_CODES = {
    **dict.fromkeys(_IDENTITY, "i"),
    "status": "b",
    "failure": "h",
    "finish": "h",
    "marks": "h",
    "code": "q",
    "key": "q",
}
_INTS = tuple(_CODES)


@dataclass(slots=True)
class _Columns:
    """Grows column by column as records come; `names` numbers each text in order of appearance."""

    description: Mapping[str, Any]
    cases: dict[str, CaseFacts] = field(default_factory=dict)
    models: dict[str, ModelFacts] = field(default_factory=dict)
    prompts: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, dict[str, int]] = field(
        default_factory=lambda: {name: {} for name in ("case", "model", "template", "failure", "finish")}
    )
    ints: dict[str, array[int]] = field(default_factory=lambda: {name: array(_CODES[name]) for name in _INTS})
    numbers: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in NUMBERS})

    def add(self, record: Record) -> None:
        self._learn(record)
        self._identity(record.case_name, record.model, record.prompt_template, record.sample)
        ints = self.ints
        ints["status"].append(STATUSES.index(record.status))
        ints["failure"].append(self._number("failure", record.failure_class))
        ints["finish"].append(self._number("finish", record.finish_reason))
        ints["marks"].append(_marks(record))
        ints["code"].append(hash(record.code_sha) if record.code_sha else 0)
        ints["key"].append(hash(record.completion_key) if record.completion_key else 0)
        for name in NUMBERS:
            value = getattr(record, name)
            self.numbers[name].append(UNKNOWN_NUMBER if value is None else value)

    def expect(self) -> None:
        """Add a lost sample for each expected one; a record of the sample takes its place."""
        expected: Sequence[tuple[str, str, str, int]] = self.description.get("expected", ())
        for case, model, template, sample in expected:
            self._learn_described(case, model)
            self._identity(case, model, template, sample)

    def sorted(self) -> dict[str, Any]:
        """Return the fields of `Samples`: one row a sample, in report order."""
        absent = {
            "status": STATUSES.index("infrastructure_error"),
            "failure": self._number("failure", LOST) if self.description.get("expected") else -1,
            "finish": -1,
        }
        ordered = {name: sorted(known) for name, known in self.names.items()}

        def number(name: str, values: Ints) -> Ints:
            return _renumbered(values, self.names[name], ordered[name]) if name in self.names else values

        identity = {name: number(name, np.array(self.ints.pop(name))) for name in _IDENTITY}
        rows = _rows(identity, np.array(self.ints["status"]))
        columns: dict[str, Any] = {name: identity.pop(name)[rows] for name in _IDENTITY}
        for name in _INTS[len(_IDENTITY) :]:
            columns[name] = number(name, _picked(self.ints.pop(name), rows, absent.get(name, 0)))
        columns["numbers"] = {name: _picked(self.numbers.pop(name), rows, UNKNOWN_NUMBER) for name in NUMBERS}
        return {
            "cases": tuple(self.cases[name] for name in ordered["case"]),
            "models": tuple(self.models[name] for name in ordered["model"]),
            "templates": tuple(ordered["template"]),
            "failures": tuple(ordered["failure"]),
            "finishes": tuple(ordered["finish"]),
            "prompts": self.prompts,
            **columns,
        }

    def _identity(self, case: str, model: str, template: str, sample: int) -> None:
        self.ints["case"].append(self._number("case", case))
        self.ints["model"].append(self._number("model", model))
        self.ints["template"].append(self._number("template", template))
        self.ints["sample"].append(sample)

    def _number(self, kind: str, text: str | None) -> int:
        return -1 if text is None else self.names[kind].setdefault(text, len(self.names[kind]))

    def _learn(self, record: Record) -> None:
        if record.case_name not in self.cases:
            described = self.description.get("cases", {}).get(record.case_name, {})
            self.cases[record.case_name] = CaseFacts(
                name=record.case_name,
                id=record.case_id,
                version=record.case_version,
                framework=record.framework,
                category=record.category,
                difficulty=record.difficulty,
                scenario=described.get("scenario"),
            )
        if record.model not in self.models:
            self.models[record.model] = _model_facts(self.description, record.model, record.model_id, record.provider,
                                                     record.hosting, record.parameters)  # fmt: skip
        if record.prompt_sha:
            self.prompts.setdefault((record.case_name, record.prompt_template), record.prompt_sha)

    def _learn_described(self, case: str, model: str) -> None:
        if case not in self.cases:
            about = self.description["cases"][case]
            self.cases[case] = CaseFacts(
                name=case,
                **{name: about[name] for name in ("id", "version", "framework", "category", "difficulty")},
                scenario=about.get("scenario"),
            )
        if model not in self.models:
            about = self.description["models"][model]
            self.models[model] = _model_facts(self.description, model, about["model_id"], about["provider"],
                                              about["hosting"], about["parameters"])  # fmt: skip


def groups(keys: Sequence[Ints]) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield each combination of the keys' values, in order, and the positions of the rows that have it."""
    if not len(keys[0]):
        return
    order = np.lexsort(tuple(reversed(keys)))
    ordered = [key[order] for key in keys]
    changed = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    bounds = [0, *(np.flatnonzero(changed) + 1).tolist(), len(order)]
    for start, end in pairwise(bounds):
        yield tuple(int(key[start]) for key in ordered), order[start:end]


def _single_outputs(samples: Samples) -> Ints:
    """Return the positions of an agent's outputs that are the only one for their case and template."""
    agents = np.array([model.provider == "agent" for model in samples.models], dtype=bool)
    rows = np.flatnonzero(agents[samples.model]) if agents.any() else np.zeros(0, dtype=np.int64)
    cells = groups([getattr(samples, name)[rows] for name in ("case", "model", "template")])
    single = [rows[members] for _, members in cells if len(members) == 1]
    return np.concatenate(single) if single else rows[:0]


def _model_facts(description: Mapping[str, Any], alias: str, model_id: str, provider: str, hosting: str,
                 parameters: Mapping[str, Any]) -> ModelFacts:  # fmt: skip
    about = description.get("models", {}).get(alias, {})
    return ModelFacts(
        alias=alias,
        model_id=model_id,
        provider=provider,
        hosting=hosting,
        parameters=parameters,
        size_b=about.get("size_b"),
        exclude=about.get("exclude"),
        base=about.get("codegen"),
    )


def _marks(record: Record) -> int:
    truncated = "truncated" in record.flags or record.finish_reason == "length"
    warm = (record.parameters.get("temperature") or 0) > 0
    unparsed = record.tiers.get("syntax") == "failed"
    revised = "revised" in record.flags
    marks = TRUNCATED * truncated + WARM * warm + UNPARSED * unparsed + REVISED * revised
    suspected, changed = not SUSPICIONS.isdisjoint(record.flags), "model_changed" in record.flags
    marks += SUSPECTED * suspected + MODEL_CHANGED * changed
    return marks + REPAIRED * ("repaired" in record.flags) + BROKEN * ("broken" in record.flags)


def _renumbered(values: Ints, known: Mapping[str, int], ordered: Sequence[str]) -> Ints:
    positions = np.full(len(known) + 1, -1, dtype=values.dtype)
    for position, text in enumerate(ordered):
        positions[known[text]] = position
    return positions[values]


def _rows(identity: Mapping[str, Ints], status: Ints) -> Ints:
    """Return which rows count, in report order: the last judged record of a sample, then the last, then lost.

    Rows beyond those that have a `status` are the expected samples.
    """
    count = len(identity["case"])
    rank = np.zeros(count, dtype=np.int8)
    rank[: len(status)] = 1 + (status <= STATUSES.index("model_failure"))
    columns = [identity[name] for name in _IDENTITY]
    keys: list[NDArray[Any]] = [np.arange(count), rank, *reversed(columns)]
    order = np.lexsort(keys)
    last = np.ones(count, dtype=bool)
    if count:
        last[:-1] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    return order[last]


def _picked(values: array[Any], rows: Ints, absent: float) -> NDArray[Any]:
    """Return a column's values at these rows; `absent` stands for rows that it does not have."""
    known = np.array(values)
    picked = np.full(len(rows), absent, dtype=known.dtype)
    real = rows < len(values)
    picked[real] = known[rows[real]]
    return picked
