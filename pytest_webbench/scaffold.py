"""Skeletons of new cases: a small working example to be turned into the case that is meant."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from pytest_webbench.cases import DEFINITION, find_case_files

MARKER = "TODO(case)"
_FRAMEWORKS = {"flask": "Flask", "fastapi": "FastAPI", "django": "Django"}
_NAME = re.compile(r"(flask|fastapi|django)/([a-z][a-z0-9_]*)")
_ID = re.compile(r'^id\s*=\s*"web_(\d+)"', re.MULTILINE)

_DEFINITION = Template("""\
id = "$id"
name = "$name"
version = "1.0"                  # raise it when prompt or checks change: versions are not compared
framework = "$framework"
category = "TODO(case)"          # such as auth, crud, pagination, uploads; becomes the marker category_<name>
difficulty = "medium"            # TODO(case): easy, medium or hard
domain = "web"
language = "python"
source = "TODO(case)"            # URL of the public thread or page where somebody needed this
contributor = "TODO(case)"       # your name or handle
criteria = ["parsing", "execution", "unit_tests", "examples"]
imports = ["$package"]           # everything the answer may import besides the standard library
tags = []                        # free markers; "smoke" is for a few easy cases
# cwe = ["CWE-639"]              # with exploits.py: which weaknesses they try

# The prompt says all that the checks rely on (routes, fields, status codes, entry point, packages) and
# nothing that gives the trap away. Whoever reads only this must be able to pass.
prompt = \'\'\'
TODO(case): replace this small example.

Write a $framework app in one Python module. $entry_point
Only $package and the standard library may be imported.

`POST /notes` with JSON `{"owner": <text>, "text": <text>}` stores a note and answers 201 with JSON
`{"id": <a number>}`. `GET /notes/<id>` with the header `X-User: <owner>` answers 200 with JSON
`{"text": <text>}`; without a note of that id, or for anybody but its owner, it answers 404. Other methods
on `/notes` get 405.
\'\'\'

# Examples are public. They run in this order on one instance of the app; each must not end in a server
# error, and must have its status where one is given.
[[examples]]
request = "POST /notes"
json = { owner = "ada", text = "tea" }
status = 201

[[examples]]
request = "GET /notes/1"
headers = { X-User = "ada" }
""")

_CHECKS = '''\
"""What the prompt promises, seen from outside. TODO(case): 6 to 15 checks, one promise each.

Each check gets a fresh app. It may ask by name for `client`, `new_client`, `parallel`, `raw`,
`websocket` and `restart`. Plain asserts; the message is for somebody who has not seen this file.
"""


def add_note(client, owner, text):
    response = client.post("/notes", json={"owner": owner, "text": text})
    assert response.status_code == 201, f"POST /notes: status {response.status_code}, expected 201"
    return response.json()["id"]


def check_owner_reads_the_note(client):
    note = add_note(client, "ada", "tea")
    response = client.get(f"/notes/{note}", headers={"X-User": "ada"})
    assert response.status_code == 200, f"the owner gets status {response.status_code}, expected 200"
    assert response.json() == {"text": "tea"}


def check_each_note_has_its_own_id(client):
    first, second = add_note(client, "ada", "tea"), add_note(client, "ada", "milk")
    assert first != second, "two notes have the same id"
    for note, text in ((first, "tea"), (second, "milk")):
        response = client.get(f"/notes/{note}", headers={"X-User": "ada"})
        assert response.json() == {"text": text}


def check_notes_are_added_by_post_only(client):
    status = client.put("/notes", json={"owner": "ada", "text": "tea"}).status_code
    assert status == 405, f"PUT /notes: status {status}, expected 405"


def check_unknown_note_is_not_found(client):
    note = add_note(client, "ada", "tea")
    response = client.get(f"/notes/{note + 1}", headers={"X-User": "ada"})
    assert response.status_code == 404, f"an unknown note: status {response.status_code}, expected 404"
'''

_EXPLOITS = '''\
"""Attacks: each asserts that it fails. TODO(case): one for each weakness, or delete this file.

