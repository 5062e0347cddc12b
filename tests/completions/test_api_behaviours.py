"""What real servers were seen to do, each replayed by a scripted server: outcome, requests and waits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Scripted, completion, streamed

from pytest_webbench.completions.fetch import Fetcher
from pytest_webbench.completions.store import CompletionStore
from pytest_webbench.models import Completion, ConfigError, ProviderError, Request

LINES = Path(__file__).with_name("api_behaviours.jsonl").read_text(encoding="utf-8").splitlines()
ITEMS = {item["id"]: item for item in map(json.loads, LINES)}
ENDINGS = {"connection closed without final chunk": "close", "TCP reset": "reset"}

Make = Callable[..., Any]


def scripted(response: dict[str, Any]) -> Scripted:
    """Return the loopback server's form of an item's response."""
    if "bytes_utf8" in response:
        body: bytes | None = response["bytes_utf8"].encode()
    else:
        body = response["text"].encode() if "text" in response else None
    headers = {k: v for k, v in response.get("headers", {}).items() if k != "Content-Length"}
    return Scripted(
        status=response.get("status", 200),
        headers=headers,
        json=response.get("json"),
        body=body,
        sse=tuple(response["sse"]) if "sse" in response else None,
        delay=response.get("delay_s", 0.0) / 50,
        then=ENDINGS.get(response.get("then", ""), "keep"),  # type: ignore[arg-type]
    )


def script(item: str) -> list[Scripted]:
    return [scripted(response) for response in ITEMS[item]["input"]["responses"]]


def outcome(fetcher: Fetcher, request: Request) -> str:
    """Return `sample ok`, `blocked:<filter>` or `<status>:<failure class>` of one sample."""
    try:
        got = fetcher.submit("m", request).result(timeout=20).completion
    except ProviderError as error:
        return f"{error.status}:{error.failure_class}"
    return f"blocked:{got.blocked}" if got.blocked else "sample ok"


def message(fetcher: Fetcher, request: Request) -> str:
    with pytest.raises(ProviderError) as caught:
        fetcher.submit("m", request).result(timeout=20)
    return str(caught.value)


REPLAYED = {
    "B001": "sample ok",
    "B003": "sample ok",
    "B004": "sample ok",
    "B006": "sample ok",
    "B009": "config_error:quota_exhausted",
    "B010": "sample ok",
    "B012": "sample ok",
    "B015": "config_error:model_unavailable",
    "B016": "config_error:model_unavailable",
    "B018": "config_error:auth",
    "B019": "sample ok",
    "B021": "config_error:context_length",
    "B025": "sample ok",
    "B027": "sample ok",
    "B028": "blocked:safety",
    "B030": "blocked:content_filter",
    "B031": "blocked:content_filter",
    "B033": "sample ok",
    "B034": "sample ok",
    "B042": "sample ok",
    "B055": "sample ok",
    "B057": "sample ok",
    "B058": "sample ok",
}


@pytest.mark.parametrize(("item", "expected"), REPLAYED.items())
def test_the_outcome_and_the_number_of_requests_are_as_specified(
    item: str, expected: str, fetching: Make, ask: Make
) -> None:
    wanted = ITEMS[item]["expected"]
    with Loopback(script(item)) as server:
        assert outcome(fetching(server), ask(max_tokens=800)) == expected
        assert len(server.log) == wanted.get("requests_sent", len(server.log))
    assert expected == wanted.get("outcome", expected) or item in {"B009", "B028", "B033", "B034"}


WAITING = ["B001", "B003", "B004", "B006", "B010", "B012", "B025", "B027", "B055"]


@pytest.mark.parametrize("item", WAITING)
def test_a_commanded_wait_is_honoured_and_else_there_is_a_short_one(
    item: str, fetching: Make, ask: Make, fast: Any
) -> None:
    with Loopback(script(item)) as server:
        fetching(server).submit("m", ask()).result(timeout=20)
    (asked,), (waited,) = ITEMS[item]["expected"]["waits_s"], fast.waits[:1]
    least, most = (0.2, 1.0) if asked == "backoff" else (asked, asked * 1.1)
    assert least <= waited <= most


def test_a_gemini_body_tells_the_wait(fetching: Make, ask: Make, fast: Any) -> None:
    with Loopback([scripted(ITEMS["B007"]["input"]["responses"][0])]) as server:
        assert outcome(fetching(server), ask()) == "sample ok"
    assert any(38.92 <= wait <= 41 for wait in fast.waits)


def test_a_base_url_without_v1_is_named_with_the_suffix_to_try(fetching: Make, ask: Make) -> None:
    with Loopback(script("B013")) as server:
        text = message(fetching(server.root), ask())
        assert f"{server.root}/chat/completions" in text
        assert f"{server.root}/v1?" in text
        assert len(server.log) == 1


def test_an_html_page_with_status_200_is_a_wrong_url(fetching: Make, ask: Make) -> None:
    with Loopback([Scripted(body=b"<!doctype html><title>Web UI</title>")]) as server:
        assert outcome(fetching(server.root), ask()) == "config_error:wrong_url"


def test_an_html_error_page_is_not_quoted_whole(fetching: Make, ask: Make) -> None:
    page = scripted(ITEMS["B012"]["input"]["responses"][0])
    with Loopback([page] * 4) as server:
        text = message(fetching(server), ask())
    assert "502 Bad gateway" in text
    assert "<" not in text


def test_the_account_id_of_a_retired_model_is_not_told(fetching: Make, ask: Make) -> None:
    with Loopback(script("B015")) as server:
        text = message(fetching(server), ask())
    assert "acme/coder-1" in text
    assert "AbCdEf" not in text
    assert "00000000" not in text


def test_a_wrong_key_stops_the_model_after_the_requests_in_flight(fetching: Make, ask: Make) -> None:
    refused = scripted(ITEMS["B018"]["input"]["responses"][0])
    key = "sk-canary-0123456789"
    with Loopback(answer=lambda seen: refused, latency=0.05) as server:
        fetcher = fetching(server, key=key, concurrency=4)
        futures = [fetcher.submit("m", ask(sample)) for sample in range(200)]
        texts = {str(future.exception(timeout=20)) for future in futures}
        assert len(server.log) <= 4
    assert all("ACME_KEY" in text and "sk-" not in text for text in texts)


def test_max_completion_tokens_is_learned_once_for_the_model(fetching: Make, ask: Make) -> None:
    with Loopback(script("B019")) as server:
        fetcher = fetching(server)
        assert outcome(fetcher, ask(0, max_tokens=800)) == "sample ok"
        assert outcome(fetcher, ask(1, max_tokens=800)) == "sample ok"
        assert [("max_tokens" in body, body.get("max_completion_tokens")) for body in server.bodies] == [
            (True, None),
            (False, 800),
            (False, 800),
        ]


def test_a_request_too_long_affects_its_case_only(fetching: Make, ask: Make) -> None:
    with Loopback(script("B021")) as server:
        fetcher = fetching(server)
        text = message(fetcher, ask(0, max_tokens=65535))
        assert all(number in text for number in ("32768", "65535", "900"))
        assert outcome(fetcher, ask(1)) == "sample ok"


def test_a_model_that_only_streams_is_asked_again_with_a_stream(fetching: Make, ask: Make) -> None:
    with Loopback([*script("B022"), streamed("```python\nx", " = 1\n```")]) as server:
        got = fetching(server).submit("m", ask()).result(timeout=20).completion
        assert got.text == "```python\nx = 1\n```"
        assert got.output_tokens == 8
        assert [body.get("stream", False) for body in server.bodies] == [False, True]


def test_a_stream_that_breaks_off_is_not_scored(fetching: Make, ask: Make) -> None:
    broken = scripted(ITEMS["B024"]["input"]["responses"][0])
    with Loopback([*script("B022"), broken, completion("```python\nx = 1\n```")]) as server:
        fetched = fetching(server).submit("m", ask()).result(timeout=20)
        assert len(server.log) == 3
    assert fetched.completion.text == "```python\nx = 1\n```"
    assert fetched.attempts == 2


def test_a_filtered_reply_keeps_its_partial_text(fetching: Make, ask: Make) -> None:
    with Loopback(script("B031")) as server:
        got = fetching(server).submit("m", ask()).result(timeout=20).completion
    assert "Fl" in json.dumps(got.raw)
    assert got.blocked == "content_filter"


def test_a_reply_cut_at_the_limit_says_so(fetching: Make, ask: Make) -> None:
    with Loopback(script("B033")) as server:
        got = fetching(server).submit("m", ask()).result(timeout=20).completion
    assert got.finish_reason == "length"


@pytest.mark.parametrize("item", ["B036", "B037"])
def test_samples_are_asked_for_one_by_one(item: str, fetching: Make, ask: Make, store: CompletionStore) -> None:
    expected = ITEMS[item]["expected"]
    with Loopback(script(item)) as server:
        fetcher = fetching(server, concurrency=1)
        texts = [
            fetcher.submit("m", ask(sample)).result(timeout=20).completion.text
            for sample in range(len(expected["samples"]))
        ]
        assert len(server.log) == expected["requests_sent"]
        assert all("n" not in body for body in server.bodies)
    assert texts == expected["samples"]


def test_a_read_timeout_is_repeated_once_only(fetching: Make, ask: Make) -> None:
    with Loopback(script("B043")) as server:
        text = message(fetching(server, timeout=0.05), ask())
        assert len(server.log) == 2
    assert re.search(r"within 0\.\d*[1-9]", text) or "within 0.1 s" in text
    assert "`timeout`" in text


def test_an_unreachable_server_stops_the_model_after_one_samples_retries(fetching: Make, ask: Make) -> None:
    fetcher = fetching("http://127.0.0.1:9")
    futures = [fetcher.submit("m", ask(sample)) for sample in range(50)]
    errors = [future.exception(timeout=20) for future in futures]
    assert {error.failure_class for error in errors if isinstance(error, ConfigError)} == {"unreachable"}
    assert len(errors) == 50
    assert fetcher.progress().sent < 50 * 4


def test_an_unreachable_server_is_a_wrong_set_up_from_the_first_sample_on(fetching: Make, ask: Make) -> None:
    assert outcome(fetching("http://127.0.0.1:9"), ask()) == "config_error:unreachable"


def test_loopback_goes_past_a_proxy(fetching: Make, ask: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with Loopback(script("B046")) as server:
        assert outcome(fetching(server), ask()) == "sample ok"


def test_a_self_signed_certificate_is_refused_with_the_remedy(fetching: Make, ask: Make) -> None:
    trustme = pytest.importorskip("trustme")
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Loopback(script("B048"), tls=context) as server:
        fetcher = fetching(server)
        assert "SSL_CERT_FILE" in message(fetcher, ask())
        assert outcome(fetcher, ask(1)) == "config_error:tls"
        assert server.log == []


def test_a_blank_reply_without_tokens_is_never_stored(fetching: Make, ask: Make, store: CompletionStore) -> None:
    blank = scripted(ITEMS["B054"]["input"]["runs"][0]["responses"][0])
    with Loopback([blank] * 4) as server:
        assert outcome(fetching(server), ask()) == "infrastructure_error:empty_response"
        assert len(store) == 0
        assert outcome(fetching(server), ask()) == "sample ok"


def test_requests_at_another_temperature_or_sample_share_no_completion(ask: Make) -> None:
    requests = [ask(0, temperature=0.0), ask(0, temperature=0.7), ask(1, temperature=0.7)]
    assert len({request.key for request in requests}) == 3


def test_a_second_run_replays_each_sample(fetching: Make, ask: Make) -> None:
    replies = ITEMS["B052"]["input"]["runs"][0]["replies"]
    with Loopback([completion(text) for text in replies]) as server:
        runs = []
        for _ in range(2):
            fetcher = fetching(server, concurrency=1)
            fetched = [fetcher.submit("m", ask(sample)).result(timeout=20) for sample in range(3)]
            runs.append([one.completion.text for one in fetched])
        assert len(server.log) == 3
    assert runs == [replies, replies]


def test_latency_leaves_out_the_waits(fetching: Make, ask: Make) -> None:
    with Loopback(script("B055")) as server:
        fetched = fetching(server).submit("m", ask()).result(timeout=20)
    assert fetched.waited_seconds >= 2
    assert fetched.completion.latency_seconds is not None
    assert fetched.completion.latency_seconds < 1


def test_the_served_model_is_kept(fetching: Make, ask: Make) -> None:
    with Loopback(script("B057")) as server:
        got: Completion = fetching(server).submit("m", ask()).result(timeout=20).completion
    assert got.model_returned == "coder-2026-05-01"


def test_json_is_read_as_utf_8_whatever_the_header_says(fetching: Make, ask: Make) -> None:
    with Loopback(script("B058")) as server:
        got = fetching(server).submit("m", ask()).result(timeout=20).completion
    assert got.text == ITEMS["B058"]["expected"]["text"]
