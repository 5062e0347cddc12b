"""How long a server asks its client to wait: the `Retry-After` header and its relatives."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_RETRY_INFO = "google.rpc.RetryInfo"


def retry_after(headers: Mapping[str, str], body: object, now: datetime) -> float | None:
    """Return the wait asked for in seconds, at least 0; `None` where nothing readable was asked.

    `headers` has lower-case names. A date is compared with the response's own `date` where it has one,
    so that a wrong local clock does no harm, else with `now`. Gemini sends `retryDelay` in the body.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    seconds = _number(header)
    if seconds is None:
        seconds = _until(header, _date(headers.get("date")) or now)
    return _retry_delay(body) if seconds is None else seconds


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _until(header: str | None, now: datetime) -> float | None:
    date = _date(header)
    return None if date is None else max(0.0, (date - now).total_seconds())


def _retry_delay(body: object) -> float | None:
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and str(detail.get("@type", "")).endswith(_RETRY_INFO):
            match = _DURATION.fullmatch(str(detail.get("retryDelay", "")))
            return float(match[1]) if match else None
    return None
