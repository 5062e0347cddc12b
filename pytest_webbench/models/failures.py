"""HTTP errors of model servers -> errors that name the remedy and give nothing away.

Pure: a status, a decoded body and headers go in, a `ProviderError` comes out. Server text is quoted
only where it helps, cut short and without keys, account ids and markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pytest_webbench.models import ConfigError, InfrastructureError, ProviderError
from pytest_webbench.models.retry_after import retry_after

QUOTED_CHARACTERS = 300

_CONTEXT = re.compile(
    r"context[ _](length|window|size)|maximum context|too many (input )?tokens|(prompt|input) is too long"
    r"|exceeds? .{0,40}(context|token limit)",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing|exceeded your current quota|out of credits|credit balance"
    r"|insufficient (funds|credits?)",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content_filter|content management policy|content_policy|flagged|safety (system|filter)", re.IGNORECASE
)
_SYSTEM_ROLE = re.compile(r"system (role|message|prompt|instruction)|roles? must alternate", re.IGNORECASE)
_ROUTE = re.compile(r"invalid url|not found|page not found|no route|cannot post", re.IGNORECASE)
_SECRETS = (
    re.compile(r"\b(?:sk|pk|nvapi|gsk|xai|hf|key|org|proj|AIza)[-_]?[A-Za-z0-9*_-]*[0-9*_-][A-Za-z0-9*_-]{3,}"),
    re.compile(r"(?i:bearer)\s+[\w.~+/*-]+"),
    re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    re.compile(r"\b(?=[A-Za-z_]*\d)(?=[\d_]*[A-Za-z])\w{20,}\b"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a failing request was: the URL called, the model's id, the variable that holds the key."""

    url: str
    model_id: str
    key_name: str = "the API key"

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def shown_url(self) -> str:
        """The URL without user name and password."""
        return urlsplit(self.url)._replace(netloc=self.host).geturl()


def redact(text: str) -> str:
    """Return `text` on one line, cut to a quotable length, without keys, account ids and markup."""
    if re.search(r"<html|<!doctype", text, re.IGNORECASE):
        title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = f"HTML page '{title[1].strip()}'" if title else "HTML page"
    for pattern in _SECRETS:
        text = pattern.sub("[removed]", text)
    text = " ".join(text.split())
    return text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + "…"


def server_text(body: object) -> str:
    """Return the message of an error body, whatever its shape."""
    if isinstance(body, list) and body:
        return server_text(body[0])
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    for name in ("error", "message", "detail", "msg", "title"):
        if body.get(name):
            return server_text(body[name])
    return ""


def error_field(body: object, name: str) -> str:
    """Return `name` (`code`, `param`, `type`) of an error body as text, `""` where it is missing."""
    error = body.get("error", body) if isinstance(body, dict) else None
    value = error.get(name) if isinstance(error, dict) else None
    return "" if value is None else str(value)


def blocked_by(body: object) -> str | None:
    """Return the filter that held the answer back, where an error body says so."""
    words = f"{error_field(body, 'code')} {error_field(body, 'type')} {server_text(body)}"
    if not _FILTER.search(words):
        return None
    return "content_filter" if re.search(r"filter|policy", words, re.IGNORECASE) else "safety"


def from_status(
    status: int, body: object, headers: Mapping[str, str], asked: Asked, now: datetime | None = None
) -> ProviderError:
    """Return the error for an HTTP status; `body` is decoded JSON, or text where it was none."""
    text = server_text(body)
    words = f"{error_field(body, 'code')} {error_field(body, 'type')} {text}"
    if status == 402 or (status in (403, 429) and _QUOTA.search(words)):
        return _quota(asked)
    if status in (401, 403):
        return _auth(status, asked)
    if status in (404, 405, 410):
        return _missing(status, body, text, asked)
    if status == 413 or (status in (400, 422) and _CONTEXT.search(words)):
        return ConfigError(
            "context_length",
            f"the request is too long for {asked.model_id}: {redact(text)}; lower max_tokens or shorten the prompt",
        )
    if status == 429 or status == 408 or status >= 500:
        return _passing(status, text, retry_after(headers, body, now or datetime.now(UTC)), asked)
    return ConfigError(
        "bad_parameter",
        f"{asked.host} refused the request for {asked.model_id} ({status}):"
        f" {redact(text) or 'no reason given'};"
        f" {'set system_role = false' if _SYSTEM_ROLE.search(text) else 'change the parameter'} in the models table",
    )


def _quota(asked: Asked) -> ProviderError:
    return ConfigError(
        "quota_exhausted",
        f"the account behind {asked.key_name} has no quota or credit left at {asked.host}:"
        " top it up, or use another key",
    )


def _auth(status: int, asked: Asked) -> ProviderError:
    reason = "was refused" if status == 401 else f"has no access to {asked.model_id}"
    return ConfigError("auth", f"{asked.key_name} {reason} by {asked.host} ({status}): check the key")


def _missing(status: int, body: object, text: str, asked: Asked) -> ProviderError:
    names_the_model = bool(re.search(r"model|function|account|deployment", text, re.IGNORECASE))
    if status == 405 or not isinstance(body, dict) or (_ROUTE.search(text) and not names_the_model):
        return wrong_url(status, asked)
    return ConfigError(
        "model_unavailable",
        f"{asked.host} no longer offers {asked.model_id!r} ({status}): change `model` of this models table entry",
    )


def wrong_url(status: int, asked: Asked) -> ProviderError:
    """Return the error for an address where no chat completions are served."""
    base = asked.shown_url.removesuffix("/chat/completions")
    hint = "check base_url" if base.endswith("/v1") else f"should base_url be {base}/v1?"
    return ConfigError("wrong_url", f"no chat completions at {asked.shown_url} ({status}): {hint}")


def _passing(status: int, text: str, wait: float | None, asked: Asked) -> ProviderError:
    failure_class = "rate_limited" if status == 429 else "server_error"
    said = f": {redact(text)}" if text else ""
    return InfrastructureError(failure_class, f"{asked.host} answered {status}{said}", retryable=True, retry_after=wait)
