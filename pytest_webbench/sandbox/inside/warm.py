"""One request through a throw-away FastAPI app: fills caches that the first request would fill."""

from __future__ import annotations

import asyncio
from typing import Any


def answer_one_request() -> None:
    """Build a small app, let it answer, and forget it.

    Not with `asyncio.run`: that would leave the process without a current event loop for code that asks.
    """
    from fastapi import Depends, FastAPI, Request
    from pydantic import BaseModel

    class Item(BaseModel):
        name: str

    async def dependency() -> Any:
        yield 1

    app = FastAPI()

    @app.post("/items")
    async def add(item: Item, request: Request, number: int = Depends(dependency)) -> dict[str, Any]:
        return {"name": item.name, "number": number}

    loop = asyncio.new_event_loop()
    loop.run_until_complete(_send(app, b'{"name": "x"}'))
    loop.close()


async def _send(app: Any, body: bytes) -> None:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/items",
        "raw_path": b"/items",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(_message: Any) -> None:
        return None

    await app(scope, receive, send)
