"""Personal pages that no shared cache may keep, and one page that every cache may keep."""

import secrets
from datetime import timedelta

from flask import Flask, request, session

app = Flask(__name__)
app.config.update(
    SECRET_KEY=secrets.token_hex(),
    PERMANENT_SESSION_LIFETIME=timedelta(days=30),
    SESSION_REFRESH_EACH_REQUEST=False,
    SESSION_COOKIE_SAMESITE="Lax",
)
PERSONAL = {"/hello", "/name", "/logout"}


@app.after_request
def tell_caches(response):
    if request.path in PERSONAL:
        response.vary.add("Cookie")
        response.cache_control.private = True
        response.cache_control.no_cache = True
    return response


@app.get("/hello")
def hello():
    return {"hello": session.get("name", "guest")}


@app.post("/name")
def set_name():
    given = request.get_json(silent=True)
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= 50:
        return {"error": "invalid"}, 400
    session.permanent = True
    session["name"] = name.strip()
    return {"hello": session["name"]}


@app.post("/logout")
def logout():
    session.clear()
    return "", 204


@app.get("/about")
def about():
    return {"about": "We greet people."}, {"Cache-Control": "public, max-age=600"}
