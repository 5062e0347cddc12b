"""Wrong: who is not logged in is thought to need no protection."""

import hmac
import secrets
from itertools import count

from flask import Flask, request, session

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
API_KEYS = {"key-ada-17": "ada", "key-bo-28": "bo"}

app = Flask(__name__)
app.secret_key = secrets.token_bytes()
notes: dict[str, dict[int, str]] = {user: {} for user in USERS}
numbers = count(1)


class Refused(Exception):
    def __init__(self, error: str, status: int) -> None:
        self.error, self.status = error, status


@app.errorhandler(Refused)
def refuse(refused: Refused):
    return {"error": refused.error}, refused.status


def prove_own_page() -> None:
    """Refuse a request that may have been made by another site's page."""
    origin = request.headers.get("Origin")
    if origin not in (None, f"http://{request.host}", f"https://{request.host}"):
        raise Refused("csrf_origin", 403)
    token = request.headers.get("X-CSRF-Token") or request.form.get("csrf_token")
    if not token:
        raise Refused("csrf_missing", 403)
    if not hmac.compare_digest(token.encode(), session.get("csrf", "").encode()):
        raise Refused("csrf_invalid", 403)


def caller() -> str:
    """The user who calls, by key or by session; calls by session that change something need proof."""
    if "Authorization" in request.headers:
        scheme, _, key = request.headers["Authorization"].partition(" ")
        user = API_KEYS.get(key) if scheme == "Bearer" else None
    else:
        if request.method not in ("GET", "HEAD"):
            prove_own_page()
        user = session.get("user")
    if user is None:
        raise Refused("unauthorized", 401)
    return user


def field(name: str) -> str:
    is_form = request.mimetype == "application/x-www-form-urlencoded"
    given = request.form if is_form else request.get_json(silent=True)
    value = given.get(name) if isinstance(given, dict) else None
    if not isinstance(value, str) or not value:
        raise Refused("invalid", 400)
    return value


@app.get("/csrf")
def csrf():
    return {"token": session.setdefault("csrf", secrets.token_urlsafe())}


@app.post("/login")
def login():
    user, password = field("username"), field("password")
    if USERS.get(user) != password:
        raise Refused("wrong", 401)
    session.clear()
    session["user"] = user
    return {"user": user}


@app.post("/logout")
def logout():
    prove_own_page()
    session.clear()
    return "", 204


@app.get("/notes")
def show_notes():
    return {"notes": [{"id": number, "text": text} for number, text in notes[caller()].items()]}


@app.post("/notes")
def add_note():
    user, text = caller(), field("text")
    number = next(numbers)
    notes[user][number] = text
    return {"id": number, "text": text}, 201


@app.delete("/notes/<int:number>")
def delete_note(number: int):
    if notes[caller()].pop(number, None) is None:
        raise Refused("not found", 404)
    return "", 204


@app.post("/hooks/ping")
def ping():
    return {"pong": True}
