"""Wrong: only answers that reach the handlers of the application are stamped; others are not."""

import re
import time
import uuid
from itertools import count

from flask import Flask, g, request
from werkzeug.exceptions import InternalServerError

HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")

app = Flask(__name__)
orders = {}
numbers = count(1)
entries = []


@app.before_request
def identify():
    given = request.headers.get(HEADER, "")
    g.request_id = given if ACCEPTED.fullmatch(given) else str(uuid.uuid4())


@app.after_request
def stamp(response):
    if request.endpoint:
        response.headers[HEADER] = g.request_id
    if request.path != "/log":
        entries.append(
            {
                "request_id": g.request_id,
                "method": request.method,
                "path": request.path,
                "status": response.status_code,
            }
        )
    return response


def error(name, status):
    return {"error": name, "request_id": g.request_id}, status


@app.errorhandler(InternalServerError)
def failed(_):
    return error("internal", 500)


@app.post("/orders")
def create_order():
    body = request.get_json(silent=True)
    item = body.get("item") if isinstance(body, dict) else None
    if not isinstance(item, str) or not item:
        return error("invalid", 400)
    order = {"id": next(numbers), "item": item, "request_id": g.request_id}
    orders[order["id"]] = order
    return order, 201


@app.get("/orders/<int:number>")
def read_order(number):
    return orders[number] if number in orders else error("not found", 404)


@app.get("/slow")
def slow():
    time.sleep(0.2)
    return {"request_id": g.request_id}


@app.get("/crash")
def crash():
    raise RuntimeError("the teapot exploded")


@app.get("/log")
def log():
    return {"entries": entries}
