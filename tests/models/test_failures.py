"""HTTP errors become errors that name the remedy and give nothing away."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_webbench.models import ConfigError, InfrastructureError
from pytest_webbench.models.failures import Asked, blocked_by, from_status, redact

ASKED = Asked("https://api.example.org/v1/chat/completions", "acme/coder-1", "ACME_KEY")


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "failure_class", "word"),
    [
        (401, error("Incorrect API key provided: sk-abcdefgh1234"), "auth", "ACME_KEY"),
        (403, error("Forbidden"), "auth", "acme/coder-1"),
        (402, error("Payment required"), "quota_exhausted", "top it up"),
        (429, error("x", code="insufficient_quota"), "quota_exhausted", "ACME_KEY"),
        (403, error("Your credit balance is too low"), "quota_exhausted", "ACME_KEY"),
        (404, error("The model `acme/coder-1` does not exist"), "model_unavailable", "models table"),
        (404, error("model 'acme/coder-1' not found"), "model_unavailable", "models table"),
        (404, {"detail": "Not Found"}, "wrong_url", "base_url"),
        (404, error("Invalid URL (POST /chat/completions)"), "wrong_url", "base_url"),
        (404, "404 page not found", "wrong_url", "base_url"),
        (405, {"detail": "Method Not Allowed"}, "wrong_url", "base_url"),
        (410, {"detail": "end of life"}, "model_unavailable", "410"),
        (400, error("x", code="context_length_exceeded"), "context_length", "max_tokens"),
        (413, "", "context_length", "shorten"),
        (422, {"detail": [{"loc": ["body"], "msg": "bad thing"}]}, "bad_parameter", "bad thing"),
        (400, "", "bad_parameter", "no reason given"),
        (418, error("teapot"), "bad_parameter", "teapot"),
    ],
)
def test_a_wrong_set_up_is_told_with_its_remedy(status: int, body: object, failure_class: str, word: str) -> None:
    found = from_status(status, body, {}, ASKED)
    assert isinstance(found, ConfigError)
    assert (found.failure_class, found.retryable) == (failure_class, False)
    assert word in str(found)
    assert "sk-" not in str(found)


@pytest.mark.parametrize(
    ("status", "failure_class"),
    [
        (408, "server_error"),
        (429, "rate_limited"),
        (500, "server_error"),
        (503, "server_error"),
        (529, "server_error"),
    ],
)
def test_passing_trouble_may_be_tried_again(status: int, failure_class: str) -> None:
    found = from_status(status, error("busy"), {"retry-after": "3"}, ASKED)
    assert isinstance(found, InfrastructureError)
    assert (found.failure_class, found.retryable, found.retry_after) == (failure_class, True, 3.0)


def test_a_password_in_the_url_is_not_told() -> None:
    asked = Asked("https://user:secret@api.example.org:8443/v1/chat/completions", "m")
    text = str(from_status(404, "404 page not found", {}, asked))
    assert "https://api.example.org:8443/v1/chat/completions" in text
    assert "secret" not in text


def test_a_rate_limit_that_speaks_of_quota_is_no_lack_of_credit() -> None:
    body = error("Quota exceeded for requests per minute. Please retry in 38s.", status="RESOURCE_EXHAUSTED")
    assert from_status(429, body, {}, ASKED).failure_class == "rate_limited"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-abc***xyz",
        "sk-proj-Ab12Cd34Ef56Gh78",
        "nvapi-0aB1cD2eF3gH4iJ5",
        "AIzaSyA1234567890abcdefghij",
        "org-a1B2c3D4e5",
        "Bearer abc.def.ghi",
        "00000000-1111-2222-3333-444444444444",
        "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefg",
    ],
)
def test_secrets_are_removed_from_quoted_text(secret: str) -> None:
    assert redact(f"it is '{secret}' there") == "it is '[removed]' there"


@pytest.mark.parametrize("text", ["mixtral-8x7b-instruct-v0.1 is gone", "use max_completion_tokens", "32768 tokens"])
def test_plain_words_stay(text: str) -> None:
    assert redact(text) == text


def test_a_page_is_quoted_by_its_title_and_long_text_is_cut() -> None:
    assert redact("<HTML><title> Bad\ngateway </title><body>…") == "HTML page 'Bad gateway'"
    assert len(redact("word " * 1000)) == 300


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (error("This content was flagged for possible cybersecurity risk."), "safety"),
        (error("x", code="content_filter"), "content_filter"),
        (error("The response was filtered", code="content_policy_violation"), "content_filter"),
        (error("temperature must be at most 2"), None),
        ("plain text", None),
    ],
)
def test_a_filter_is_told_from_other_errors(body: object, expected: str | None) -> None:
    assert blocked_by(body) == expected
