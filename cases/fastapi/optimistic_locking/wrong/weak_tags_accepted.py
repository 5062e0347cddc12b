"""Wrong: If-Match is compared weakly."""

import asyncio
import uuid
from itertools import count
from typing import Annotated

from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

app = FastAPI()


class NewText(BaseModel):
    text: Annotated[str, Field(min_length=1)]


class Note(BaseModel):
    id: int
    text: str


class Refused(Exception):
    def __init__(self, name: str, status: int, tag: str | None = None) -> None:
        self.name = name
        self.status = status
        self.headers = {"ETag": tag} if tag else {}


notes: dict[int, Note] = {}
tags: dict[int, str] = {}
numbers = count(1)


@app.exception_handler(Refused)
async def refused(_: Request, refusal: Refused) -> JSONResponse:
    return JSONResponse({"error": refusal.name}, refusal.status, refusal.headers)


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


async def moderated(new: NewText) -> str:
    """The text of the request's body, after the call of the moderation service."""
    await asyncio.sleep(0.1)
    return new.text


def entity_tags(header: str) -> list[str]:
    return [tag.strip() for tag in header.split(",")]


def demand_existence(number: int) -> None:
    if number not in notes:
        raise Refused("not found", 404)


def demand_match(number: int, if_match: str | None) -> None:
    """Refuse the request unless If-Match has the current tag; weak tags never match.

    Between this and the change that it permits nothing may be awaited.
    """
    demand_existence(number)
    if if_match is None:
        raise Refused("precondition required", 428)
    if not {"*", tags[number]} & set(tag.removeprefix("W/") for tag in entity_tags(if_match)):
        raise Refused("precondition failed", 412, tags[number])


def save(number: int, text: str) -> None:
    """Store a version under a tag that was never used before."""
    notes[number] = Note(id=number, text=text)
    tags[number] = f'"{uuid.uuid4().hex}"'


def represent(number: int, response: Response) -> Note:
    response.headers["ETag"] = tags[number]
    return notes[number]


Text = Annotated[str, Depends(moderated)]
IfMatch = Annotated[str | None, Header()]


@app.post("/notes", status_code=201)
async def create(text: Text, response: Response) -> Note:
    number = next(numbers)
    save(number, text)
    return represent(number, response)


@app.get("/notes/{number}")
async def read(number: int, response: Response, if_none_match: Annotated[str, Header()] = ""):
    demand_existence(number)
    known = [tag.removeprefix("W/") for tag in entity_tags(if_none_match)]
    if {"*", tags[number]} & set(known):
        return Response(status_code=304, headers={"ETag": tags[number]})
    return represent(number, response)


@app.put("/notes/{number}")
async def replace(number: int, text: Text, response: Response, if_match: IfMatch = None) -> Note:
    demand_match(number, if_match)
    save(number, text)
    return represent(number, response)


@app.delete("/notes/{number}", status_code=204)
async def delete(number: int, if_match: IfMatch = None) -> None:
    demand_match(number, if_match)
    del notes[number], tags[number]
