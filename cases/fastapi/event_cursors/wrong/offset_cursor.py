"""Mistake: the cursor hides a number of rows to skip, so pages shift when events come and go."""

import base64
import hashlib
import hmac
import os
from enum import Enum

from fastapi import FastAPI, HTTPException, Query, Response
from pydantic import BaseModel, Field

app = FastAPI()
SECRET = os.environ["SECRET_KEY"].encode()


class Kind(str, Enum):
    info = "info"
    warning = "warning"
    error = "error"


class Order(str, Enum):
    asc = "asc"
    desc = "desc"


class EventIn(BaseModel):
    kind: Kind
    happened_at: int = Field(ge=0)
    message: str = Field(min_length=1, max_length=200)


events = []
last_id = 0


def sign(data: bytes) -> bytes:
    return hmac.new(SECRET, data, hashlib.sha256).digest()


def make_cursor(order, kind, start):
    fields = order.value, kind.value if kind else "*", start
    data = ":".join(str(field) for field in fields).encode()
    return base64.urlsafe_b64encode(sign(data) + data).decode()


def read_cursor(cursor, order, kind):
    try:
        raw = base64.urlsafe_b64decode(cursor)
        genuine = base64.urlsafe_b64encode(raw).decode() == cursor and hmac.compare_digest(
            sign(raw[32:]), raw[:32]
        )
    except ValueError:
        genuine = False
    if not genuine:
        raise HTTPException(status_code=400, detail="Invalid cursor")
    order_name, kind_name, start = raw[32:].decode().split(":")
    if order_name != order.value or kind_name != (kind.value if kind else "*"):
        raise HTTPException(status_code=400, detail="Invalid cursor")
    return int(start)


@app.post("/events", status_code=201)
def create_event(event: EventIn):
    global last_id
    last_id += 1
    stored = {"id": last_id, **event.model_dump()}
    events.append(stored)
    return stored


@app.delete("/events/{event_id}", status_code=204)
def delete_event(event_id: int):
    for event in events:
        if event["id"] == event_id:
            events.remove(event)
            return Response(status_code=204)
    raise HTTPException(status_code=404, detail="Event not found")


@app.get("/events")
def get_events(
    kind: Kind | None = None,
    order: Order = Order.desc,
    limit: int = Query(10, ge=1, le=50),
    cursor: str | None = None,
):
    rows = sorted(
        (e for e in events if kind is None or e["kind"] == kind), key=lambda e: (e["happened_at"], e["id"])
    )
    if order == Order.desc:
        rows.reverse()

    start = 0 if cursor is None else read_cursor(cursor, order, kind)
    items = rows[start : start + limit]
    next_cursor = previous_cursor = None
    if items and start + limit < len(rows):
        next_cursor = make_cursor(order, kind, start + limit)
    if items and start > 0:
        previous_cursor = make_cursor(order, kind, max(0, start - limit))
    return {"items": items, "next": next_cursor, "previous": previous_cursor}
