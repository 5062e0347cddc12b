"""What both SDKs bring, read alike: bodies of generateContent and of its errors. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pytest_webbench.models import Completion, ConfigError, InfrastructureError, Message, ProviderError
from pytest_webbench.models.failures import Asked, from_status, redact, server_text
from pytest_webbench.models.replies import from_generate_content
from pytest_webbench.models.retry_after import retry_after

API_VERSION = "v1beta"
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key (not valid|expired|not found)", re.IGNORECASE)
_DAILY = re.compile(r"per_?day|limit: 0\b", re.IGNORECASE)


def asked_of(base_url: str, model_id: str, key_name: str) -> Asked:
    """Return what messages say of a request."""
    return Asked(f"{base_url}/{API_VERSION}/{resource(model_id)}:generateContent", model_id, key_name)


def resource(model_id: str) -> str:
    """Return the model's resource name: `models/gemini-1.5-flash`; a tuned model has its own prefix."""
    return model_id if "/" in model_id else f"models/{model_id}"


def system_text(messages: tuple[Message, ...]) -> str:
    """Return the system messages as one text, `""` where there is none."""
    return "\n\n".join(message.content for message in messages if message.role == "system")


def turns(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    """Return role and text of the other messages, in Gemini's words for the roles."""
    roles = {"user": "user", "assistant": "model"}
    return [(roles[message.role], message.content) for message in messages if message.role in roles]


def completion_of(body: Mapping[str, Any], asked: Asked, flags: tuple[str, ...] = ()) -> Completion:
    """Return the completion of a body; `InfrastructureError` (`empty_response`) where it answers nothing."""
    try:
        reply = from_generate_content(body)
    except ValueError:
        raise InfrastructureError("empty_response", f"{asked.host} sent no candidates", retryable=True) from None
    silent = not (reply.text or "").strip() and not reply.output_tokens
    if silent and not reply.blocked and reply.finish_reason in (None, "stop", "finish_reason_unspecified"):
        raise InfrastructureError("empty_response", f"{asked.host} sent an empty answer", retryable=True)
    return Completion(
        text=reply.text,
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
        blocked=reply.blocked,
        model_returned=reply.model,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        flags=(*reply.flags, *flags),
        raw=dict(body),
    )


def error_of(status: int, body: object, headers: Mapping[str, str], asked: Asked) -> ProviderError:
    """Return the error of a refused request.

    Gemini says 400 for a bad key, and speaks of the quota in each 429: one that passes within the day
    names a wait or nothing, one that does not names a limit per day.
    """
    words = str(body)
    if status == 400 and _BAD_KEY.search(words):
        return from_status(401, body, headers, asked)
    if status == 404 and not isinstance(body, dict):
        base = asked.shown_url.partition(f"/{API_VERSION}/")[0]
        return ConfigError("wrong_url", f"no Gemini API at {base} (404): check base_url")
    if status == 429 and not _DAILY.search(words):
        said = redact(server_text(body))
        wait = retry_after(headers, body, datetime.now(UTC))
        message = f"{asked.host} answered 429: {said}"
        return InfrastructureError("rate_limited", message, retryable=True, retry_after=wait)
    if status == 429:
        return ConfigError(
            "quota_exhausted",
            f"the quota behind {asked.key_name} for {asked.model_id} is used up at {asked.host}: "
            "wait for the next day, raise the plan, or use another key",
        )
    return from_status(status, body, headers, asked)


def without_key(error: ProviderError, key: str | None) -> ProviderError:
    """Return the error with the key taken out of its message."""
    if key and key in str(error):
        error.args = (str(error).replace(key, "[removed]"),)
    return error
