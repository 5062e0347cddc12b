"""The OpenAI-compatible provider over real HTTP on loopback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loopback import Loopback, Scripted, completion, error

from pytest_webbench.models import Completion, Message, Parameters, ProviderError, Request
from pytest_webbench.models.openai import OpenAIProvider

KEY = "canary-Key-1234567890abcdef"


def request(**sampling: Any) -> Request:
    return Request((Message("system", "s"), Message("user", "u")), "m", "e", Parameters(**sampling), 0)


def complete(url: str, *requests: Request, key: str | None = None, **options: Any) -> list[Completion]:
    async def ask() -> list[Completion]:
        provider = OpenAIProvider("m", url, key, **options)
        try:
            return [await provider.complete(one) for one in requests]
        finally:
            await provider.close()

    return asyncio.run(ask())


def failure(url: str, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        complete(url, request(), **options)
    return caught.value


def test_only_parameters_that_are_set_are_sent() -> None:
    with Loopback() as server:
        complete(server.url, request(), request(temperature=0.0, seed=0, max_tokens=5, extra=(("min_p", 0.1),)))
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    plain = {"model": "m", "messages": messages}
    assert server.bodies == [plain, plain | {"temperature": 0.0, "seed": 0, "max_tokens": 5, "min_p": 0.1}]


def test_usage_latency_and_the_raw_reply_are_kept() -> None:
    with Loopback(latency=0.05) as server:
        (got,) = complete(server.url, request())
    assert (got.input_tokens, got.output_tokens, got.finish_reason) == (20, 8, "stop")
    assert got.latency_seconds is not None
    assert 0.05 <= got.latency_seconds < 5
    assert got.raw["id"] == "r1"
    assert (got.sdk or "").startswith("openai ")


def test_the_key_is_sent_and_no_key_sends_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-somebody-else")
    with Loopback() as server:
        complete(server.url, request(), key=KEY)
        complete(server.url, request())
    sent = [seen.headers for seen in server.log]
    assert sent[0]["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in sent[1]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_the_server_repeats_is_not_told(status: int) -> None:
    with Loopback([error(status, f"bad key {KEY} of account", code="x")]) as server:
        found = failure(server.url, key=KEY)
    assert KEY not in str(found)
    assert KEY not in repr(found)


def test_a_refused_temperature_is_dropped_with_a_flag_and_remembered() -> None:
    refused = error(
        400,
        "Unsupported value: 'temperature' does not support 0.8 with this model."
        " Only the default (1) value is supported.",
        param="temperature",
        code="unsupported_value",
    )
    with Loopback([refused]) as server:
        first, second = complete(server.url, request(temperature=0.8), request(temperature=0.8))
    assert ["temperature" in body for body in server.bodies] == [True, False, False]
    assert "temperature_dropped" in first.flags
    assert "temperature_dropped" in second.flags


def test_a_temperature_out_of_range_is_not_dropped() -> None:
    with Loopback([error(400, "temperature must be between 0 and 2", param="temperature")]) as server:
        assert failure(server.url).failure_class == "bad_parameter"


def test_several_refusals_are_learned_one_after_the_other() -> None:
    script = [
        error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        error(422, "Extra inputs are not permitted", param="seed"),
        error(400, "Unsupported value: 'temperature'", param="temperature"),
    ]
    with Loopback(script) as server:
        complete(server.url, request(temperature=0.8, seed=1, max_tokens=9))
    assert set(server.bodies[-1]) == {"model", "messages", "max_completion_tokens"}


def test_a_server_that_refuses_for_ever_is_not_asked_for_ever() -> None:
    refusal = error(400, "Unsupported: 'temperature', 'top_p', 'seed', use max_completion_tokens, requires streaming")
    with Loopback(answer=lambda seen: refusal) as server:
        assert failure(server.url).failure_class == "bad_parameter"
        assert len(server.log) <= 6


def test_an_answer_that_drips_ends_at_the_timeout() -> None:
    with Loopback([Scripted(body=b"{" + b" " * 5000, drip=0.02)]) as server:
        found = failure(server.url, timeout=0.3)
    assert (found.failure_class, found.retryable) == ("timeout", True)


@pytest.mark.parametrize(
    ("reply", "failure_class"),
    [
        (Scripted(body=b'{"choices": [{"message"'), "bad_json"),
        (Scripted(json={"status": "ok"}), "bad_json"),
        (Scripted(json=["choices"]), "bad_json"),
        (Scripted(body=b""), "bad_json"),
        (Scripted(json={"choices": []}), "empty_response"),
        (Scripted(json={"choices": None}), "empty_response"),
        (completion("", usage=None), "empty_response"),
        (Scripted(json={"choices": None, "error": {"message": "down", "code": "upstream"}}), "server_error"),
        (Scripted(body=b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'), "connection"),
        (Scripted(body=b'data: {"choices": [{"del'), "connection"),
        (Scripted(body=b"x" * 50, then="reset"), "connection"),
    ],
)
def test_a_useless_reply_is_the_servers_fault_and_may_be_tried_again(reply: Scripted, failure_class: str) -> None:
    with Loopback([reply]) as server:
        found = failure(server.url)
    assert (found.status, found.failure_class, found.retryable) == (
        "infrastructure_error",
        failure_class,
        True,
    )


def test_an_empty_answer_that_cost_tokens_is_the_models_answer() -> None:
    with Loopback([completion("")]) as server:
        (got,) = complete(server.url, request())
    assert not got.text
