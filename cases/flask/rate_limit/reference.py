"""Quotes and orders, limited for each key: a sliding window of slots that are taken on arrival."""

import math
import time
from collections import defaultdict
from itertools import count
from threading import Lock

from flask import Flask, abort, g, request
from werkzeug.exceptions import HTTPException

KEYS = {"key-ann-11", "key-ben-22", "key-cat-33", "key-dan-44", "key-eve-55"}
PAUSE_SECONDS = 0.2
LARGEST_QUANTITY = 100


class Limited(Exception):
    def __init__(self, wait):
        self.wait = wait


class Limit:
    """At most so many slots taken within any `seconds`, for each key."""

    def __init__(self, slots, seconds):
        self.slots = slots
        self.seconds = seconds
        self.taken = defaultdict(dict)
        self.tickets = count()
        self.lock = Lock()

    def take(self, key):
        """Take a slot; return its ticket and how many slots are free then."""
        with self.lock:
            now = time.monotonic()
            taken = self.taken[key]
            for ticket in [ticket for ticket, moment in taken.items() if moment <= now - self.seconds]:
                del taken[ticket]
            if len(taken) >= self.slots:
                raise Limited(min(taken.values()) + self.seconds - now)
            ticket = next(self.tickets)
            taken[ticket] = now
            return ticket, self.slots - len(taken)

    def give_back(self, key, ticket):
        with self.lock:
            self.taken[key].pop(ticket, None)


app = Flask(__name__)
quote_limit = Limit(5, 2)
order_limit = Limit(3, 1)
orders = defaultdict(list)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


@app.errorhandler(Limited)
def answer_limit(limited):
    return {"error": "rate limited"}, 429, {"Retry-After": str(math.ceil(limited.wait))}


@app.before_request
def identify():
    g.key = request.headers.get("X-Api-Key")
    if g.key not in KEYS:
        abort(401, "unauthorized")


def read_order():
    data = request.get_json(silent=True)
    if not isinstance(data, dict):
        abort(400, "invalid")
    item, quantity = data.get("item"), data.get("quantity")
    if not isinstance(item, str) or not item or type(quantity) is not int or quantity < 1:
        abort(400, "invalid")
    return {"item": item, "quantity": quantity}


@app.get("/quotes/<symbol>")
def quote(symbol):
    _, free = quote_limit.take(g.key)
    return {"symbol": symbol, "remaining": free}


@app.post("/orders")
def create_order():
    order = read_order()
    ticket, _ = order_limit.take(g.key)
    time.sleep(PAUSE_SECONDS)
    if order["quantity"] > LARGEST_QUANTITY:
        order_limit.give_back(g.key, ticket)
        return {"error": "declined"}, 402
    orders[g.key].append(order)
    return order, 201


@app.get("/orders")
def list_orders():
    return {"orders": orders[g.key]}