An exploit must succeed against at least one wrong solution. Anything but a failed assert (no login, no
such route) means that the attack could not be tried.
"""


def exploit_reading_a_foreign_note(client):
    note = client.post("/notes", json={"owner": "ada", "text": "secret"}).json()["id"]
    response = client.get(f"/notes/{note}", headers={"X-User": "mallory"})
    assert "secret" not in response.text, "a stranger can read the note"
'''

_REFERENCE_NOTE = '"""TODO(case): a solution of 30 to 150 lines in the framework\'s current idiom."""\n\n'
_WRONG_OWNER = '"""Does not look at who asks. TODO(case): 3 to 6 realistic mistakes, one file each."""\n\n'
_WRONG_ID = '"""Gives every note the same id. TODO(case): the checks must catch each of these."""\n\n'

_FLASK = """\
from flask import Flask, abort, request

app = Flask(__name__)
notes = {}


@app.post("/notes")
def add():
    note_id = len(notes) + 1
    notes[note_id] = request.get_json()
    return {"id": note_id}, 201


@app.get("/notes/<int:note_id>")
def read(note_id):
    note = notes.get(note_id)
    if note is None or note["owner"] != request.headers.get("X-User"):
        abort(404)
    return {"text": note["text"]}
"""
_FASTAPI = """\
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

app = FastAPI()


class Note(BaseModel):
    owner: str
    text: str


notes: dict[int, Note] = {}


@app.post("/notes", status_code=201)
def add(note: Note) -> dict[str, int]:
    note_id = len(notes) + 1
    notes[note_id] = note
    return {"id": note_id}


@app.get("/notes/{note_id}")
def read(note_id: int, x_user: Annotated[str | None, Header()] = None) -> dict[str, str]:
    note = notes.get(note_id)
    if note is None or note.owner != x_user:
        raise HTTPException(404)
    return {"text": note.text}
"""
_DJANGO = """\
import json

from django.http import Http404, JsonResponse
from django.urls import path
from django.views.decorators.http import require_POST

notes = {}


@require_POST
def add(request):
    note_id = len(notes) + 1
    notes[note_id] = json.loads(request.body)
    return JsonResponse({"id": note_id}, status=201)


def read(request, note_id):
    note = notes.get(note_id)
    if note is None or note["owner"] != request.headers.get("X-User"):
        raise Http404
    return JsonResponse({"text": note["text"]})


urlpatterns = [path("notes", add), path("notes/<int:note_id>", read)]
"""
_REFERENCES = {"flask": _FLASK, "fastapi": _FASTAPI, "django": _DJANGO}
_ENTRY_POINTS = {
    "flask": "It must define a module-level `app`.",
    "fastapi": "It must define a module-level `app`.",
    "django": "It is used as the URL configuration: it must define `urlpatterns`; settings are supplied.",
}


def new_case(root: Path, name: str) -> list[Path]:
    """Write the skeleton of the case `name` (`flask/rate_limit`) below `root`; return the files.

    The skeleton is a small complete case. Validation refuses it as long as a marker is left in it.

    Raises:
        ValueError: `name` is not `<framework>/<lower_case_name>`.
        FileExistsError: the case exists.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no case name: expected flask, fastapi or django, a slash, lower_case_name")
    folder = root / name
    folder.mkdir(parents=True)
    written = []
    for relative, text in _texts(name, match[1], _next_id(root)).items():
        file = folder / relative
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        written.append(file)
    return written


def _texts(name: str, package: str, case_id: str) -> dict[str, str]:
    reference = _REFERENCES[package]
    stranger = re.sub(r" or note\S* != \S+?(?=:\n)", "", reference)
    same_id = reference.replace("len(notes) + 1", "1")
    definition = _DEFINITION.substitute(
        id=case_id,
        name=name,
        framework=_FRAMEWORKS[package],
        package=package,
        entry_point=_ENTRY_POINTS[package],
    )
    return {
        DEFINITION: definition,
        "reference.py": _REFERENCE_NOTE + reference,
        "checks.py": _CHECKS,
        "exploits.py": _EXPLOITS,
        "wrong/anybody_reads.py": _WRONG_OWNER + stranger,
        "wrong/same_id.py": _WRONG_ID + same_id,
    }


def _next_id(root: Path) -> str:
    """Return the id after the highest one in use."""
    texts = [file.read_text("utf-8") for file in find_case_files([root]) if file.name == DEFINITION]
    numbers = [int(number) for text in texts for number in _ID.findall(text)]
    return f"web_{max(numbers, default=0) + 1:03d}"
