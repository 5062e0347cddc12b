"""Serve a WSGI or ASGI app on the listening socket that the trusted side bound."""

from __future__ import annotations

import asyncio
import inspect
import queue
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Scope = MutableMapping[str, Any]
AsgiApp = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]

_BACKLOG = 128
_MAX_THREADS = 32
_CLIENT = ("127.0.0.1", 50000)


class StartupFailed(RuntimeError):
    """The app's own startup (lifespan, startup events) failed; its log has the traceback."""


def serve(app: Any, listener: socket.socket) -> None:
    """Serve `app` until the process is killed. Nobody can connect before the app is ready to answer."""
    if _is_asgi(app):
        _serve_asgi(app, listener)
    else:
        _WsgiServer(app, listener).run()


def _is_asgi(app: object) -> bool:
    return inspect.iscoroutinefunction(app) or inspect.iscoroutinefunction(getattr(app, "__call__", None))  # noqa: B004


def _serve_asgi(app: AsgiApp, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        _with_client(app),
        log_config=None,
        access_log=False,
        http="h11",
        loop="asyncio",
        interface="asgi3",
        backlog=_BACKLOG,
        headers=[],
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(config)
    try:
        asyncio.run(server.serve(sockets=[listener]))
    except SystemExit as error:
        if not server.started:
            raise StartupFailed from error
        raise


def _with_client(app: AsgiApp) -> AsgiApp:
    """Give requests the client address that a Unix socket lacks; apps read `request.client.host`."""

    async def wrapped(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            scope["client"] = scope.get("client") or _CLIENT
        await app(scope, receive, send)

    return wrapped


class _WsgiServer:
    """Runs requests on the main thread, and on further threads only those that come while it is busy.

    So an app whose database connection belongs to the importing thread works as under a one-thread
    server, and races between simultaneous requests are still to be seen. The main thread counts as free
    from the moment before the last byte of its response is written, which makes the choice the same in
    every run: a client that waits for its answer always meets the main thread.
    """

    ssl_context = None
    multithread = True
    multiprocess = False
    passthrough_errors = False
    server_address = ("127.0.0.1", 80)
    _server_version = "webbench"

    def __init__(self, app: WSGIApplication, listener: socket.socket) -> None:
        self.app = self._release_early(app)
        self._listener = listener
        self._main_is_free = threading.Semaphore(1)
        self._for_main: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._threads = threading.Semaphore(_MAX_THREADS)
        self._on_main = threading.local()

    def run(self) -> None:
        self._listener.listen(_BACKLOG)
        threading.Thread(target=self._accept, daemon=True).start()
        while True:
            connection = self._for_main.get()
            self._on_main.pending = True
            self._handle(connection)
            self._release_main()

    def log(self, kind: str, message: str, *arguments: object) -> None:
        """Keep errors; drop the line per request."""
        if kind == "error":
            sys.stderr.write(f"{message % arguments if arguments else message}\n")

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._main_is_free.acquire(blocking=False):
                self._for_main.put(connection)
            else:
                self._threads.acquire()
                threading.Thread(target=self._handle_aside, args=(connection,), daemon=True).start()

    def _handle_aside(self, connection: socket.socket) -> None:
        try:
            self._handle(connection)
        finally:
            self._threads.release()

    def _handle(self, connection: socket.socket) -> None:
        with connection:
            try:
                _handler_class()(connection, _CLIENT, self)
                connection.shutdown(socket.SHUT_WR)
            except (Exception, SystemExit):  # as in any server, one broken request does not end it
                traceback.print_exc()

    def _release_main(self) -> None:
        if getattr(self._on_main, "pending", False):
            self._on_main.pending = False
            self._main_is_free.release()

    def _release_early(self, app: WSGIApplication) -> WSGIApplication:
        def wrapped(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            expected: list[int] = []

            def observe(status: str, headers: list[tuple[str, str]], *rest: Any) -> Callable[[bytes], object]:
                expected[:] = [int(value) for name, value in headers if name.lower() == "content-length"]
                return start_response(status, headers, *rest)

            try:
                body = app(environ, observe)
            except BaseException:
                self._release_main()
                raise
            return _Body(body, expected, self._release_main)

        return wrapped


@cache
def _handler_class() -> Any:
    from werkzeug.serving import WSGIRequestHandler

    class Handler(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            return None

        def send_header(self, keyword: str, value: str) -> None:
            """Give up a response that cannot be written, so that nobody waits for the rest of it."""
            try:
                super().send_header(keyword, value)
            except UnicodeEncodeError:
                self.close_connection = True
                raise

    return Handler


class _Body:
    """A response body that calls `ending` just before its last byte can reach the client."""

    def __init__(self, body: Iterable[bytes], expected: list[int], ending: Callable[[], None]) -> None:
        self._body, self._expected, self._ending = body, expected, ending

    def __iter__(self) -> Iterator[bytes]:
        sent = 0
        try:
            for part in self._body:
                sent += len(part)
                if self._expected and sent >= self._expected[0]:
                    self._ending()
                yield part
        finally:
            self._ending()

    def close(self) -> None:
        close = getattr(self._body, "close", None)
        if close is not None:
            close()
