"""Wrong: parses the body whatever its declared type."""

from itertools import count

from flask import Flask, abort, json, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
notes = {}
numbers = count(1)


@app.errorhandler(HTTPException)
def answer_error(error):
    response = error.get_response()
    response.data = json.dumps({"error": {"status": error.code, "title": error.name, "detail": error.description}})
    response.content_type = "application/json"
    return response


@app.get("/notes")
def list_notes():
    return {"notes": list(notes.values())}


@app.post("/notes")
def create_note():
    data = request.get_json(force=True)
    text = data.get("text") if isinstance(data, dict) else None
    if not isinstance(text, str) or not 1 <= len(text) <= 200:
        abort(400, "The text must be a string of 1 to 200 characters.")
    note = {"id": next(numbers), "text": text}
    notes[note["id"]] = note
    return note, 201


@app.get("/notes/<int:note_id>")
def get_note(note_id):
    if note_id not in notes:
        abort(404, "There is no such note.")
    return notes[note_id]


@app.delete("/notes/<int:note_id>")
def delete_note(note_id):
    if notes.pop(note_id, None) is None:
        abort(404, "There is no such note.")
    return "", 204


@app.get("/boom")
def boom():
    raise RuntimeError("cannot connect to db://app:swordfish@10.0.0.7/notes")
