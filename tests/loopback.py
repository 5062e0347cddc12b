"""An OpenAI-compatible server on 127.0.0.1 that answers from a script, with the faults of real ones.

In a test:

    with Loopback(script=[Scripted(status=429), completion("```python\\nx = 1\\n```")]) as server:
        ...  # ask server.url
    assert len(server.log) == 2

As a process: `python tests/loopback.py --latency 0.5` prints its URL on the first line of standard
output and serves until killed; `GET /log` returns what it saw as a JSON array.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

DEFAULT_TEXT = """```python
from flask import Flask, jsonify, request

app = Flask(__name__)


@app.get("/")
def index():
    return jsonify(path=request.path)
```"""


@dataclass(frozen=True)
class Scripted:
    """One scripted response.

    `sse` sends its strings as chunks of a stream. `then` says how the connection ends after the body:
    normally, closed early or reset. `drip` is the pause after each byte of the body and `delay` the time
    before the first byte, in seconds.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    body: bytes | None = None
    sse: tuple[str, ...] | None = None
    delay: float = 0.0
    drip: float = 0.0
    then: Literal["keep", "close", "reset"] = "keep"

    @property
    def payload(self) -> bytes:
        """The bytes of the body."""
        if self.body is not None:
            return self.body
        if self.sse is not None:
            return b"".join(_chunk(text) for text in self.sse)
        return b"" if self.json is None else json.dumps(self.json).encode()


@dataclass
class Seen:
    """One request as the server saw it: header names in lower case, times of the monotonic clock.

    `then` is how the connection ended after the reply.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    arrived: float
    replied: float | None = None
    status: int | None = None
    then: str | None = None


Answer = Callable[[Seen], Scripted]


def completion(text: str | None = DEFAULT_TEXT, *, finish_reason: str = "stop", **extra: Any) -> Scripted:
    """Return a well-formed chat completion with one choice; `extra` replaces top-level fields."""
    body = {
        "id": "r1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28},
    }
    return Scripted(json=body | extra)


def streamed(*texts: str, finish_reason: str = "stop") -> Scripted:
    """Return a complete stream: the texts, a final chunk with usage, and the end mark."""
    final = {
        "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}],
        "model": "m",
        "usage": {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28},
    }
    body = b"".join(_chunk(text) for text in texts) + _event(final) + b"data: [DONE]\n\n"
    return Scripted(body=body, headers={"Content-Type": "text/event-stream"})


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: Any) -> Scripted:
    """Return an error body in the usual form; `fields` are put beside the message."""
    return Scripted(status=status, json={"error": {"message": message, **fields}}, headers=headers or {})


def faulty(answer: Answer, *, rate_limited: float = 0.0, reset: float = 0.0, seed: int = 0) -> Answer:
    """Answer by `answer`, but with the given shares of 429s and of connections reset in mid-body."""
    chance = random.Random(seed)

    def respond(seen: Seen) -> Scripted:
        draw = chance.random()
        reply = answer(seen)
        if draw < rate_limited:
            return replace(error(429, "Rate limit"), delay=reply.delay)
        if draw < rate_limited + reset:
            return replace(reply, then="reset")
        return reply

    return respond


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _chunk(text: str) -> bytes:
    return _event({"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


class Loopback:
    """The server: `answer` decides each response, after the responses of `script` are used up.

    `log` holds a `Seen` for each POST in order of arrival; `url` ends with `/v1`. `latency` is added to
    every response. `tls` is a server-side context for https.
    """

    def __init__(
        self,
        script: Iterable[Scripted] = (),
        *,
        answer: Answer = lambda seen: completion(),
        latency: float = 0.0,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        log_file: Path | None = None,
    ) -> None:
        self.log: list[Seen] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._script = list(script)
        self._answer = answer
        self._latency = latency
        self._log_file = log_file
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        self._httpd = _Server(("127.0.0.1", port), _handler_for(self))
        if tls is not None:
            self._httpd.socket = tls.wrap_socket(self._httpd.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.root = f"{scheme}://127.0.0.1:{self._httpd.server_address[1]}"
        self.url = f"{self.root}/v1"
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopping.set()
        self._httpd.shutdown()
        self._httpd.server_close()
        self._httpd.hang_up()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON bodies received, in order of arrival."""
        return [seen.body for seen in self.log]

    def begin(self, seen: Seen) -> Scripted:
        """Log an arrival and return the response to give."""
        with self._lock:
            self.log.append(seen)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            reply = self._script.pop(0) if self._script else self._answer(seen)
        return replace(reply, delay=reply.delay + self._latency)

    def end(self, seen: Seen, reply: Scripted) -> None:
        """Log the reply to `seen`."""
        with self._lock:
            self._in_flight -= 1
            seen.replied, seen.status, seen.then = time.monotonic(), reply.status, reply.then
            if self._log_file is not None:
                with self._log_file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(seen)) + "\n")

    def log_json(self) -> bytes:
        """Return the log as a JSON array."""
        with self._lock:
            return json.dumps([asdict(seen) for seen in self.log]).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._open: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection and remember it."""
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and forget it."""
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients keep alive."""
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet: clients of a faulty server go away."""


