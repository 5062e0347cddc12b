"""The Gemini provider on either SDK, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Loopback, Scripted

from pytest_webbench.models import Completion, ConfigError, Message, Parameters, Provider, ProviderError, Request
from pytest_webbench.models import gemini as gemini_package
from pytest_webbench.models.gemini import gemini_provider

KEY = "canary-Key-1234567890abcdef"
SDKS = ("google.generativeai", "google.genai")
Make = Callable[..., Provider]


@pytest.fixture(params=SDKS)
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a provider as if only one of the SDKs were installed."""
    pytest.importorskip(request.param)
    monkeypatch.setattr(gemini_package, "_installed", lambda name: name == request.param)
    return lambda url, key=KEY, **options: gemini_provider("gemini-1.5-flash", url, key, **options)


def answer(text: str | None = "hi", reason: str = "STOP", **body: Any) -> Scripted:
    content = {"content": {"role": "model", "parts": [{"text": text}]}} if text is not None else {}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 9}
    plain = {
        "candidates": [{**content, "finishReason": reason, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "gemini-1.5-flash-002",
    }
    return Scripted(json=plain | body)


def request(**sampling: Any) -> Request:
    messages = (Message("system", "s"), Message("user", "u"), Message("assistant", "a"), Message("user", "v"))
    return Request(messages, "gemini-1.5-flash", "e", Parameters(**sampling), 0)


def complete(provider: Callable[[], Provider], *requests: Request) -> list[Completion]:
    async def ask() -> list[Completion]:
        asked = provider()
        try:
            return list(await asyncio.gather(*(asked.complete(one) for one in requests)))
        finally:
            await asked.close()

    return asyncio.run(ask())


def failure(make: Make, url: str, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        complete(lambda: make(url, **options), request())
    return caught.value


def test_messages_parameters_and_key_are_sent(make: Make) -> None:
    with Loopback([answer()]) as server:
        complete(lambda: make(server.root), request(temperature=0.5, top_p=0.25, max_tokens=7))
        (seen,) = server.log
    assert seen.path.partition("?")[0] == "/v1beta/models/gemini-1.5-flash:generateContent"
    assert seen.headers["x-goog-api-key"] == KEY
    assert seen.body["systemInstruction"]["parts"] == [{"text": "s"}]
    assert [(turn["role"], turn["parts"]) for turn in seen.body["contents"]] == [
        ("user", [{"text": "u"}]),
        ("model", [{"text": "a"}]),
        ("user", [{"text": "v"}]),
    ]
    assert seen.body["generationConfig"] == {"temperature": 0.5, "topP": 0.25, "maxOutputTokens": 7}


def test_the_reply_is_read_with_its_hidden_thoughts_counted(make: Make) -> None:
    with Loopback([answer("```python\nx = 1\n```")], latency=0.05) as server:
        (got,) = complete(lambda: make(server.root), request())
    assert (got.text, got.finish_reason, got.model_returned) == (
        "```python\nx = 1\n```",
        "stop",
        "gemini-1.5-flash-002",
    )
    assert (got.input_tokens, got.output_tokens) == (3, 6)
    assert got.latency_seconds is not None
    assert 0.05 <= got.latency_seconds < 5
    assert (got.sdk or "").startswith("google-gen")
    assert got.raw["modelVersion"] == "gemini-1.5-flash-002"


def test_a_seed_is_sent_where_the_sdk_knows_it_and_else_flagged(make: Make) -> None:
    with Loopback([answer()]) as server:
        (got,) = complete(lambda: make(server.root), request(seed=3))
        sent = server.bodies[0].get("generationConfig", {}).get("seed")
    assert (sent, got.flags) in [(3, ()), (None, ("seed_dropped",))]


def test_requests_run_at_the_same_time(make: Make) -> None:
    with Loopback(answer=lambda seen: answer(), latency=0.3) as server:
        complete(lambda: make(server.root), *[request()] * 20)
        assert server.most_in_flight == 20


def test_a_cut_reply_says_so(make: Make) -> None:
    with Loopback([answer("x =", "MAX_TOKENS")]) as server:
        (got,) = complete(lambda: make(server.root), request())
    assert got.finish_reason == "length"


@pytest.mark.parametrize(
    ("reply", "blocked"),
    [
        (answer(None, "SAFETY"), "safety"),
        (answer("partly", "RECITATION"), "recitation"),
        (answer(candidates=[], promptFeedback={"blockReason": "PROHIBITED_CONTENT"}), "prompt_blocked"),
        (Scripted(json={"promptFeedback": {"blockReason": "SAFETY"}}), "prompt_blocked"),
    ],
)
def test_a_block_is_named_and_is_no_error(make: Make, reply: Scripted, blocked: str) -> None:
    with Loopback([reply]) as server:
        (got,) = complete(lambda: make(server.root), request())
    assert got.blocked == blocked


def google_error(status: int, word: str, message: str, *details: dict[str, Any]) -> Scripted:
    return Scripted(
        status=status, json={"error": {"code": status, "status": word, "message": message, "details": list(details)}}
    )


QUOTA = "You exceeded your current quota, please check your plan and billing details."
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.922534355s"}
PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("reply", "failure_class"),
    [
        (google_error(429, "RESOURCE_EXHAUSTED", QUOTA, RETRY_INFO), "rate_limited"),
        (google_error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), "rate_limited"),
        (
            google_error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", PER_DAY, RETRY_INFO),
            "quota_exhausted",
        ),
        (google_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", BAD_KEY), "auth"),
        (google_error(403, "PERMISSION_DENIED", "denied"), "auth"),
        (
            google_error(404, "NOT_FOUND", "models/gemini-1.5-flash is not found for API version v1beta"),
            "model_unavailable",
        ),
        (google_error(400, "INVALID_ARGUMENT", "temperature must be in the range [0.0, 2.0]"), "bad_parameter"),
        (google_error(503, "UNAVAILABLE", "The model is overloaded."), "server_error"),
        (Scripted(status=404, body=b"<html><title>Not here</title>"), "wrong_url"),
        (Scripted(status=502, body=b"<html><title>Bad gateway</title>"), "server_error"),
        (Scripted(body=b'{"candidates": [{"content"'), "bad_json"),
        (Scripted(body=b"<html>hello</html>"), "bad_json"),
        (Scripted(json={}), "empty_response"),
        (Scripted(json={"candidates": [{"finishReason": "STOP"}]}), "empty_response"),
        (Scripted(body=b"x" * 50, then="reset"), "connection"),
    ],
)
def test_each_failure_has_its_class(make: Make, reply: Scripted, failure_class: str) -> None:
    with Loopback([reply]) as server:
        found = failure(make, server.root, key_name="GEMINI_API_KEY")
        assert len(server.log) == 1
    passing = failure_class in {"rate_limited", "server_error", "bad_json", "empty_response", "connection"}
    status = "infrastructure_error" if passing else "config_error"
    assert (found.status, found.failure_class, found.retryable) == (status, failure_class, passing)
    if failure_class in ("auth", "quota_exhausted"):
        assert "GEMINI_API_KEY" in str(found)


def test_the_wait_that_the_body_asks_for_is_read(make: Make) -> None:
    with Loopback([google_error(429, "RESOURCE_EXHAUSTED", "slow", RETRY_INFO)]) as server:
        assert failure(make, server.root).retry_after == pytest.approx(38.922534355)


def test_a_server_that_is_not_there_is_unreachable(make: Make) -> None:
    found = failure(make, "http://127.0.0.1:9")
    assert (found.failure_class, found.retryable) == ("unreachable", True)


@pytest.mark.parametrize("reply", [Scripted(delay=60), Scripted(body=b"{" + b" " * 500, drip=0.1)])
def test_a_server_that_hangs_or_drips_is_given_up(make: Make, reply: Scripted) -> None:
    with Loopback([reply]) as server:
        found = failure(make, server.root, timeout=0.4)
    assert (found.failure_class, found.retryable) == ("timeout", True)


@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_a_key_that_the_server_repeats_is_not_told(make: Make, status: int) -> None:
    with Loopback([google_error(status, "WORD", f"bad key {KEY} of account")]) as server:
        found = failure(make, server.root)
    assert KEY not in str(found)
    assert KEY not in repr(found)


def test_loopback_goes_past_a_proxy(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Loopback([answer()]) as server:
        assert complete(lambda: make(server.root), request())[0].text == "hi"


def test_an_untrusted_certificate_is_refused_with_the_remedy_and_else_accepted(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    trustme = pytest.importorskip("trustme")
    import ssl

    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with Loopback([answer()], tls=context) as server:
        found = failure(make, server.root)
        assert (found.failure_class, "SSL_CERT_FILE" in str(found)) == ("tls", True)
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert complete(lambda: make(server.root), request())[0].text == "hi"


def test_the_user_sees_no_warnings_of_the_sdk() -> None:
    pytest.importorskip("google.generativeai")
    code = "from pytest_webbench.models.gemini import gemini_provider; gemini_provider('m', 'http://127.0.0.1:9')"
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert "FutureWarning" not in done.stderr
    assert "ended" not in done.stderr


def test_without_an_sdk_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini_package, "_installed", lambda name: False)
    with pytest.raises(ConfigError, match=r"pytest-webbench\[gemini\]"):
        gemini_provider("m")
