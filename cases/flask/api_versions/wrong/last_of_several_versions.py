"""Wrong: parse_options_header keeps one of several versions."""

from flask import Flask, abort, g, jsonify, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_options_header

app = Flask(__name__)
VERSIONS = ["1.0", "2.0"]
DEFAULT = "2.0"
RANGES = {"application/json", "application/*", "*/*"}
ERRORS = {400: "invalid", 404: "not found"}

users = {1: ("Ada", "Lovelace"), 2: ("Alan", "Turing")}


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": ERRORS.get(error.code, error.name)}, error.code


def find_version(accept):
    """Return the version that is asked for, or None where there is no such version."""
    media_range, options = parse_options_header(accept)
    version = options.get("version", DEFAULT)
    return version if media_range.lower() in RANGES and version in VERSIONS else None


@app.before_request
def choose_version():
    g.version = find_version(request.headers.get("Accept", "*/*"))
    if g.version is None and request.path != "/":
        return {"error": "not acceptable", "versions": VERSIONS}, 406


@app.after_request
def tell_version(response):
    if request.path == "/":
        return response
    response.vary.add("Accept")
    if g.version:
        response.content_type = f"application/json; version={g.version}"
    if g.version == "1.0":
        response.headers["Deprecation"] = "@1767225600"
    return response


def show(number):
    first, last = users[number]
    if g.version == "1.0":
        return {"id": number, "full_name": f"{first} {last}"}
    return {"id": number, "first_name": first, "last_name": last}


def read_names():
    """Return first and last name from a body in the version that is asked for."""
    given = request.get_json()
    if not isinstance(given, dict):
        abort(400)
    names = given.get("full_name") if g.version == "1.0" else [given.get("first_name"), given.get("last_name")]
    if isinstance(names, str):
        names = names.split(" ")
    if not isinstance(names, list) or len(names) != 2:
        abort(400)
    if not all(isinstance(name, str) and name and " " not in name for name in names):
        abort(400)
    return tuple(names)


@app.get("/")
def about():
    return {"versions": VERSIONS, "default": DEFAULT}


@app.get("/users")
def list_users():
    return jsonify([show(number) for number in users])


@app.post("/users")
def add_user():
    number = len(users) + 1
    users[number] = read_names()
    return show(number), 201


@app.get("/users/<int:number>")
def show_user(number):
    if number not in users:
        abort(404)
    return show(number)
