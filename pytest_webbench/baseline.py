"""Earlier results to compare a run with: an accumulated `benchmark.json`, or the records of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webbench.ledger import RUN
from pytest_webbench.records import RecordError, iterate_records
from pytest_webbench.reports.accumulated import BenchmarkError, read_benchmark
from pytest_webbench.statistics.comparison import CaseValue, PairingError, Side, pair_models, sides
from pytest_webbench.statistics.samples import CaseFacts, Samples

SETTINGS = ("parameters", "case_version", "prompt_template", "n", "coverage")


class BaselineError(Exception):
    """A baseline that cannot be read, or has nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline's results by model alias."""

    path: Path
    sides: Mapping[str, Side]

    def paired(self, aliases: Sequence[str], named: str | None) -> dict[str, Side]:
        """Return what each model of a run is compared with; raises `BaselineError` where that cannot be told."""
        try:
            pairs = pair_models(list(self.sides), aliases, named)
        except PairingError as error:
            hint = "" if named else "; name one by --webbench-baseline-model"
            raise BaselineError(f"baseline {self.path}: {error}; the run has {', '.join(aliases)}{hint}") from None
        return {alias: self.sides[other] for alias, other in pairs.items()}


def read_baseline(path: Path) -> Baseline:
    """Read a `benchmark.json`, a run folder or a `records.jsonl`; raises `BaselineError`."""
    if not path.exists():
        raise BaselineError(f"baseline {path}: no such file or run folder")
    try:
        found = _of_benchmark(path) if path.suffix == ".json" else _of_records(path)
    except (BenchmarkError, RecordError) as error:
        raise BaselineError(f"baseline {error}") from None
    if not found:
        raise BaselineError(f"baseline {path}: holds no judged sample of any model")
    return Baseline(path, found)


def _of_records(path: Path) -> dict[str, Side]:
    run = (path if path.is_dir() else path.parent) / RUN
    try:
        description = json.loads(run.read_text("utf-8")) if run.exists() else {}
    except ValueError as error:
        raise RecordError(f"{run}: not valid JSON: {error}") from None
    found = sides(Samples.of(iterate_records(path), description))
    return {alias: side for alias, side in found.items() if side.samples is not None and side.samples.judged.any()}


def _of_benchmark(path: Path) -> dict[str, Side]:
    scores: dict[str, dict[str, Mapping[str, Any]]] = {}
    cases: dict[str, dict[str, CaseFacts]] = {}
    for entry in read_benchmark(path):
        for key, score in (entry.get("scores") or {}).items():
            if score is None:
                continue
            alias = score.get("alias", key)
            if missing := [name for name in SETTINGS if score.get(name) is None]:
                raise BenchmarkError(
                    f"{path}: case {entry['id']}, model {alias}: {', '.join(missing)} missing; without the settings "
                    "a comparison cannot be trusted: make the baseline with this version, or use a run folder"
                )
            scores.setdefault(alias, {})[entry["id"]] = score
            cases.setdefault(alias, {})[entry["id"]] = _case(entry, score)
    return {alias: _side(alias, cases[alias], scores[alias]) for alias in scores}


def _case(entry: Mapping[str, Any], score: Mapping[str, Any]) -> CaseFacts:
    identity = str(entry["id"])
    return CaseFacts(identity, identity, score["case_version"], entry.get("framework", ""), "", "")


def _side(alias: str, cases: Mapping[str, CaseFacts], scores: Mapping[str, Mapping[str, Any]]) -> Side:
    return Side(
        model=alias,
        cases=cases,
        templates=frozenset(score["prompt_template"] for score in scores.values()),
        prompts={},
        parameters=next(iter(scores.values()))["parameters"],
        values=lambda metric, fill: _values(scores, metric, fill),
    )


def _values(scores: Mapping[str, Mapping[str, Any]], metric: str, fill: float | None) -> dict[str, CaseValue]:
    return {
        case: CaseValue(_filled(score, metric, fill), score["n"])
        for case, score in scores.items()
        if score.get(metric) is not None
    }


def _filled(score: Mapping[str, Any], metric: str, fill: float | None) -> float:
    mean, coverage = float(score[metric]), float(score["coverage"])
    return mean if fill is None else mean * coverage + fill * (1 - coverage)
