"""A scan of sampling parameters: many settings on the hardest case, then the best few on all cases.

A scan is an ordinary run in which each setting is a model of its own: the same store, records and judging.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from pydantic import ValidationError

from pytest_webbench.cases import Case
from pytest_webbench.driver import Driver, Note
from pytest_webbench.evaluation import Sample
from pytest_webbench.model_table import ModelEntry
from pytest_webbench.options import DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.selection import Model
from pytest_webbench.statistics.scans import Point, ScanResult, Value, ranked, scan_result, setting_name

OWN = ("temperature", "top_p", "max_tokens")
OTHERS = (
    "top_k",
    "min_p",
    "typical_p",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "repeat_penalty",
    "reasoning_effort",
)
"""Parameters that are sent as they are, to servers that know them."""
WHOLE = ("max_tokens", "top_k")
NOT_SCANNED = ("agent", "imported")
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and its `values`; of a `span`, any value between its two ends."""

    name: str
    values: tuple[Value, ...]
    span: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is scanned: `points` by the alias of the setting; `first` are the first stage's cases, `cases` all.

    The `top` settings by `metric` go on to the second stage.
    """

    model: Model
    points: Mapping[str, Point]
    first: tuple[Case, ...]
    cases: tuple[Case, ...]
    template: str = DEFAULT_TEMPLATE
    top: int = 5
    metric: str = "points"

    @property
    def models(self) -> tuple[Model, ...]:
        """A model for each setting."""
        return tuple(at(self.model, alias, point) for alias, point in self.points.items())

    @property
    def later(self) -> tuple[Case, ...]:
        """The cases that only the finalists get."""
        first = {case.id for case in self.first}
        return tuple(case for case in self.cases if case.id not in first)


def parse_axes(texts: Sequence[str]) -> list[Axis]:
    """Read `NAME=V1,V2,...` or `NAME=LOW..HIGH`, one parameter each; raises `SettingsError`."""
    axes = [_axis(text) for text in texts]
    names = [axis.name for axis in axes]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SettingsError(f"--grid: {twice[0]} is given twice; list its values once, with commas")
    return axes


def _axis(text: str) -> Axis:
    name, _, values = text.partition("=")
    if name not in (*OWN, *OTHERS):
        raise SettingsError(f"--grid: unknown parameter {name!r}; known: {', '.join((*OWN, *OTHERS))}")
    low, dots, high = values.partition("..")
    given = tuple(_value(part) for part in ([low, high] if dots else values.split(",")) if part)
    if len(given) < (2 if dots else 1) or (dots and not all(isinstance(one, int | float) for one in given)):
        raise SettingsError(f"--grid: expected {name}=V1,V2,... or {name}=LOW..HIGH, found {text!r}")
    return Axis(name, tuple(_checked(name, value) for value in given), span=bool(dots))


def _value(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _checked(name: str, value: Value) -> Value:
    """Return a value as the models table has it (a temperature of 1 is 1.0), held against the rules there."""
    if name not in OWN:
        return value
    try:
        own: Value = getattr(ModelEntry.model_validate({"provider": "local", name: value}), name)
        return own
    except ValidationError as error:
        raise SettingsError(f"--grid: {name}={value}: {error.errors()[0]['msg']}") from None


def every(axes: Sequence[Axis]) -> list[Point]:
    """Return every combination."""
    for axis in axes:
        if axis.span:
            raise SettingsError(f"--grid: {axis.name}: a span has no end of values; list some, or add --random N")
    names = [axis.name for axis in axes]
    return [dict(zip(names, values, strict=True)) for values in product(*(axis.values for axis in axes))]


def drawn(axes: Sequence[Axis], count: int, seed: int) -> list[Point]:
    """Return up to `count` different combinations drawn at random; the same for the same seed."""
    chance = random.Random(seed)
    found: dict[str, Point] = {}
    for _ in range(100 * count):
        if len(found) == count:
            break
        point = {axis.name: _draw(axis, chance) for axis in axes}
        found.setdefault(setting_name(point), point)
    return list(found.values())


def _draw(axis: Axis, chance: random.Random) -> Value:
    if not axis.span:
        return chance.choice(axis.values)
    low, high = (value for value in axis.values if not isinstance(value, str))
    if isinstance(low, int) and isinstance(high, int) and axis.name in WHOLE:
        return chance.randint(low, high)
    return round(chance.uniform(low, high), 2)


def settings_of(model: Model, points: Sequence[Point]) -> dict[str, Point]:
    """Return the points by alias: the model's name and what is set, as a node id can hold it.

    Raises `SettingsError` for a model that has no parameters of its own to scan.
    """
    if model.entry.provider in NOT_SCANNED:
        raise SettingsError(f"--model {model.alias}: {model.entry.provider} answers have no parameters to scan")
    return {_alias(model, point): point for point in points}


def _alias(model: Model, point: Point) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join((model.alias, *setting_name(point).split())))


def at(model: Model, alias: str, point: Point) -> Model:
    """Return the model at a setting."""
    own: dict[str, Any] = {name: value for name, value in point.items() if name in OWN}
    extra = dict(model.parameters.extra) | {name: value for name, value in point.items() if name not in OWN}
    parameters = replace(model.parameters, **own, extra=tuple(sorted(extra.items())))
    return replace(model, alias=alias, parameters=parameters)


def hardest(cases: Sequence[Case], entries: Sequence[Mapping[str, Any]], alias: str) -> tuple[Case, str]:
    """Return the case to begin with, and why.

    Of the cases in a `benchmark.json` it is the one on which the model (else: the models together) got the fewest
    points above 0, since where nothing ever succeeds no setting stands out; without any, the most difficult one
    with the longest reference.
    """
    for wanted, whose in ((lambda score: score["alias"] == alias, alias), (lambda score: True, "all models together")):
        points = {entry["id"]: _mean(entry, wanted) for entry in entries}
        known = [case for case in cases if (points.get(case.id) or 0.0) > 0]
        if known:
            case = min(known, key=lambda case: (points[case.id], case.name))
            return case, f"fewest points above 0 of {whose} in benchmark.json: {points[case.id]:.0f}"
    case = max(cases, key=lambda case: (DIFFICULTIES.index(case.difficulty), len(case.reference), case.name))
    return case, f"{case.difficulty}, with the longest reference; benchmark.json knows none of the cases"


def _mean(entry: Mapping[str, Any], wanted: Any) -> float | None:
    values = [
        score["points"]
        for score in entry["scores"].values()
        if score and score.get("points") is not None and score["alias"] != "reference" and wanted(score)
    ]
    return sum(values) / len(values) if values else None


def named(cases: Sequence[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """Return the cases of these names or ids; raises `SettingsError` for one that is not there."""
    known = {key: case for case in cases for key in (case.id, case.name)}
    for name in names:
        if name not in known:
            raise SettingsError(
                f"--case: no case {name!r} among the {len(cases)} selected; names are such as {cases[0].name}"
            )
    return tuple({known[name].id: known[name] for name in names}.values())


def scan(plan: Plan, driver: Driver, note: Note) -> ScanResult:
    """Take both stages' samples, most of them at the settings that did best in the first, and compare those."""
    settings = list(plan.points)
    first = [case.name for case in plan.first]
    driver.take(samples_of(plan, driver, settings, plan.first), note)
    finalists = ranked(driver.taken(), settings, plan.metric)
    if plan.later:
        finalists = finalists[: plan.top]
        driver.take(samples_of(plan, driver, finalists, plan.later), note)
    return scan_result(plan.model.alias, driver.taken(), plan.points, finalists, first, plan.metric)


def samples_of(plan: Plan, driver: Driver, aliases: Sequence[str], cases: Sequence[Case]) -> list[Sample]:
    """Return the samples of these settings on these cases, every setting's first sample before any second one."""
    models = [driver.run.settings.model(alias) for alias in aliases]
    return [
        driver.sample(case, model, plan.template, index)
        for case in cases
        for index in range(plan.model.samples)
        for model in models
    ]
