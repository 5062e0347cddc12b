"""Wrong: the number of parts is left to the default of the framework."""

import hashlib
import re
from itertools import count
from pathlib import Path

from flask import Flask, abort, request, send_file
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
UPLOADS = Path("uploads").resolve()
FIELDS = {"photos": "photo", "documents": "document"}
FILE_LIMITS = {"photos": 16 * 1024, "documents": 128 * 1024}
ROOM_FOR_THE_REST = 8 * 1024
NOTE_LIMIT = 1024
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,49}")
SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}
ERRORS = {400: "invalid", 404: "not found", 409: "exists", 413: "too large", 415: "unsupported"}

notes = {}
note_ids = count(1)
for folder in FIELDS:
    (UPLOADS / folder).mkdir(parents=True, exist_ok=True)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": ERRORS.get(error.code, error.name)}, error.code


def picture_type(content):
    return next((kind for signature, kind in SIGNATURES.items() if content.startswith(signature)), None)


def uploaded_file(folder):
    """Read the form within its limits; return name and content of its only file."""
    limit = FILE_LIMITS[folder]
    request.max_content_length = limit + ROOM_FOR_THE_REST
    files = [(file.filename, file.read()) for file in request.files.getlist(FIELDS[folder])]
    if any(len(content) > limit for _, content in files):
        abort(413)
    if len(files) != 1:
        abort(400)
    path, content = files[0]
    name = re.split(r"[/\\]", path)[-1]
    if not NAME.fullmatch(name) or not content:
        abort(400)
    return name, content


@app.post("/<any(photos, documents):folder>")
def upload(folder):
    name, content = uploaded_file(folder)
    if folder == "photos" and picture_type(content) is None:
        abort(415)
    try:
        with open(UPLOADS / folder / name, "xb") as file:
            file.write(content)
    except FileExistsError:
        abort(409)
    return {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}, 201


@app.get("/<any(photos, documents):folder>/<name>")
def download(folder, name):
    path = UPLOADS / folder / name
    if not NAME.fullmatch(name) or not path.is_file():
        abort(404)
    photo = folder == "photos"
    kind = picture_type(path.read_bytes()) if photo else "application/octet-stream"
    response = send_file(path, mimetype=kind, as_attachment=not photo)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@app.post("/notes")
def add_note():
    request.max_content_length = NOTE_LIMIT
    given = request.get_json(force=True)
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        abort(400)
    note = {"id": next(note_ids), "text": given["text"]}
    notes[note["id"]] = note
    return note, 201


@app.get("/usage")
def usage():
    sizes = {folder: [path.stat().st_size for path in (UPLOADS / folder).iterdir()] for folder in FIELDS}
    counts = {folder: len(found) for folder, found in sizes.items()}
    return counts | {"notes": len(notes), "bytes": sum(map(sum, sizes.values()))}
