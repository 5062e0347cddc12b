"""Wrong: the condition is checked before the moderation and the note stored after it."""

import time
import uuid
from itertools import count
from threading import Lock

from flask import Flask, abort, jsonify, make_response, request

app = Flask(__name__)
notes = {}
tags = {}
numbers = count(1)
lock = Lock()


def refuse(name, status, headers=()):
    abort(make_response({"error": name}, status, dict(headers)))


def moderated_text():
    """The text of the request's body, after the call of the moderation service."""
    body = request.get_json(silent=True)
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str) or not text:
        refuse("invalid", 400)
    time.sleep(0.1)
    return text


def entity_tags(header):
    return [tag.strip() for tag in header.split(",")]


def demand_existence(number):
    if number not in notes:
        refuse("not found", 404)


def demand_match(number):
    """Refuse the request unless If-Match has the current tag; weak tags never match. The lock is held."""
    demand_existence(number)
    if "If-Match" not in request.headers:
        refuse("precondition required", 428)
    if not {"*", tags[number]} & set(entity_tags(request.headers["If-Match"])):
        refuse("precondition failed", 412, {"ETag": tags[number]})


def save(number, text):
    """Store a version under a tag that was never used before. The lock is held."""
    notes[number] = {"id": number, "text": text}
    tags[number] = f'"{uuid.uuid4().hex}"'


def represent(number):
    response = jsonify(notes[number])
    response.headers["ETag"] = tags[number]
    return response


@app.post("/notes")
def create():
    text = moderated_text()
    with lock:
        number = next(numbers)
        save(number, text)
        return represent(number), 201


@app.get("/notes/<int:number>")
def read(number):
    with lock:
        demand_existence(number)
        known = [tag.removeprefix("W/") for tag in entity_tags(request.headers.get("If-None-Match", ""))]
        if {"*", tags[number]} & set(known):
            return "", 304, {"ETag": tags[number]}
        return represent(number)


@app.put("/notes/<int:number>")
def replace(number):
    with lock:
        demand_match(number)
    text = moderated_text()
    with lock:
        save(number, text)
        return represent(number)


@app.delete("/notes/<int:number>")
def delete(number):
    with lock:
        demand_match(number)
        del notes[number], tags[number]
        return "", 204
