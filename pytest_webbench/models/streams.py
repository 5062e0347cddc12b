"""Server-sent events of a chat completion, put together to the body that a call without a stream has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_webbench.models import InfrastructureError


def is_stream(content: bytes) -> bool:
    """Tell whether a body is a stream of events rather than JSON."""
    return content.lstrip().startswith((b"data:", b"event:", b":"))


def assembled(stream: str) -> dict[str, Any]:
    """Return the chat completion that the events make up, or the error event among them.

    Raises `InfrastructureError` (`connection`) where the stream ended before the answer did: what came
    of it is nobody's answer.
    """
    texts: dict[str, list[str]] = {"content": [], "reasoning_content": [], "refusal": []}
    body: dict[str, Any] = {"object": "chat.completion"}
    finish_reason: str | None = None
    for event in _events(stream):
        if event.get("error"):
            return event
        body |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
        for choice in event.get("choices") or ():
            finish_reason = choice.get("finish_reason") or finish_reason
            for name, parts in texts.items():
                parts.append((choice.get("delta") or {}).get(name) or "")
    if finish_reason is None:
        raise _broken("the stream ended before the answer did")
    message = {name: "".join(parts) or None for name, parts in texts.items()}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    return body | {"choices": [choice]}


def _events(stream: str) -> Iterator[dict[str, Any]]:
    for line in stream.split("\n"):
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        try:
            event = json.loads(data)
        except ValueError as error:
            raise _broken("the stream broke off within an event") from error
        if isinstance(event, dict):
            yield event


def _broken(message: str) -> InfrastructureError:
    return InfrastructureError("connection", message, retryable=True)
