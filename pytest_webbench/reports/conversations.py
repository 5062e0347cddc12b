"""Conversations and evaluations as files for people and other tools, a pair for each sample that has an answer.

`conversations/<case>/<model>/conversation__<template>__<strategy>__<timestamp>-s<sample>.json` is the chat as an
array of `role` and `content`, `evaluation__...json` beside it what came of it.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_webbench.ledger import COMPLETIONS
from pytest_webbench.records import Outcome, Record

CONVERSATIONS = "conversations"
Identity = tuple[str, str, str, int]


def write_conversations(folder: Path, records: Iterable[Record]) -> list[Path]:
    """Write the pair of files of every record whose conversation `completions.jsonl` holds; return the files."""
    by_sample = {_identity_of(record): record for record in records}
    files: dict[Path, None] = {}
    for answer in answers(folder):
        record = by_sample.get(identity(answer))
        if record is None or record.completion_key != answer["completion_key"]:
            continue
        place = folder / CONVERSATIONS / record.case_name / record.model
        place.mkdir(parents=True, exist_ok=True)
        for kind, content in (("conversation", chat(answer)), ("evaluation", evaluation(record, answer))):
            path = place / f"{kind}__{_label(record)}.json"
            path.write_bytes(_json(content))
            files[path] = None
    return list(files)


def answers(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of a run's `completions.jsonl`; a line that a killed run left unfinished is skipped."""
    path = folder / COMPLETIONS
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def identity(answer: Mapping[str, Any]) -> Identity:
    """Return which sample a line of `completions.jsonl` is of."""
    return answer["case_name"], answer["model"], answer["prompt_template"], answer["sample"]


def chat(answer: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the conversation: what was sent, and the reply."""
    sent = [{"role": message["role"], "content": message["content"]} for message in answer["messages"]]
    return [*sent, {"role": "assistant", "content": answer["reply"] or ""}]


def evaluation(record: Record, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came of one sample; what was not assessed is null, `tokens` are [input, output]."""
    unit_tests, examples = _counts(record, "unit_tests"), _counts(record, "examples")
    return {
        "name": record.case_name,
        "parsed": _passed(record.tiers["syntax"]),
        "executed": _passed(record.tiers["execution"]),
        "unit_tests_count": unit_tests[0],
        "unit_tests_passed": unit_tests[1],
        "examples_count": examples[0],
        "examples_executed": examples[1],
        "tokens": [record.input_tokens, record.output_tokens],
        "elapsed_seconds": record.latency_seconds,
        "cost": record.cost,
        "model": record.model,
        "timestamp": record.started_at,
        "prompt_strategy": _strategy(record),
        "prompt_label": record.prompt_template,
        "device": record.versions.get("device") or f"{platform.system()}-{platform.machine()}",
        "version_prompt": record.case_version,
        "schema": record.provider,
        "version_pt": record.versions.get("pytest-webbench"),
        "parameters": record.parameters,
        "experiment": record.run_id,
        "sample": record.sample,
        "model_id": record.model_id,
        "model_returned": record.model_returned,
        "completion_key": record.completion_key,
        "finish_reason": record.finish_reason,
        "status": record.status,
        "failure_class": record.failure_class,
        "message": record.message,
        "checks": [
            {"name": check.name, "tier": check.tier, "passed": check.passed, "message": check.message}
            for check in record.checks
        ],
        "trace": [asdict(step) for step in record.trace],
        "points": record.points,
        "web_codebleu": record.web_codebleu,
        "code": answer["code"],
    }


def chats(folder: Path, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield `{"messages": [...]}` for each of these samples that has a reply, as fine-tuning takes them."""
    wanted = {_identity_of(record) for record in records}
    last = {identity(answer): answer for answer in answers(folder)}
    for sample, answer in sorted(last.items()):
        if sample in wanted and answer["reply"]:
            yield {"messages": chat(answer)}


def _identity_of(record: Record) -> Identity:
    return record.case_name, record.model, record.prompt_template, record.sample


def _label(record: Record) -> str:
    stamp = re.sub(r"[-:]", "", record.started_at[:19]).replace("T", "_")
    return f"{record.prompt_template}__{_strategy(record)}__{stamp}-s{record.sample}"


def _strategy(record: Record) -> str:
    return "AGENT" if record.provider == "agent" else "1SHOT"


def _passed(outcome: Outcome) -> bool | None:
    return None if outcome == "not_assessed" else outcome == "passed"


def _counts(record: Record, tier: str) -> tuple[int, int]:
    checks = [check for check in record.checks if check.tier == tier]
    return len(checks), sum(check.passed is True for check in checks)


def _json(content: object) -> bytes:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")
