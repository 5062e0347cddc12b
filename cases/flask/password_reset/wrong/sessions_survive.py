"""Wrong: sessions from before the reset stay valid."""

import secrets
import time
from threading import Lock

from flask import Flask, abort, make_response, request
from werkzeug.security import check_password_hash, generate_password_hash

ACCOUNTS = {"ada@example.com": "rabbit-hole-7", "bo@example.com": "red-brick-88"}
LINK_SECONDS = 900
MAILS, MAIL_SECONDS = 3, 3600
METHOD = "scrypt:4096:8:1"
NOBODY = generate_password_hash(secrets.token_hex(), METHOD)

app = Flask(__name__)
password_hashes = {email: generate_password_hash(password, METHOD) for email, password in ACCOUNTS.items()}
sessions = {}
links = {}
outbox = []
clock = {"now": 0}
lock = Lock()


def refuse(name, status):
    abort(make_response({"error": name}, status))


def fields(*names):
    """The named strings of the request's body; an e-mail address in the form in which it is known."""
    body = request.get_json(silent=True)
    values = [body.get(name) for name in names] if isinstance(body, dict) else [None]
    if not all(isinstance(value, str) and value.strip() for value in values):
        refuse("invalid", 400)
    return [value.strip().lower() if name == "email" else value for name, value in zip(names, values)]


@app.post("/login")
def login():
    email, password = fields("email", "password")
    if not check_password_hash(password_hashes.get(email, NOBODY), password):
        refuse("wrong", 401)
    session = secrets.token_urlsafe()
    sessions[session] = email
    return {"session": session}


@app.get("/me")
def me():
    scheme, _, session = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or session not in sessions:
        refuse("unauthorized", 401)
    return {"email": sessions[session]}


@app.post("/password/forgot")
def forgot():
    (email,) = fields("email")
    with lock:
        now = clock["now"]
        recent = [mail for mail in outbox if mail["to"] == email and mail["time"] > now - MAIL_SECONDS]
        if email in password_hashes and len(recent) < MAILS:
            links[email] = secrets.token_urlsafe(), now + LINK_SECONDS
            outbox.append({"to": email, "token": links[email][0], "time": now})
    return {"status": "accepted"}, 202


def claim(token):
    """Use up the token; return whose it is, or None if it is not valid."""
    with lock:
        for email, (known, expires) in links.items():
            if known == token and clock["now"] < expires:
                del links[email]
                return email
    return None


@app.post("/password/reset")
def reset():
    token, password = fields("token", "password")
    if len(password) < 10:
        refuse("invalid", 400)
    email = claim(token)
    if email is None:
        refuse("bad token", 403)
    time.sleep(0.1)  # stands for the search in the list of leaked passwords
    password_hash = generate_password_hash(password, METHOD)
    with lock:
        password_hashes[email] = password_hash
    return {"status": "changed"}


@app.get("/outbox")
def read_outbox():
    return {"mails": outbox}


@app.post("/clock")
def advance():
    clock["now"] += request.get_json()["advance"]
    return "", 204
