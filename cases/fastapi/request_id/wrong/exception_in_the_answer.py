"""Wrong: the answer to a failing request tells the exception."""

import asyncio
import logging
import re
import uuid
from itertools import count
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")

logger = logging.getLogger(__name__)
app = FastAPI()
orders: dict[int, dict[str, Any]] = {}
numbers = count(1)
entries: list[dict[str, Any]] = []


class NewOrder(BaseModel):
    item: Annotated[str, Field(min_length=1)]


def error(request: Request, name: str, status: int) -> JSONResponse:
    return JSONResponse({"error": name, "request_id": request.state.request_id}, status)


@app.middleware("http")
async def identify(request: Request, call_next):
    given = request.headers.get(HEADER, "")
    request.state.request_id = given if ACCEPTED.fullmatch(given) else str(uuid.uuid4())
    try:
        response = await call_next(request)
    except Exception as failure:
        logger.exception("request %s failed", request.state.request_id)
        response = JSONResponse({"error": repr(failure), "request_id": request.state.request_id}, 500)
    response.headers[HEADER] = request.state.request_id
    if request.url.path != "/log":
        entries.append(
            {
                "request_id": request.state.request_id,
                "method": request.method,
                "path": request.url.path,
                "status": response.status_code,
            }
        )
    return response


@app.exception_handler(RequestValidationError)
async def refused(request: Request, _: RequestValidationError) -> JSONResponse:
    return error(request, "invalid", 400)


@app.post("/orders", status_code=201)
async def create_order(new: NewOrder, request: Request):
    order = {"id": next(numbers), "item": new.item, "request_id": request.state.request_id}
    orders[order["id"]] = order
    return order


@app.get("/orders/{number}")
async def read_order(number: int, request: Request):
    return orders[number] if number in orders else error(request, "not found", 404)


@app.get("/slow")
async def slow(request: Request):
    await asyncio.sleep(0.2)
    return {"request_id": request.state.request_id}


@app.get("/crash")
async def crash():
    raise RuntimeError("the teapot exploded")


@app.get("/log")
async def log():
    return {"entries": entries}
