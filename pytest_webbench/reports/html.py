"""`index.html`: the whole run as one self-contained page that needs no network.

The figures lie in the page as JSON and are drawn by `page/page.js`. Prompts, references and samples lie beside
them one by one, compressed, and are unpacked when somebody opens them; so a large run stays quick. Nothing of a
model is ever markup: the page writes text nodes only, and its content security policy admits one script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Any

from pytest_webbench.ledger import COMPLETIONS, RUN, SampleId, sample_id
from pytest_webbench.records import Record, sort_key
from pytest_webbench.reports.references import read_references
from pytest_webbench.statistics.summary import RATES, Row, Summary, partition, summarise_group

PAGE = "index.html"
LABELS = {
    "functional_pass_at_1": "Functional",
    "secure_pass_at_1": "Secure",
    "pass_at_1": "Static",
    "points": "Points",
    "web_codebleu": "Web-CodeBLEU",
    "kw_f1": "KW-F1",
}
COUNTS = ("expected", "n", "passed", "coverage", "truncated", "refused", "no_code", "blocked", "infrastructure",
          "config", "duplicates", "cost", "latency_seconds", "input_tokens", "output_tokens")  # fmt: skip
FILTERS = ("framework", "category", "difficulty", "prompt_template")
DETAILS = ("node_id", "case_version", "model_id", "model_returned", "provider", "message", "tiers", "points",
           "static_pass", "functional_pass", "secure_pass", "compiles", "web_codebleu", "ngram", "weighted_ngram",
           "syntax", "dataflow", "kw_precision", "kw_recall", "kw_f1", "finish_reason", "flags", "input_tokens",
           "output_tokens", "cost", "latency_seconds", "extraction_rule", "sandbox", "started_at",
           "duration_seconds", "from_store", "parameters")  # fmt: skip

COMBINED_FILTERS_UP_TO = 10_000
"""Records up to which every combination of filters is aggregated; above it, every single filter."""
SAMPLES = 100_000
"""Samples that can be opened or at least listed; those that did not pass come first."""
DETAIL_CHARACTERS = 48_000_000
"""Characters of compressed samples in the page; those that did not pass come first."""
TEXT_CHARACTERS = 250_000
"""Characters of one reply, one code; the rest is left to `completions.jsonl`."""


def write_page(folder: Path, summary: Summary, records: Sequence[Record]) -> Path:
    """Write `index.html` of a run folder from its records, `run.json`, `completions.jsonl` and references."""
    description = json.loads((folder / RUN).read_text("utf-8")) if (folder / RUN).exists() else {}
    answers = Answers.of(folder)
    with (folder / PAGE).open("w", encoding="ascii") as file:
        file.writelines(page(summary, records, description, read_references(folder), answers))
    return folder / PAGE


@dataclass(frozen=True, slots=True)
class Answers:
    """Where in `completions.jsonl` the conversation of each sample begins; the last one counts."""

    path: Path
    offsets: Mapping[SampleId, int]

    @classmethod
    def of(cls, folder: Path) -> Answers:
        """Index the conversations of a run folder; a line that a killed run left unfinished is none."""
        path = folder / COMPLETIONS
        offsets: dict[SampleId, int] = {}
        offset = 0
        with path.open("rb") if path.exists() else _nothing() as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    answer = json.loads(line)
                    offsets[answer["case_name"], answer["model"], answer["prompt_template"], answer["sample"]] = offset
                offset += len(line)
        return cls(path, offsets)

    def read(self, records: Iterable[Record]) -> Iterator[tuple[Record, Mapping[str, Any]]]:
        """Yield each record with its conversation, which is empty where there was none."""
        with self.path.open("rb") if self.offsets else _nothing() as file:
            for record in records:
                offset = self.offsets.get(sample_id(record))
                if offset is None:
                    yield record, {}
                else:
                    file.seek(offset)
                    yield record, json.loads(file.readline())


@dataclass(slots=True)
class Blocks:
    """Compressed parts of the page, each in a script element of its own that the page unpacks when asked."""

    characters: int = 0
    _ids: dict[bytes, str] = field(default_factory=dict)

    def add(self, value: Any) -> tuple[str, str]:
        """Return the id of a value and its element, which is empty where the page has the value already."""
        text = json.dumps(value, separators=(",", ":")).encode("ascii")
        digest = hashlib.blake2b(text, digest_size=16).digest()
        if digest in self._ids:
            return self._ids[digest], ""
        self._ids[digest] = f"b{len(self._ids)}"
        packed = base64.b64encode(zlib.compress(text, 3)).decode("ascii")
        self.characters += len(packed)
        return self._ids[digest], f'<script type="text/plain" id="{self._ids[digest]}">{packed}</script>\n'


def page(
    summary: Summary,
    records: Sequence[Record],
    description: Mapping[str, Any],
    references: Mapping[str, str],
    answers: Answers,
) -> Iterator[str]:
    """Yield the page piece by piece, in ASCII: every other character is escaped."""
    script, style, template = (_asset(name) for name in ("page.js", "page.css", "page.html"))
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    head, tail = template.split("$data")
    yield Template(head).substitute(title=_ascii(escape(summary.run_id)), style=style, script_sha=sha)
    blocks = Blocks()
    kept: dict[str, str] = {}
    for name, text in references.items():
        kept[name], element = blocks.add(text[:TEXT_CHARACTERS])
        yield element
    listed = sorted(records, key=lambda record: (record.status == "passed", sort_key(record)))[:SAMPLES]
    samples = []
    for record, answer in answers.read(listed):
        sample, element = _sample(record, answer, blocks)
        samples.append(sample)
        yield element
    data = overview(summary, records, description) | {"references": kept, "samples": samples}
    yield f'<script type="application/json" id="data">{_json(data)}</script>\n'
    yield Template(tail).substitute(script=script)


def overview(summary: Summary, records: Sequence[Record], description: Mapping[str, Any]) -> dict[str, Any]:
    """Return all figures of the page but for the single samples."""
    return {
        "run": {
            "id": summary.run_id,
            "created": description.get("created_at"),
            "tier": description.get("settings", {}).get("tier"),
            "versions": description.get("versions", {}),
            "records": len(records),
        },
        "metrics": [{"name": name, "label": label, "rate": name in RATES} for name, label in LABELS.items()],
        "filters": {name: sorted({getattr(record, name) for record in records}) for name in FILTERS},
        "models": _models(records, description),
        "cases": _cases(records),
        "slices": {"\n".join(key): rows for key, rows in _slices(summary, records).items()},
        "combined": len(records) <= COMBINED_FILTERS_UP_TO,
        "cells": _cells(records),
    }


def _models(records: Sequence[Record], description: Mapping[str, Any]) -> list[dict[str, Any]]:
    described = description.get("models", {})
    first = {record.model: record for record in reversed(records)}
    return [
        {
            "name": name,
            "id": record.model_id,
            "hosting": record.hosting,
            "size_b": described.get(name, {}).get("size_b"),
            "exclude": described.get(name, {}).get("exclude"),
        }
        for name, record in sorted(first.items())
    ]


def _cases(records: Sequence[Record]) -> list[dict[str, str]]:
    first = {record.case_name: record for record in reversed(records)}
    return [
        {"name": name, "id": record.case_id, **{key: getattr(record, key) for key in FILTERS[:3]}}
        for name, record in sorted(first.items())
    ]


def _slices(summary: Summary, records: Sequence[Record]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the rows of each choice of filters by model; an empty string is no choice."""
    slices: dict[tuple[str, ...], dict[str, Any]] = {("",) * len(FILTERS): _by_model(summary.by_model)}
    groups = (summary.by_framework, summary.by_category, summary.by_difficulty, summary.by_template)
    for position, rows in enumerate(groups):
        for row in rows:
            key = tuple(row.key[1] if position == place else "" for place in range(len(FILTERS)))
            slices.setdefault(key, {})[row.key[0]] = _row(row)
    if len(records) <= COMBINED_FILTERS_UP_TO:
        for count in range(2, len(FILTERS) + 1):
            for chosen in combinations(FILTERS, count):
                for (model, *key), members in partition(records, lambda record: _choice(record, chosen)).items():
                    slices.setdefault(tuple(key), {})[model] = _row(summarise_group((model,), members))
    return slices


