"""Wrong: the key is stored after the awaited call, so overlapping requests all pay."""

import asyncio
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

TOKENS = {"token-of-ada": "ada", "token-of-bo": "bo"}

app = FastAPI()


class Wanted(BaseModel):
    amount: Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
    currency: Literal["EUR", "USD"]


class Provider(BaseModel):
    up: bool
    calls: int = 0


@dataclass
class Record:
    wanted: Wanted
    answer: tuple[dict[str, Any], int] | None = None


payments: list[tuple[str, dict[str, Any]]] = []
numbers = count(1)
records: dict[tuple[str, str], Record] = {}
provider = Provider(up=True)


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


@app.exception_handler(HTTPException)
async def refused(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


async def caller(authorization: Annotated[str, Header()] = "") -> str:
    scheme, _, token = authorization.partition(" ")
    if scheme != "Bearer" or token not in TOKENS:
        raise HTTPException(401, "unauthorized")
    return TOKENS[token]


Caller = Annotated[str, Depends(caller)]


async def valid_key(_: Caller, idempotency_key: Annotated[str, Header()] = "") -> str:
    if not 1 <= len(idempotency_key) <= 64:
        raise HTTPException(400, "invalid key")
    return idempotency_key


async def charge(user: str, wanted: Wanted) -> tuple[dict[str, Any], int]:
    """Have the provider make the payment; return body and status."""
    await asyncio.sleep(0.1)
    provider.calls += 1
    if not provider.up:
        raise HTTPException(503, "provider down")
    if wanted.amount > 5000:
        return {"error": "declined"}, 402
    payment = {"id": next(numbers), **wanted.model_dump()}
    payments.append((user, payment))
    return payment, 201


@app.post("/payments")
async def pay(user: Caller, key: Annotated[str, Depends(valid_key)], wanted: Wanted) -> JSONResponse:
    slot = user, key
    if slot in records:
        return replay(records[slot], wanted)
    record = Record(wanted)
    record.answer = await charge(user, wanted)
    records[slot] = record
    return JSONResponse(*record.answer)


def replay(record: Record, wanted: Wanted) -> JSONResponse:
    if record.wanted != wanted:
        raise HTTPException(422, "key reused")
    if record.answer is None:
        raise HTTPException(409, "in progress")
    return JSONResponse(*record.answer, headers={"Idempotent-Replayed": "true"})


@app.get("/payments")
async def list_payments(user: Caller):
    return {"payments": [payment for owner, payment in payments if owner == user]}


@app.get("/provider")
async def read_provider() -> Provider:
    return provider


@app.post("/provider", status_code=204)
async def switch_provider(wanted: Provider) -> None:
    provider.up = wanted.up
