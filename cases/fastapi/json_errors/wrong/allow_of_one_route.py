"""Wrong: passes on the Allow header of the first route of the path."""

from collections.abc import Mapping
from http import HTTPStatus
from itertools import count
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException

app = FastAPI(redirect_slashes=False)


class NewNote(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=200)]


class Note(NewNote):
    id: int


notes: dict[int, Note] = {}
numbers = count(1)


def error_response(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    error = {"status": status, "title": HTTPStatus(status).phrase, "detail": detail}
    return JSONResponse({"error": error}, status, headers)


@app.exception_handler(StarletteHTTPException)
async def answer_http_error(request: Request, error: StarletteHTTPException) -> JSONResponse:
    return error_response(error.status_code, error.detail, error.headers)


@app.exception_handler(Exception)
async def answer_failure(request: Request, error: Exception) -> JSONResponse:
    return error_response(500, "Something went wrong.")


async def read_note(request: Request) -> NewNote:
    """Parse the body only where its type allows it: the framework would parse any type that ends in +json."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip()
    if kind.lower() != "application/json":
        raise HTTPException(415, "The body must be application/json.")
    try:
        return NewNote.model_validate_json(await request.body())
    except ValidationError:
        raise HTTPException(400, "The text must be a string of 1 to 200 characters.") from None


@app.get("/notes")
async def list_notes() -> dict[str, list[Note]]:
    return {"notes": list(notes.values())}


@app.post("/notes", status_code=201)
async def create_note(new: Annotated[NewNote, Depends(read_note)]) -> Note:
    note = Note(id=next(numbers), text=new.text)
    notes[note.id] = note
    return note


@app.get("/notes/{note_id:int}")
async def get_note(note_id: int) -> Note:
    if note_id not in notes:
        raise HTTPException(404, "There is no such note.")
    return notes[note_id]


@app.delete("/notes/{note_id:int}", status_code=204)
async def delete_note(note_id: int) -> None:
    if notes.pop(note_id, None) is None:
        raise HTTPException(404, "There is no such note.")


@app.get("/boom")
async def boom() -> None:
    raise RuntimeError("cannot connect to db://app:swordfish@10.0.0.7/notes")
