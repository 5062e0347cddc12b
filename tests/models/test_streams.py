"""Events of a stream become the body that a call without a stream has."""

from __future__ import annotations

import json

import pytest

from pytest_webbench.models import InfrastructureError
from pytest_webbench.models.streams import assembled, is_stream


def event(**fields: object) -> str:
    return f"data: {json.dumps(fields)}\n\n"


def delta(finish_reason: str | None = None, **fields: object) -> str:
    return event(choices=[{"index": 0, "delta": fields, "finish_reason": finish_reason}], model="m-1")


def test_texts_are_joined_apart_from_reasoning() -> None:
    stream = (
        ": comment\r\n\r\n"
        + delta(role="assistant", content=None, reasoning_content="hm")
        + delta(content="a\u2028")
        + delta(content="b")
        + delta("length")
        + event(choices=[], usage={"completion_tokens": 2})
        + "data: [DONE]\n\n"
    )
    body = assembled(stream)
    assert body["choices"][0]["message"]["content"] == "a\u2028b"
    assert body["choices"][0]["message"]["reasoning_content"] == "hm"
    assert body["choices"][0]["finish_reason"] == "length"
    assert (body["model"], body["usage"]) == ("m-1", {"completion_tokens": 2})


@pytest.mark.parametrize("stream", ["", delta(content="a"), delta(content="a") + 'data: {"choi'])
def test_a_stream_that_ends_early_is_no_answer(stream: str) -> None:
    with pytest.raises(InfrastructureError) as caught:
        assembled(stream)
    assert (caught.value.failure_class, caught.value.retryable) == ("connection", True)


def test_an_error_event_is_returned_as_the_body() -> None:
    assert assembled(delta(content="a") + event(error={"code": 429}) + delta("stop")) == {"error": {"code": 429}}


@pytest.mark.parametrize(
    ("content", "expected"), [(b"data: {}", True), (b"\n: ping", True), (b'{"data": 1}', False), (b"", False)]
)
def test_a_stream_is_told_from_json(content: bytes, expected: bool) -> None:
    assert is_stream(content) is expected
