"""Mistake: previous gives the first events of the order instead of the nearest ones before the page."""

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


def make_cursor(direction, order, kind, event):
    fields = direction, order.value, kind.value if kind else "*", event["happened_at"], event["id"]
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
    direction, order_name, kind_name, happened_at, event_id = raw[32:].decode().split(":")
    if order_name != order.value or kind_name != (kind.value if kind else "*"):
        raise HTTPException(status_code=400, detail="Invalid cursor")
    return direction, (int(happened_at), int(event_id))


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
    def key(event):
        return event["happened_at"], event["id"]

    rows = sorted((e for e in events if kind is None or e["kind"] == kind), key=key)
    if order == Order.desc:
        rows.reverse()

    def is_after(event, position):
        return key(event) > position if order == Order.asc else key(event) < position

    def is_before(event, position):
        return key(event) < position if order == Order.asc else key(event) > position

    if cursor is None:
        items = rows[:limit]
    else:
        direction, position = read_cursor(cursor, order, kind)
        if direction == "next":
            items = [e for e in rows if is_after(e, position)][:limit]
        else:
            items = [e for e in rows if is_before(e, position)][:limit]

    next_cursor = previous_cursor = None
    if items and any(is_after(e, key(items[-1])) for e in rows):
        next_cursor = make_cursor("next", order, kind, items[-1])
    if items and any(is_before(e, key(items[0])) for e in rows):
        previous_cursor = make_cursor("previous", order, kind, items[0])
    return {"items": items, "next": next_cursor, "previous": previous_cursor}
