"""Event log with signed keyset cursors: a cursor names a place in the order and a direction."""

import hashlib
import hmac
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from itertools import count
from typing import Annotated, Literal, NamedTuple

from fastapi import FastAPI, HTTPException, Query, status
from pydantic import BaseModel, Field

KEY = os.environ["SECRET_KEY"].encode()
Kind = Literal["info", "warning", "error"]
Order = Literal["asc", "desc"]

app = FastAPI()


class NewEvent(BaseModel):
    kind: Kind
    happened_at: Annotated[int, Field(ge=0)]
    message: Annotated[str, Field(min_length=1, max_length=200)]


class Event(NewEvent):
    id: int

    @property
    def place(self) -> tuple[int, int]:
        return self.happened_at, self.id


class Page(BaseModel):
    items: list[Event]
    next: str | None
    previous: str | None


class Cursor(NamedTuple):
    kind: Kind | None
    order: Order
    forward: bool
    happened_at: int
    id: int

    @property
    def place(self) -> tuple[int, int]:
        return self.happened_at, self.id


events: dict[int, Event] = {}
numbers = count(1)


def signature(payload: str) -> str:
    return hmac.new(KEY, payload.encode(), hashlib.sha256).hexdigest()


def encode(cursor: Cursor) -> str:
    payload = urlsafe_b64encode(json.dumps(cursor).encode()).decode()
    return f"{payload}.{signature(payload)}"


def decode(text: str, kind: Kind | None, order: Order) -> Cursor:
    payload, _, signed = text.partition(".")
    if hmac.compare_digest(signed.encode(), signature(payload).encode()):
        cursor = Cursor(*json.loads(urlsafe_b64decode(payload)))
        if (cursor.kind, cursor.order) == (kind, order):
            return cursor
    raise HTTPException(status.HTTP_400_BAD_REQUEST, "Invalid cursor")


def select(rows: list[Event], limit: int, cursor: Cursor | None) -> tuple[int, int]:
    """Return where the page begins and ends in the sorted rows."""
    if cursor is None:
        return 0, limit
    ascending = cursor.order == "asc"
    if cursor.forward:
        passed = [row.place <= cursor.place if ascending else row.place >= cursor.place for row in rows]
        return sum(passed), sum(passed) + limit
    before = [row.place < cursor.place if ascending else row.place > cursor.place for row in rows]
    return max(0, sum(before) - limit), sum(before)


@app.get("/events")
async def list_events(
    kind: Kind | None = None,
    order: Order = "desc",
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    cursor: str | None = None,
) -> Page:
    at = None if cursor is None else decode(cursor, kind, order)
    rows = [event for event in events.values() if kind in (None, event.kind)]
    rows.sort(key=lambda event: event.place, reverse=order == "desc")
    begin, end = select(rows, limit, at)
    items = rows[begin:end]
    return Page(
        items=items,
        next=encode(Cursor(kind, order, True, *items[-1].place)) if items and end < len(rows) else None,
        previous=encode(Cursor(kind, order, False, *items[0].place)) if items and begin > 0 else None,
    )


@app.post("/events", status_code=status.HTTP_201_CREATED)
async def create_event(new: NewEvent) -> Event:
    event = Event(id=next(numbers), **new.model_dump())
    events[event.id] = event
    return event


@app.delete("/events/{event_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_event(event_id: int) -> None:
    if events.pop(event_id, None) is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
