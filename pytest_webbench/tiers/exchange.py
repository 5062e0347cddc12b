"""What was said between a check and the app, kept as short text for the record."""

from __future__ import annotations

from dataclasses import dataclass, field

TEXT_LIMIT = 2048
_HISTORY = 12
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Return `text` with control characters and lone surrogates as escapes: an app may aim at a terminal."""
    return text.encode("utf-8", "backslashreplace").decode().translate(_CONTROL)


def clip(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return `text`, printable and of at most `limit` characters; a cut says how much is missing."""
    text = printable(text)
    if len(text) <= limit:
        return text
    mark = f" ... ({len(text) - limit + 40} more characters)"
    return text[: limit - len(mark)] + mark


@dataclass(slots=True)
class Exchange:
    """One request and what has come back so far."""

    line: str
    request: str
    status: str = "no response"
    head: str = ""
    body: bytearray = field(default_factory=bytearray)
    received: int = 0

    def receive(self, chunk: bytes) -> None:
        """Count `chunk`, and keep as much of it as the record shows."""
        self.received += len(chunk)
        self.body += chunk[: TEXT_LIMIT - len(self.body)]

    @property
    def response(self) -> str:
        """Status line, headers and the beginning of the body."""
        more = self.received - len(self.body)
        tail = f" ... ({more} more bytes)" if more else ""
        return f"{self.status}\n{self.head}\n\n{self.body.decode('utf-8', 'backslashreplace')}{tail}"


class Recorder:
    """The exchanges of one check, in the order in which they began (threads may share it)."""

    def __init__(self) -> None:
        self._exchanges: list[Exchange] = []

    def begin(self, line: str, request: str) -> Exchange:
        """Start an exchange; `line` names it in one line, such as `GET /items`."""
        exchange = Exchange(line, request)
        self._exchanges.append(exchange)
        return exchange

    @property
    def last(self) -> Exchange | None:
        """The exchange that began last."""
        return self._exchanges[-1] if self._exchanges else None

    @property
    def request(self) -> str:
        """The last request in full, after one line for each that went before."""
        if not self._exchanges:
            return ""
        earlier = [f"{exchange.line} -> {exchange.status}" for exchange in self._exchanges[:-1]]
        history = "\n".join(earlier[-_HISTORY:])
        last = self._exchanges[-1].request
        return clip(f"{history}\n\n{last}" if history else last)

    @property
    def response(self) -> str:
        """The last response."""
        return clip(self._exchanges[-1].response) if self._exchanges else ""
