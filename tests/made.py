"""Records and runs that nobody had to run, for tests of statistics, gate and reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webbench.ledger import RUN, Ledger
from pytest_webbench.records import RECORDS, TIERS, Record

STATUS = {True: "passed", False: "model_failure"}


def record(case: str = "flask/a", sample: int = 0, passed: bool | None = True, **changes: Any) -> Record:
    """A record of model `m`; `passed` None is an infrastructure error."""
    framework = {"flask": "Flask", "fastapi": "FastAPI", "django": "Django"}[case.split("/")[0]]
    judged = passed is not None
    known: dict[str, Any] = {
        "run_id": "r",
        "node_id": f"cases/{case}/definition.toml::m::web_expert::sample-{sample}",
        "case_id": case.replace("/", "_"),
        "case_name": case,
        "case_version": "1.0",
        "framework": framework,
        "category": "crud",
        "difficulty": "easy",
        "model": "m",
        "model_id": "acme/m",
        "provider": "openai",
        "hosting": "paid",
        "prompt_template": "web_expert",
        "prompt_sha": f"prompt of {case}",
        "sample": sample,
        "parameters": {"temperature": 0.8, "top_p": None, "max_tokens": 2048, "seed": 0},
        "started_at": "2026-01-01T00:00:00+00:00",
        "status": STATUS[passed] if judged else "infrastructure_error",
        "failure_class": None if passed else "assertion" if judged else "timeout",
    }
    if passed is not None:
        known |= {
            "static_pass": True,
            "functional_pass": passed,
            "points": 100.0 if passed else 50.0,
            "web_codebleu": 0.8 if passed else 0.4,
            "kw_f1": 0.9 if passed else 0.5,
            "tiers": dict.fromkeys(TIERS, "passed"),
        }
    return Record(**(known | changes))


def records(passes: Mapping[str, Sequence[bool | None]], **changes: Any) -> list[Record]:
    """One record for each outcome of each case, such as `{"flask/a": [True, None, False]}`."""
    return [
        record(case, sample, passed, **changes)
        for case, outcomes in passes.items()
        for sample, passed in enumerate(outcomes)
    ]


def many(cases: int, rate: float, samples: int = 10, **changes: Any) -> list[Record]:
    """`cases` Flask cases of which each passes the same share of its samples."""
    passes = round(rate * samples)
    return records(
        {f"flask/c{number:03}": [index < passes for index in range(samples)] for number in range(cases)}, **changes
    )


def describe(expected: Iterable[Record], run_id: str = "r", **model: Any) -> dict[str, Any]:
    """The `run.json` of these records; `model` adds to what it says of each model."""
    rows = list(expected)
    return {
        "schema": 1,
        "run_id": run_id,
        "created_at": "2026-01-01T00:00:00+00:00",
        "settings": {"tier": "functional"},
        "versions": {},
        "models": {
            row.model: {"model_id": row.model_id, "provider": row.provider, "hosting": row.hosting, "size_b": None,
                        "price": None, "exclude": None, "samples": 1 + max(one.sample for one in rows),
                        "parameters": row.parameters, **model}
            for row in rows
        },
        "cases": {
            row.case_name: {"id": row.case_id, "version": row.case_version, "framework": row.framework,
                            "category": row.category, "difficulty": row.difficulty, "scenario": None}
            for row in rows
        },
        "expected": [[row.case_name, row.model, row.prompt_template, row.sample] for row in rows],
    }  # fmt: skip


def write_run(folder: Path, rows: Sequence[Record], lost: Sequence[Record] = (), **changes: Any) -> Path:
    """Write a run folder of these records; `lost` ones are expected, but have no record."""
    description = describe([*rows, *lost], run_id=folder.name) | changes
    ledger = Ledger(folder, description)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN).write_text(json.dumps(description), "utf-8")
    for row in rows:
        ledger.add(row)
    ledger.close()
    (folder / RECORDS).touch()
    return folder
