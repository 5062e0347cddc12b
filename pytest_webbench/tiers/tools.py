"""What a check may ask for by parameter name: `client` and its companions for one app instance."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from threading import Barrier
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx2

from pytest_webbench.tiers.client import BASE_URL, HEADERS, Deadline, ResponseTooLarge, open_client
from pytest_webbench.tiers.exchange import Recorder

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

    from pytest_webbench.sandbox import Instance

T = TypeVar("T")
TOOLS = ("client", "new_client", "parallel", "raw", "websocket", "restart")
RAW_LIMIT = 1 << 20


class AppStopped(Exception):
    """The app did not come up again."""


class Toolbox:
    """The tools of one check. Use as a context manager: leaving it closes every client."""

    def __init__(self, instance: Instance, deadline: Deadline, request_seconds: float, start_seconds: float) -> None:
        self.recorder = Recorder()
        self._instance = instance
        self._deadline = deadline
        self._request_seconds = request_seconds
        self._start_seconds = start_seconds
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def alive(self) -> bool:
        """Whether the app still runs."""
        return self._instance.alive()

    def wait_for_end(self, seconds: float) -> None:
        """Wait until the app has ended, at most `seconds`."""
        patience = Deadline(seconds)
        while self.alive and not patience.expired:
            time.sleep(0.005)

    @property
    def expired(self) -> bool:
        """Whether the time of the check is up."""
        return self._deadline.expired

    def select(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the tools called `names`."""
        return {name: getattr(self, name) for name in names}

    @cached_property
    def client(self) -> httpx2.Client:
        """The check's own HTTP client."""
        return self.new_client()

    def new_client(self) -> httpx2.Client:
        """Return another client, with a cookie jar of its own."""
        return self._open.enter_context(
            open_client(str(self._instance.socket_path), self.recorder, self._deadline, self._request_seconds)
        )

    def parallel(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Start all `calls` at the same moment and return their results in order.

        Raises what the first failing call (in order) raised, after all have ended.
        """
        barrier = Barrier(len(calls))

        def start(call: Callable[[], T]) -> T:
            barrier.wait(self._deadline.remaining)
            return call()

        with ThreadPoolExecutor(len(calls)) as pool:
            return [future.result() for future in [pool.submit(start, call) for call in calls]]

    def raw(self, data: bytes, *, timeout: float = 2.0, limit: int = RAW_LIMIT) -> bytes:
        """Send `data` as it is; return what comes until the app closes or `timeout` seconds pass.

        Send `Connection: close`, or the app may keep the connection open until the time is up.
        """
        exchange = self.recorder.begin("raw bytes", data.decode("utf-8", "backslashreplace"))
        exchange.status = "raw bytes"
        clock = Deadline(min(timeout, self._deadline.remaining))
        received = bytearray()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(clock.remaining)
            connection.connect(str(self._instance.socket_path))
            _send(connection, data)
            while chunk := _receive(connection, clock):
                exchange.receive(chunk)
                received += chunk
                if len(received) > limit:
                    raise ResponseTooLarge(f"more than {limit} bytes of raw answer")
        return bytes(received)

    def websocket(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        subprotocols: Sequence[str] | None = None,
    ) -> ClientConnection:
        """Open a WebSocket: `send(text or bytes)`, `recv(timeout=seconds)`, `close()`.

        Raises `websockets.exceptions.InvalidStatus` where the app refuses (`.response.status_code`).
        """
        from websockets.sync.client import unix_connect

        exchange = self.recorder.begin(f"WEBSOCKET {path}", f"WEBSOCKET {path}\n{dict(headers or {})}")
        connection = unix_connect(
            str(self._instance.socket_path),
            BASE_URL.replace("http", "ws", 1) + path,
            additional_headers=dict(headers or {}),
            user_agent_header=HEADERS["User-Agent"],
            subprotocols=subprotocols,
            compression=None,
            open_timeout=min(self._request_seconds, self._deadline.remaining),
            close_timeout=1.0,
            ping_interval=None,
            max_size=RAW_LIMIT,
        )
        exchange.status = "101 Switching Protocols"
        return self._open.enter_context(connection)

    def restart(self) -> None:
        """Stop the app and start it again in the same working folder, as a new process.

        Raises:
            AppStopped: it did not come up again.
        """
        self._instance.restart()
        start = self._instance.wait_ready(min(self._start_seconds, self._deadline.remaining))
        if not start.ok:
            raise AppStopped(f"after a restart the app does not start: {start.detail or start.log_tail}")


def _send(connection: socket.socket, data: bytes) -> None:
    """Send what the app takes: it may answer and close before it has read everything."""
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return


def _receive(connection: socket.socket, clock: Deadline) -> bytes:
    if clock.expired:
        return b""
    connection.settimeout(clock.remaining)
    try:
        return connection.recv(65536)
    except (TimeoutError, ConnectionResetError):
        return b""
