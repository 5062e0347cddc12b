"""Wrong: the form refuses too many parts with its own status."""

import hashlib
import json
import re
from enum import StrEnum
from itertools import count
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException as StarletteHTTPException

app = FastAPI()
UPLOADS = Path("uploads").resolve()
FIELDS = {"photos": "photo", "documents": "document"}
FILE_LIMITS = {"photos": 16 * 1024, "documents": 128 * 1024}
ROOM_FOR_THE_REST = 8 * 1024
MOST_PARTS = 8
MANY = float("inf")
NOTE_LIMIT = 1024
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,49}")
SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}

INVALID = HTTPException(400, "invalid")
NOT_FOUND = HTTPException(404, "not found")
EXISTS = HTTPException(409, "exists")
TOO_LARGE = HTTPException(413, "too large")
UNSUPPORTED = HTTPException(415, "unsupported")


class Folder(StrEnum):
    PHOTOS = "photos"
    DOCUMENTS = "documents"


notes: dict[int, dict] = {}
note_ids = count(1)
for folder in Folder:
    (UPLOADS / folder).mkdir(parents=True, exist_ok=True)


@app.exception_handler(HTTPException)
async def answer_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


def limited(request: Request, limit: int) -> Request:
    """The same request, whose body ends in an error as soon as it is longer than `limit` bytes."""
    received = 0

    async def receive() -> dict:
        nonlocal received
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise TOO_LARGE
        return message

    return Request(request.scope, receive)


def picture_type(content: bytes) -> str | None:
    return next((kind for signature, kind in SIGNATURES.items() if content.startswith(signature)), None)


async def uploaded_file(request: Request, folder: Folder) -> tuple[str, bytes]:
    """Read the form within its limits; return name and content of its only file."""
    limit = FILE_LIMITS[folder]
    try:
        form = await limited(request, limit + ROOM_FOR_THE_REST).form(max_files=MOST_PARTS, max_fields=MOST_PARTS)
    except HTTPException:
        raise
    except StarletteHTTPException:
        raise INVALID from None
    parts = form.getlist(FIELDS[folder])
    files = [(part.filename, await part.read()) for part in parts if isinstance(part, UploadFile)]
    if len(form.multi_items()) > MOST_PARTS or any(len(content) > limit for _, content in files):
        raise TOO_LARGE
    if len(files) != 1:
        raise INVALID
    path, content = files[0]
    name = re.split(r"[/\\]", path or "")[-1]
    if not NAME.fullmatch(name) or not content:
        raise INVALID
    return name, content


@app.post("/notes", status_code=201)
async def add_note(request: Request) -> dict:
    try:
        given = json.loads(await limited(request, NOTE_LIMIT).body())
    except ValueError:
        raise INVALID from None
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        raise INVALID
    note = {"id": next(note_ids), "text": given["text"]}
    notes[note["id"]] = note
    return note


@app.get("/usage")
async def usage() -> dict:
    sizes = {folder: [path.stat().st_size for path in (UPLOADS / folder).iterdir()] for folder in FIELDS}
    counts = {folder: len(found) for folder, found in sizes.items()}
    return counts | {"notes": len(notes), "bytes": sum(map(sum, sizes.values()))}


@app.post("/{folder}", status_code=201)
async def upload(folder: Folder, request: Request) -> dict:
    name, content = await uploaded_file(request, folder)
    if folder is Folder.PHOTOS and picture_type(content) is None:
        raise UNSUPPORTED
    try:
        with open(UPLOADS / folder / name, "xb") as file:
            file.write(content)
    except FileExistsError:
        raise EXISTS from None
    return {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@app.get("/{folder}/{name}")
async def download(folder: Folder, name: str) -> FileResponse:
    path = UPLOADS / folder / name
    if not NAME.fullmatch(name) or not path.is_file():
        raise NOT_FOUND
    headers = {"X-Content-Type-Options": "nosniff"}
    if folder is Folder.PHOTOS:
        return FileResponse(path, 200, headers, picture_type(path.read_bytes()))
    return FileResponse(path, 200, headers, "application/octet-stream", filename=name)
