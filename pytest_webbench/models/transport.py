"""The way to a model server: addresses, the HTTP client, and what it means when the way is barred."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from pytest_webbench.models import ConfigError, InfrastructureError, ProviderError
from pytest_webbench.models.failures import Asked, redact

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT = 10.0
_NOT_CONNECTED = frozenset({"ConnectError", "NewConnectionError", "NameResolutionError"})
PROXY_VARIABLES = "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY"


def clean_base_url(url: str) -> str:
    """Return the base URL as it enters completion keys: no trailing slash, no `/chat/completions`.

    Raises `ConfigError` (`wrong_url`) where it is no http(s) address.

    >>> clean_base_url("https://api.example.org/v1/chat/completions/")
    'https://api.example.org/v1'
    """
    clean = url.strip().rstrip("/").removesuffix("/chat/completions").rstrip("/")
    try:
        parts = urlsplit(clean)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("wrong_url", f"base_url {url!r} is no address: expected https://HOST[:PORT]/v1")
    return clean


def is_loopback(url: str) -> bool:
    """Tell whether `url` leads to this machine: such requests go past any proxy and need no key."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def http_client(url: str, timeout: float) -> httpx2.AsyncClient:
    """Return a client for `url`; proxies and certificate authorities are those of the environment.

    `timeout` is in seconds. Raises `ConfigError` where the environment's settings cannot be used.
    """
    import httpx2
    import openai

    try:
        return openai.DefaultAsyncHttpxClient(
            verify=httpx2.create_ssl_context(),
            trust_env=not is_loopback(url),
            timeout=httpx2.Timeout(timeout, connect=min(CONNECT_TIMEOUT, timeout)),
        )
    except OSError as error:
        raise ConfigError("tls", f"SSL_CERT_FILE or SSL_CERT_DIR cannot be used: {error}") from error
    except (ValueError, ImportError) as error:
        message = f"the environment's proxy settings ({PROXY_VARIABLES}) cannot be used: {redact(str(error))}"
        raise ConfigError("unreachable", message) from error


def time_out(error: Exception, seconds: float, limit: float, asked: Asked) -> ProviderError:
    """Return the error for a request that was given up after `seconds` of at most `limit`."""
    if "ConnectTimeout" in {type(cause).__name__ for cause in _causes(error)}:
        message = f"{asked.host} did not accept a connection{_proxy_hint(asked.url)}"
        return InfrastructureError("unreachable", message, retryable=True)
    message = f"{asked.host} did not finish an answer within {seconds:.1f} s: raise `timeout` (now {limit:g} s)"
    return InfrastructureError("timeout", message, retryable=True)


def connection_failure(error: Exception, asked: Asked) -> ProviderError:
    """Return the error for a connection that could not be made or broke."""
    host = asked.host
    causes = list(_causes(error))
    names = {type(cause).__name__ for cause in causes}
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        remedy = "set SSL_CERT_FILE to the file of its authority"
        return ConfigError("tls", f"the certificate of {host} is not trusted: {remedy}")
    if any(isinstance(cause, ssl.SSLError) and "WRONG_VERSION" in str(cause) for cause in causes):
        return ConfigError("tls", f"{host} does not speak TLS: should base_url begin with http://?")
    if "ProxyError" in names:
        return ConfigError("unreachable", f"the proxy refused to lead to {host}: check {PROXY_VARIABLES}")
    if names & _NOT_CONNECTED:
        hint = f"is the server running, base_url right?{_proxy_hint(asked.url)}"
        return InfrastructureError("unreachable", f"no connection to {host}: {hint}", retryable=True)
    return InfrastructureError("connection", f"the connection to {host} broke", retryable=True)


def _proxy_hint(url: str) -> str:
    through = not is_loopback(url) and {urlsplit(url).scheme, "all"} & set(getproxies_environment())
    return f" A proxy is set: is it right ({PROXY_VARIABLES})?" if through else ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