def _choice(record: Record, chosen: Sequence[str]) -> tuple[str, ...]:
    return record.model, *(getattr(record, name) if name in chosen else "" for name in FILTERS)


def _by_model(rows: Iterable[Row]) -> dict[str, Any]:
    return {row.key[0]: _row(row) for row in rows}


def _row(row: Row) -> dict[str, Any]:
    metrics = {
        name: [_round(value) for value in (estimate.value, estimate.low, estimate.high)]
        for name, estimate in row.metrics.items()
    }
    return {name: _round(getattr(row, name)) for name in COUNTS} | {"metrics": metrics}


def _cells(records: Sequence[Record]) -> list[list[Any]]:
    """Return case, model, template, expected, judged and passed samples, and how often each failure occurred."""
    cells = []
    groups = partition(records, lambda record: (record.case_name, record.model, record.prompt_template))
    for key, members in sorted(groups.items()):
        status = [record.status for record in members]
        failures: dict[str, int] = {}
        for record in members:
            if record.failure_class is not None:
                name = f"{record.status}:{record.failure_class}"
                failures[name] = failures.get(name, 0) + 1
        cells.append([*key, len(members), sum(record.judged for record in members), status.count("passed"), failures])
    return cells


def _sample(record: Record, answer: Mapping[str, Any], blocks: Blocks) -> tuple[list[Any], str]:
    """Return a sample's line of the index, whose last item is its block, and the elements that it needs."""
    line = [*sample_id(record), record.status, record.failure_class, record.functional_pass, _round(record.points)]
    if blocks.characters >= DETAIL_CHARACTERS:
        return [*line, None], ""
    prompt, before = blocks.add(answer.get("messages", []))
    details = {name: getattr(record, name) for name in DETAILS}
    details["checks"] = [
        [check.name, check.tier, check.passed, check.message, check.request, check.response] for check in record.checks
    ]
    texts = {name: (answer.get(name) or "")[:TEXT_CHARACTERS] for name in ("reply", "code")}
    cut = [name for name in texts if len(answer.get(name) or "") > TEXT_CHARACTERS]
    block, element = blocks.add({**details, **texts, "cut": cut, "prompt": prompt})
    return [*line, block], before + element


def _round(value: float | None) -> float | None:
    return round(value, 5) if isinstance(value, float) else value


def _json(value: Any) -> str:
    """Return JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _asset(name: str) -> str:
    return (files("pytest_webbench.reports") / "page" / name).read_text("utf-8")


def _nothing() -> Any:
    import io

    return io.BytesIO()
