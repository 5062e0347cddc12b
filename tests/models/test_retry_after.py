"""How long a server asks its client to wait."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_webbench.models.retry_after import retry_after

NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)


def gemini(delay: object) -> dict[str, Any]:
    kind = "type.googleapis.com/google.rpc.RetryInfo"
    return {"error": {"code": 429, "details": [{"@type": "other"}, {"@type": kind, "retryDelay": delay}]}}


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({}, None, None),
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "1.4"}, None, 1.4),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": "-3"}, None, 0.0),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": ""}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "1e400"}, None, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, None, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT"}, None, 0.0),
        ({"retry-after": "Wed, 99 Oct 2026 07:27:00 GMT"}, None, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 -0000"}, None, 30.0),
        (
            {"retry-after": "Wed, 21 Oct 2026 09:00:05 GMT", "date": "Wed, 21 Oct 2026 09:00:00 GMT"},
            None,
            5.0,
        ),
        ({}, gemini("38.922534355s"), 38.922534355),
        ({}, [gemini("3s")], 3.0),
        ({"retry-after": "2"}, gemini("9s"), 2.0),
        ({"retry-after": "soon"}, gemini("9s"), 9.0),
        ({}, gemini("a while"), None),
        ({}, gemini(None), None),
        ({}, {"error": {"details": "none"}}, None),
        ({}, {"error": "text"}, None),
        ({}, "text", None),
    ],
)
def test_the_wait_is_read(headers: dict[str, str], body: object, expected: float | None) -> None:
    assert retry_after(headers, body, NOW) == expected