def _handler_for(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 65536

        def log_message(self, *args: object) -> None:
            """Write nothing to standard error."""

        def do_GET(self) -> None:
            body = server.log_json() if self.path == "/log" else b'{"object": "list", "data": []}'
            self._send(Scripted(body=body))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen("POST", self.path, headers, json.loads(raw), time.monotonic())
            reply = server.begin(seen)
            try:
                server.stopping.wait(reply.delay)
                self._send(reply)
            finally:
                server.end(seen, reply)

        def _send(self, reply: Scripted) -> None:
            payload = reply.payload
            kind = "text/event-stream" if reply.sse is not None else "application/json"
            cut = reply.then == "reset"
            announced = len(payload) + (100 if cut or (reply.then == "close" and reply.sse is None) else 0)
            headers = {"Content-Type": kind, "Content-Length": str(announced), **reply.headers}
            if reply.sse is not None and reply.then == "close":
                del headers["Content-Length"]
                headers["Transfer-Encoding"] = "chunked"
                payload = f"{len(payload):x}\r\n".encode() + payload + b"\r\n"
            self.send_response(reply.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self._write(payload[: len(payload) // 2] if cut else payload, reply.drip)
            if reply.then != "keep":
                self._end(reset=cut)

        def _write(self, payload: bytes, drip: float) -> None:
            if not drip:
                self.wfile.write(payload)
                self.wfile.flush()
                return
            for byte in payload:
                self.wfile.write(bytes((byte,)))
                self.wfile.flush()
                if server.stopping.wait(drip):
                    return

        def _end(self, *, reset: bool) -> None:
            self.close_connection = True
            if reset:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    return Handler


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 (the default): a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--text", default=DEFAULT_TEXT, help="the reply's text")
    parser.add_argument("--replies", type=Path, help="JSON file {regular expression: text}; first match wins")
    parser.add_argument("--status", type=int, default=200, help="answer everything with this status")
    parser.add_argument("--rate-limited", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--reset", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--drip", type=float, default=0.0, metavar="SECONDS", help="pause after each byte")
    parser.add_argument("--log", type=Path, metavar="FILE", help="append each request as a JSON line")
    options = parser.parse_args()
    answer = faulty(_answer_by(options), rate_limited=options.rate_limited, reset=options.reset)
    server = Loopback(answer=answer, latency=options.latency, port=options.port, log_file=options.log)
    with server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


def _answer_by(options: argparse.Namespace) -> Answer:
    patterns = json.loads(options.replies.read_text(encoding="utf-8")) if options.replies else {}

    def respond(seen: Seen) -> Scripted:
        if options.status != 200:
            return error(options.status, f"scripted status {options.status}")
        prompt = "\n".join(str(message["content"]) for message in seen.body["messages"])
        found = (text for pattern, text in patterns.items() if re.search(pattern, prompt))
        reply = completion(next(found, options.text), model=seen.body["model"])
        return replace(reply, drip=options.drip)

    return respond


if __name__ == "__main__":
    try:
        _main()
    except KeyboardInterrupt:
        sys.exit(130)
