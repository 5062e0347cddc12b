"""Notes API for credentialed cross-origin calls; one middleware around everything else."""

import re
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response, status
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

ALLOWED_ORIGIN = re.compile(r"https://(app|[a-z0-9-]+\.preview)\.example\.com")
ALLOWED_METHODS = ("GET", "POST", "DELETE")
ALLOWED_HEADERS = ("Authorization", "Content-Type")
LOWER_CASE_HEADERS = {name.lower() for name in ALLOWED_HEADERS}


def require_token(authorization: Annotated[str | None, Header()] = None) -> None:
    if authorization != "Bearer demo-token":
        raise HTTPException(status.HTTP_401_UNAUTHORIZED, "Not authenticated")


app = FastAPI()


def is_preflight(request: Request) -> bool:
    headers = request.headers
    return request.method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def answer_preflight(request: Request, origin_is_allowed: bool) -> Response:
    method = request.headers["access-control-request-method"]
    names = request.headers.get("access-control-request-headers", "").lower().split(",")
    headers_are_allowed = {name.strip() for name in names} - {""} <= LOWER_CASE_HEADERS
    if not (origin_is_allowed and method in ALLOWED_METHODS and headers_are_allowed):
        return Response(status_code=status.HTTP_400_BAD_REQUEST)
    return Response(
        headers={
            "Access-Control-Allow-Methods": ", ".join(ALLOWED_METHODS),
            "Access-Control-Allow-Headers": ", ".join(ALLOWED_HEADERS),
            "Access-Control-Max-Age": "600",
        },
    )


@app.middleware("http")
async def cross_origin(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    origin = request.headers.get("origin", "")
    allowed = ALLOWED_ORIGIN.fullmatch(origin) is not None
    if is_preflight(request):
        response = answer_preflight(request, allowed)
    else:
        try:
            response = await call_next(request)
        except Exception:
            response = JSONResponse({"detail": "Internal Server Error"}, status_code=500)
    response.headers.add_vary_header("Origin")
    if allowed:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Expose-Headers"] = "X-Total-Count"
    return response


class NewNote(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=200)]


class Note(NewNote):
    id: int


notes: dict[int, Note] = {}
numbers = count(1)
protected = [Depends(require_token)]


@app.get("/notes", dependencies=protected)
async def list_notes(response: Response) -> list[Note]:
    response.headers["X-Total-Count"] = str(len(notes))
    return list(notes.values())


@app.post("/notes", dependencies=protected, status_code=status.HTTP_201_CREATED)
async def create_note(new: NewNote) -> Note:
    note = Note(id=next(numbers), text=new.text)
    notes[note.id] = note
    return note


@app.delete("/notes/{note_id}", dependencies=protected, status_code=status.HTTP_204_NO_CONTENT)
async def delete_note(note_id: int) -> None:
    if notes.pop(note_id, None) is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, "Note not found")


@app.get("/crash", dependencies=protected)
async def crash() -> None:
    raise RuntimeError("cannot reach notes-db.internal")
