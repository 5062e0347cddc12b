"""Wrong: the wanted page is pasted into the query string, so a part of its own query is lost."""

import re
import secrets
from functools import wraps

from flask import Flask, redirect, request, session

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
HOME = "/home"
ABSOLUTE_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]*")

app = Flask(__name__)
app.secret_key = secrets.token_bytes()


def target(wanted):
    """Where to go: what was wanted if it is a path of this site, otherwise home."""
    return wanted if isinstance(wanted, str) and ABSOLUTE_PATH.fullmatch(wanted) else HOME


def body():
    found = request.get_json(silent=True)
    return found if isinstance(found, dict) else None


def needs_login(view):
    @wraps(view)
    def wrapped(**values):
        if "user" in session:
            return view(**values)
        wanted = request.full_path if request.query_string else request.path
        return redirect("/login?next=" + wanted, 303)

    return wrapped


@app.get("/home")
def home():
    return {"page": "home"}


@app.get("/account")
@needs_login
def account():
    return {"user": session["user"]}


@app.get("/reports/<int:number>")
@needs_login
def report(number):
    return {"user": session["user"], "report": number}


@app.get("/login")
def show_login():
    following = target(request.args.get("next"))
    return redirect(following, 303) if "user" in session else {"next": following}


@app.post("/login")
def login():
    given = body()
    if given is None or not all(isinstance(given.get(name), str) for name in ("username", "password")):
        return {"error": "invalid"}, 400
    if USERS.get(given["username"]) != given["password"]:
        return {"error": "wrong"}, 401
    session["user"] = given["username"]
    return redirect(target(given.get("next")), 303)


@app.post("/logout")
def logout():
    given = body()
    if given is None:
        return {"error": "invalid"}, 400
    session.clear()
    return redirect(target(given.get("next")), 303)
