"""Requests and completions as columns of a database, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from pytest_webbench.models import Completion, Message, Parameters, Request

NAMES = (
    "text", "finish_reason", "refusal", "blocked", "model_returned", "input_tokens", "output_tokens",
    "latency_seconds", "cost", "sdk", "created_at", "flags", "raw",
)  # fmt: skip
COLUMNS = ", ".join(NAMES)


def request_to_text(request: Request) -> str:
    """Return a request as JSON in ASCII."""
    return _dumped(asdict(request))


def request_from_json(data: dict[str, Any]) -> Request:
    """Rebuild a request from the JSON form of its fields."""
    parameters = data["parameters"]
    extra = tuple((str(name), value) for name, value in parameters["extra"])
    return Request(
        messages=tuple(Message(**message) for message in data["messages"]),
        model_id=data["model_id"],
        endpoint=data["endpoint"],
        parameters=Parameters(**{**parameters, "extra": extra}),
        sample=data["sample"],
    )


def completion_to_row(completion: Completion) -> tuple[Any, ...]:
    """Return the values of `COLUMNS`; `text`, `flags` and `raw` as JSON in ASCII, which holds what UTF-8 cannot."""
    return (
        _dumped(completion.text),
        completion.finish_reason,
        int(completion.refusal),
        completion.blocked,
        completion.model_returned,
        completion.input_tokens,
        completion.output_tokens,
        completion.latency_seconds,
        completion.cost,
        completion.sdk,
        completion.created_at,
        _dumped(completion.flags),
        _dumped(completion.raw),
    )


def completion_from_row(row: Iterable[Any]) -> Completion:
    """Rebuild a completion from its `COLUMNS`."""
    fields = dict(zip(NAMES, row, strict=True))
    fields |= {name: json.loads(fields[name]) for name in ("text", "flags", "raw")}
    return Completion(**{**fields, "refusal": bool(fields["refusal"]), "flags": tuple(fields["flags"])})


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
