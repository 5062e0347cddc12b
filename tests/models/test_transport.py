"""The way to a model server: addresses, proxies and certificates."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from loopback import Loopback

from pytest_webbench.models import Completion, ConfigError, Message, Parameters, ProviderError, Request
from pytest_webbench.models.openai import OpenAIProvider
from pytest_webbench.models.transport import clean_base_url, is_loopback

ELSEWHERE = "http://models.invalid/v1"


def complete(url: str) -> Completion:
    async def ask() -> Completion:
        provider = OpenAIProvider("m", url, None)
        try:
            return await provider.complete(Request((Message("user", "u"),), "m", "e", Parameters(), 0))
        finally:
            await provider.close()

    return asyncio.run(ask())


def failure(url: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        complete(url)
    return caught.value


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_http_where_https_was_meant_and_the_other_way_round_is_told() -> None:
    with Loopback() as server:
        found = failure(server.url.replace("http://", "https://"))
    assert found.failure_class == "tls"
    assert "http://" in str(found)


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    found = failure(ELSEWHERE)
    assert found.failure_class == "unreachable"
    assert "HTTP_PROXY" in str(found)


@pytest.mark.parametrize("proxy", ["foo://proxy:1", "socks9://proxy:1"])
def test_a_proxy_setting_that_makes_no_sense_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    found = failure(ELSEWHERE)
    assert (found.status, found.failure_class) == ("config_error", "unreachable")
    assert "HTTP_PROXY" in str(found)


def test_loopback_does_not_mind_a_senseless_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "foo://proxy:1")
    with Loopback() as server:
        assert complete(server.url).text


def test_a_host_that_does_not_exist_is_unreachable() -> None:
    found = failure(ELSEWHERE)
    assert (found.failure_class, found.retryable) == ("unreachable", True)
    assert "PROXY" not in str(found)


def test_an_own_certificate_authority_is_trusted_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with Loopback(tls=context) as server:
        assert complete(server.url).text


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_file_that_cannot_be_read_is_told(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content, encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    found = failure("https://models.invalid/v1")
    assert found.failure_class == "tls"
    assert "SSL_CERT_FILE" in str(found)


@pytest.mark.parametrize("url", ["", "api.example.org/v1", "http://", "ftp://a/v1", "http://a:b/v1", "http://[::1/v1"])
def test_what_is_no_address_is_told_before_anything_is_sent(url: str) -> None:
    with pytest.raises(ConfigError, match="no address: expected https://") as caught:
        clean_base_url(url)
    assert caught.value.failure_class == "wrong_url"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a/v1/", "https://a/v1"),
        (" https://a/v1/chat/completions ", "https://a/v1"),
        ("https://a", "https://a"),
    ],
)
def test_a_base_url_is_brought_to_one_form(url: str, expected: str) -> None:
    assert clean_base_url(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000", True),
        ("http://[::1]:1/v1", True),
        ("http://127.0.0.1.example.org", False),
        ("https://api.example.org", False),
    ],
)
def test_loopback_addresses_are_known(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
