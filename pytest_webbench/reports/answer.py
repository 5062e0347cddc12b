"""One answer for people: conversation, code, tiers, and each check with what was sent and came back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webbench.ledger import COMPLETIONS
from pytest_webbench.records import Record, Step


def select(records: Sequence[Record], case: str, model: str | None, template: str | None, sample: int) -> Record:
    """Return the one record that is meant; `LookupError` says what there is to choose from."""
    found = [record for record in records if case in (record.case_name, record.case_id)]
    if not found:
        raise LookupError(f"no case {case!r} in this run; it has {_names(record.case_name for record in records)}")
    found = _narrow(found, "model", model)
    found = _narrow(found, "prompt_template", template)
    for record in found:
        if record.sample == sample:
            return record
    raise LookupError(f"no sample {sample} of {case}; there are {_names(str(record.sample) for record in found)}")


def find_answer(folder: Path, record: Record) -> Mapping[str, Any] | None:
    """Return the conversation that a record judges, from the run folder's `completions.jsonl`."""
    identity = (record.case_name, record.model, record.prompt_template, record.sample)
    found = None
    if (folder / COMPLETIONS).exists():
        with (folder / COMPLETIONS).open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    answer = json.loads(line)
                    if (
                        answer["case_name"],
                        answer["model"],
                        answer["prompt_template"],
                        answer["sample"],
                    ) == identity:
                        found = answer
    return found


def answer_text(record: Record, answer: Mapping[str, Any] | None) -> str:
    """Return everything that is known of one sample as text."""
    head = f"{record.case_name}, {record.model}, {record.prompt_template}, sample {record.sample}"
    parts = [head, _outcome(record)]
    if answer is not None:
        parts += [_section(f"{message['role']} message", message["content"]) for message in answer["messages"]]
        parts += [_step(step, said) for step, said in zip(record.trace, answer.get("steps", ()), strict=True)]
        parts.append(_section("reply", answer["reply"] or "(no text)"))
        parts.append(_section(f"code (found by: {record.extraction_rule})", answer["code"] or "(none)"))
    parts += [_check(check.name, check.tier, check.passed, check.message, check.request, check.response)
              for check in record.checks]  # fmt: skip
    return "\n\n".join(parts)


def _step(step: Step, said: Mapping[str, Any]) -> str:
    """Return a step of an agent: what its role was sent last, and said."""
    found = "" if step.role == "reviewer" else f"; syntax {step.syntax}, structure {step.structure}"
    title = f"iteration {step.iteration}, {step.role} ({step.model})"
    sent = _section(f"{title}: sent", said["messages"][-1]["content"])
    return f"{sent}\n\n{_section(f'{title}: reply{found}', said['reply'] or '(no text)')}"


def _outcome(record: Record) -> str:
    lines = [f"status: {record.status}" + (f" ({record.failure_class})" if record.failure_class else "")]
    if record.message:
        lines.append(record.message)
    lines.append("tiers: " + ", ".join(f"{name} {outcome}" for name, outcome in record.tiers.items()))
    scores = {"points": record.points, "Web-CodeBLEU": record.web_codebleu, "KW-F1": record.kw_f1}
    lines.append(", ".join(f"{name} {'n/a' if value is None else f'{value:.3f}'}" for name, value in scores.items()))
    if record.flags:
        lines.append(f"flags: {', '.join(record.flags)}")
    return "\n".join(lines)


def _check(name: str, tier: str, passed: bool | None, message: str, request: str, response: str) -> str:
    word = {True: "passed", False: "FAILED", None: "not assessed"}[passed]
    head = f"{tier} {name}: {word}"
    if passed:
        return head
    return "\n".join(
        part for part in (head, message, _section("request", request), _section("response", response)) if part
    )


def _section(title: str, text: str) -> str:
    return f"--- {title} ---\n{text.rstrip()}"


def _narrow(records: list[Record], attribute: str, wanted: str | None) -> list[Record]:
    names = sorted({getattr(record, attribute) for record in records})
    word = attribute.removeprefix("prompt_")
    if wanted is None and len(names) > 1:
        raise LookupError(f"this run has several of these, choose with --{word}: {', '.join(names)}")
    chosen = [record for record in records if wanted in (None, getattr(record, attribute))]
    if not chosen:
        raise LookupError(f"no {word} {wanted!r}; there are {', '.join(names)}")
    return chosen


def _names(names: Any) -> str:
    return ", ".join(dict.fromkeys(names))
