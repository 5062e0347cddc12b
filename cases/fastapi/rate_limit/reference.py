"""Quotes and orders, limited for each key: a sliding window of slots that are taken on arrival."""

import asyncio
import math
import time
from collections import defaultdict
from itertools import count
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictInt

KEYS = {"key-ann-11", "key-ben-22", "key-cat-33", "key-dan-44", "key-eve-55"}
PAUSE_SECONDS = 0.2
LARGEST_QUANTITY = 100


class Limit:
    """At most so many slots taken within any `seconds`, for each key; used on the event loop only."""

    def __init__(self, slots: int, seconds: float) -> None:
        self.slots = slots
        self.seconds = seconds
        self.taken: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self.tickets = count()

    def take(self, key: str) -> tuple[int, int]:
        """Take a slot; return its ticket and how many slots are free then."""
        now = time.monotonic()
        taken = self.taken[key]
        for ticket in [ticket for ticket, moment in taken.items() if moment <= now - self.seconds]:
            del taken[ticket]
        if len(taken) >= self.slots:
            wait = math.ceil(min(taken.values()) + self.seconds - now)
            raise HTTPException(429, "rate limited", {"Retry-After": str(wait)})
        ticket = next(self.tickets)
        taken[ticket] = now
        return ticket, self.slots - len(taken)

    def give_back(self, key: str, ticket: int) -> None:
        self.taken[key].pop(ticket, None)


class Order(BaseModel):
    item: Annotated[str, Field(min_length=1)]
    quantity: Annotated[StrictInt, Field(ge=1)]


async def identify(x_api_key: Annotated[str, Header()] = "") -> str:
    if x_api_key not in KEYS:
        raise HTTPException(401, "unauthorized")
    return x_api_key


Key = Annotated[str, Depends(identify)]

app = FastAPI()
quote_limit = Limit(5, 2)
order_limit = Limit(3, 1)
orders: defaultdict[str, list[Order]] = defaultdict(list)


@app.exception_handler(HTTPException)
async def answer_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@app.exception_handler(RequestValidationError)
async def answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


@app.get("/quotes/{symbol}")
async def quote(symbol: str, key: Key) -> dict[str, Any]:
    _, free = quote_limit.take(key)
    return {"symbol": symbol, "remaining": free}


@app.post("/orders", status_code=201)
async def create_order(order: Order, key: Key) -> Order:
    ticket, _ = order_limit.take(key)
    await asyncio.sleep(PAUSE_SECONDS)
    if order.quantity > LARGEST_QUANTITY:
        order_limit.give_back(key, ticket)
        raise HTTPException(402, "declined")
    orders[key].append(order)
    return order


@app.get("/orders")
async def list_orders(key: Key) -> dict[str, list[Order]]:
    return {"orders": orders[key]}
