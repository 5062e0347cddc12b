"""Long renderings that are accepted at once and whose results are fetched later."""

import asyncio
import secrets
import time
from typing import Annotated

from fastapi import FastAPI, HTTPException, Query, Response
from pydantic import BaseModel, Field

app = FastAPI()


def render(text: str, seconds: float) -> str:
    time.sleep(seconds)
    if "!" in text:
        raise ValueError(f"cannot render {text}")
    return text.upper()


class Order(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=100)]
    seconds: Annotated[float, Field(ge=0, le=2)]


class Accepted(BaseModel):
    token: str


class State(BaseModel):
    status: str
    result: str | None = None


tasks: dict[str, asyncio.Task[str]] = {}
deleted: set[str] = set()
pending: dict[tuple[str, float], str] = {}


def start(key: tuple[str, float]) -> str:
    """Start a job in a thread and return its token."""
    token = secrets.token_urlsafe(24)
    pending[key] = token
    tasks[token] = asyncio.create_task(asyncio.to_thread(render, *key))

    def forget(_: asyncio.Task[str]) -> None:
        if pending.get(key) == token:
            del pending[key]

    tasks[token].add_done_callback(forget)
    return token


def task_of(token: str) -> asyncio.Task[str]:
    if token in deleted:
        raise HTTPException(410)
    if token not in tasks:
        raise HTTPException(404)
    return tasks[token]


@app.get("/ping")
async def ping() -> dict[str, bool]:
    return {"pong": True}


@app.get("/stats")
async def stats() -> dict[str, int]:
    return {"started": len(tasks) + len(deleted)}


@app.post("/jobs", status_code=202)
async def accept(order: Order, response: Response) -> Accepted:
    key = (order.text, order.seconds)
    token = pending.get(key) or start(key)
    response.headers["Location"] = f"/jobs/{token}"
    return Accepted(token=token)


@app.get("/jobs/{token}", response_model_exclude_none=True)
async def state(token: str, response: Response, wait: Annotated[float, Query(ge=0, le=2)] = 0) -> State:
    await asyncio.wait([task_of(token)], timeout=wait)
    task = task_of(token)
    if not task.done():
        response.headers["Retry-After"] = "1"
        return State(status="pending")
    if task.exception():
        return State(status="failed")
    return State(status="done", result=task.result())


@app.delete("/jobs/{token}", status_code=204)
async def delete(token: str) -> None:
    task = task_of(token)
    for key in [key for key, current in pending.items() if current == token]:
        del pending[key]
    deleted.add(token)
    del tasks[token]
    task.cancel()
