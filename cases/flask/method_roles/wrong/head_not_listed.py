"""Wrong: roles are looked up by method, and methods that are not listed, HEAD among them, pass."""

from functools import wraps
from hmac import compare_digest
from itertools import count

from flask import Flask, request

ROLES = ("reader", "writer", "admin")
USERS = {
    "rita": {"password": "read:only:1", "role": "reader"},
    "will": {"password": "füller ☂ 2", "role": "writer"},
    "ada": {"password": ":schlüssel:3", "role": "admin"},
    "nils": {"password": "no-role-4", "role": None},
}

app = Flask(__name__)
records = {}
ids = count(1)


def error(name, status, headers=()):
    return {"error": name}, status, dict(headers)


def known(login):
    """Whether these are the name and the password of a user."""
    if login is None or login.username not in USERS:
        return False
    return compare_digest(USERS[login.username]["password"].encode(), login.password.encode())


def needs(role):
    """Decorate a view that is for users with `role`, or with one that implies it."""
    enough = ROLES[ROLES.index(role) :]

    def decorate(view):
        @wraps(view)
        def wrapped(**values):
            if request.method not in ("GET", "POST", "PUT", "DELETE"):
                return view(**values) if values.get("pk", 1) in records or not values else error("not found", 404)
            login = request.authorization
            if not known(login):
                return error("unauthorized", 401, {"WWW-Authenticate": 'Basic realm="records", charset="UTF-8"'})
            if USERS[login.username]["role"] not in enough:
                return error("forbidden", 403)
            if "pk" in values and values["pk"] not in records:
                return error("not found", 404)
            return view(**values)

        return wrapped

    return decorate


def write(pk, status):
    given = request.get_json(silent=True)
    text = given.get("text") if isinstance(given, dict) else None
    if not isinstance(text, str) or not 1 <= len(text) <= 200:
        return error("invalid", 400)
    pk = pk or next(ids)
    records[pk] = {"id": pk, "text": text, "by": request.authorization.username}
    return records[pk], status


@app.get("/records")
@needs("reader")
def list_records():
    return {"records": list(records.values())}


@app.post("/records")
@needs("writer")
def add_record():
    return write(None, 201)


@app.get("/records/<int:pk>")
@needs("reader")
def show_record(pk):
    return records[pk]


@app.put("/records/<int:pk>")
@needs("writer")
def replace_record(pk):
    return write(pk, 200)


@app.delete("/records/<int:pk>")
@needs("admin")
def delete_record(pk):
    del records[pk]
    return "", 204
