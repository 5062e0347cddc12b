"""An HTTP client bound to one app instance by its unix socket.

Whatever host a check names, the request reaches the app and nothing else. Answers are bounded in time
and size. The headers are those of a common browser, the same for examples, checks and exploits, so that
an app cannot tell which of them is asking.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NoReturn

import httpx2

from pytest_webbench.tiers.exchange import Exchange, Recorder

BASE_URL = "http://127.0.0.1:5000"
BODY_LIMIT = 8 << 20
ENCODED_LIMIT = 64 << 10
HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "*/*",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "identity",
}
_ONE_AT_A_TIME = httpx2.Limits(max_keepalive_connections=0)


class ResponseTooLarge(Exception):
    """The app sent more than a check accepts."""


class Deadline:
    """A moment after which a check waits no longer."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def remaining(self) -> float:
        """Seconds left, at least a thousandth: zero would mean `do not block` to a socket."""
        return max(0.001, self._end - self._clock())

    @property
    def expired(self) -> bool:
        """Whether the moment has passed."""
        return self._clock() >= self._end


@lru_cache(maxsize=1)
def _no_tls() -> ssl.SSLContext:
    """An empty context: building the default one for each client costs more than a whole check."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Response(httpx2.Response):
    """A response whose `json()` refuses `NaN` and `Infinity`, which are not JSON."""

    def json(self, **kwargs: Any) -> Any:
        """Decode the body as JSON; raises `json.JSONDecodeError` where it is none."""
        return super().json(parse_constant=_refuse_constant, **kwargs)


def _refuse_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


class _Body(httpx2.SyncByteStream):
    """The body as it arrives: counted, recorded, cut off at the limit or the deadline."""

    def __init__(self, stream: Any, exchange: Exchange, deadline: Deadline, limit: int) -> None:
        self._stream = stream
        self._exchange = exchange
        self._deadline = deadline
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._exchange.receive(chunk)
            if self._exchange.received > self._limit:
                raise ResponseTooLarge(f"more than {self._limit} bytes in one response body")
            if self._deadline.expired:
                raise httpx2.ReadTimeout("the response did not end before the deadline of the check")
            yield chunk

    def close(self) -> None:
        self._stream.close()


class AppTransport(httpx2.BaseTransport):
    """Carries requests to the socket at `socket_path`, within `deadline`, into `recorder`."""

    def __init__(self, socket_path: str, recorder: Recorder, deadline: Deadline) -> None:
        self._inner = httpx2.HTTPTransport(uds=socket_path, verify=_no_tls(), trust_env=False, limits=_ONE_AT_A_TIME)
        self._recorder = recorder
        self._deadline = deadline

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = self._recorder.begin(f"{request.method} {_target(request)}", _request_text(request))
        request.extensions["timeout"] = {
            phase: min(self._deadline.remaining, seconds or self._deadline.remaining)
            for phase, seconds in request.extensions["timeout"].items()
        }
        inner = self._inner.handle_request(request)
        response = Response(
            status_code=inner.status_code,
            headers=inner.headers,
            stream=_Body(inner.stream, exchange, self._deadline, _body_limit(inner)),
            extensions=inner.extensions,
        )
        exchange.status = f"{response.status_code} {response.reason_phrase}"
        exchange.head = _head(response.headers)
        return response

    def close(self) -> None:
        self._inner.close()


def open_client(socket_path: str, recorder: Recorder, deadline: Deadline, request_seconds: float) -> httpx2.Client:
    """Return a client with an empty cookie jar; redirects are not followed unless a check asks.

    `Secure` cookies travel over plain HTTP here, as browsers do it for the local host.
    """
    return httpx2.Client(
        transport=AppTransport(socket_path, recorder, deadline),
        base_url=BASE_URL,
        headers=HEADERS,
        cookies=CookieJar(DefaultCookiePolicy(secure_protocols=("http", "https"))),
        timeout=request_seconds,
        follow_redirects=False,
        trust_env=False,
    )


def _body_limit(response: httpx2.Response) -> int:
    """A compressed body may grow a thousandfold when it is read, so it must be small."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return BODY_LIMIT
    if encoding in ("gzip", "deflate"):
        return ENCODED_LIMIT
    raise ResponseTooLarge(f"content encoding {encoding!r} is not read: its size is unbounded")


def _target(request: httpx2.Request) -> str:
    return request.url.raw_path.decode("ascii", "backslashreplace")


def _head(headers: httpx2.Headers) -> str:
    return "\n".join(f"{name.decode('latin-1')}: {value.decode('latin-1')}" for name, value in headers.raw)


def _request_text(request: httpx2.Request) -> str:
    try:
        body = request.content.decode("utf-8", "backslashreplace")
    except httpx2.RequestNotRead:
        body = "(streamed body)"
    return f"{request.method} {_target(request)} HTTP/1.1\n{_head(request.headers)}\n\n{body}"
