"""Records: what is known of one sample, and its JSON form.

`records.jsonl` of a run folder holds one record a line and is the only source of every report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

SCHEMA = 1
RECORDS = "records.jsonl"

Status = Literal["passed", "model_failure", "blocked", "infrastructure_error", "config_error"]
Outcome = Literal["passed", "failed", "not_assessed"]
TIERS = ("syntax", "structure", "execution", "examples", "unit_tests", "exploits")
OUTCOME_FIELDS = (
    "status",
    "failure_class",
    "points",
    "static_pass",
    "functional_pass",
    "secure_pass",
    "web_codebleu",
    "ngram",
    "weighted_ngram",
    "syntax",
    "dataflow",
    "kw_precision",
    "kw_recall",
    "kw_f1",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "cost",
    "latency_seconds",
)
"""The scalars of a record that other tools are given: JUnit properties, pytest-json-report, CSV."""
JUDGED: frozenset[str] = frozenset({"passed", "model_failure"})


class RecordError(Exception):
    """A records file that cannot be read; names the file and the line."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one sample: an example, a hidden check or an exploit.

    `passed` is None where the check was not assessed; `request` and `response` hold at most 2 KB each.
    """

    name: str
    tier: str
    passed: bool | None
    message: str = ""
    request: str = ""
    response: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of an agent's role; `syntax` and `structure` are the verdicts on the code that there is after it.

    `model` is the role's alias. `is_correct` is a reviewer's judgement, None for other roles and where its reply
    could not be read. Tokens, cost (USD) and latency (seconds) are those of the call.
    """

    iteration: int
    role: Literal["codegen", "reviewer", "debugger"]
    model: str
    completion_key: str
    syntax: Outcome
    structure: Outcome
    is_correct: bool | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None


def no_tiers() -> dict[str, Outcome]:
    """Return the tiers of a sample of which nothing was assessed."""
    return dict.fromkeys(TIERS, "not_assessed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One sample. Numbers that are not known are None; times in seconds, cost in USD, points 0-100.

    `trace` holds the calls of an agent's roles in order; it is empty for a single model.
    """

    schema: int = SCHEMA
    run_id: str
    node_id: str
    case_id: str
    case_name: str
    case_version: str
    framework: str
    category: str
    difficulty: str
    model: str
    model_id: str
    model_returned: str | None = None
    provider: str
    hosting: str
    prompt_template: str
    template_sha: str | None = None
    prompt_sha: str | None = None
    sample: int
    parameters: dict[str, Any] = field(default_factory=dict)
    completion_key: str | None = None
    from_store: bool | None = None
    status: Status
    failure_class: str | None = None
    message: str = ""
    tiers: dict[str, Outcome] = field(default_factory=no_tiers)
    checks: tuple[Check, ...] = ()
    points: float | None = None
    static_pass: bool | None = None
    functional_pass: bool | None = None
    secure_pass: bool | None = None
    compiles: bool | None = None
    web_codebleu: float | None = None
    ngram: float | None = None
    weighted_ngram: float | None = None
    syntax: float | None = None
    dataflow: float | None = None
    dataflow_defined: bool | None = None
    kw_precision: float | None = None
    kw_recall: float | None = None
    kw_f1: float | None = None
    kw_defined: bool | None = None
    finish_reason: str | None = None
    flags: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None
    trace: tuple[Step, ...] = ()
    extraction_rule: str | None = None
    code_sha: str | None = None
    sandbox: str | None = None
    started_at: str
    duration_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def judged(self) -> bool:
        """Whether the sample counts in n: the model's answer was there and was measured."""
        return self.status in JUDGED

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild a record from `to_json`'s text; keys of a newer schema are ignored."""
        data = json.loads(text)
        known = {item.name for item in fields(cls)}
        data = {key: value for key, value in data.items() if key in known}
        data["checks"] = tuple(Check(**check) for check in data.get("checks", ()))
        data["trace"] = tuple(Step(**step) for step in data.get("trace", ()))
        data["flags"] = tuple(data.get("flags", ()))
        return cls(**data)


def iterate_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a run folder or a `records.jsonl`, in file order.

    A last line that a killed run left unfinished is skipped; any other unreadable line raises `RecordError`.
    """
    file = Path(path)
    file = file / RECORDS if file.is_dir() else file
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith("\n"):
                    return
                yield _record(file, number, line)
    except OSError as error:
        raise RecordError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"{file}: not UTF-8 text ({error.reason})") from None


def load_records(path: str | Path) -> list[Record]:
    """Return the records of a run folder or a `records.jsonl`, sorted by case, model, template and sample.

    Of a sample that was judged again under the same run id the last record counts.

    >>> load_records("reports/latest")  # doctest: +SKIP
    [Record(schema=1, ...), ...]
    """
    latest = {sort_key(record): record for record in iterate_records(path)}
    return [latest[key] for key in sorted(latest)]


def sort_key(record: Record) -> tuple[str, str, str, int]:
    """Order of records in every report, whatever the order of arrival."""
    return record.case_name, record.model, record.prompt_template, record.sample


def _record(file: Path, number: int, line: str) -> Record:
    try:
        return Record.from_json(line)
    except (ValueError, TypeError, KeyError) as error:
        raise RecordError(f"{file}: line {number}: not a record ({error})") from None
