"""Wrong: keys are shared by all users."""

import time
from functools import wraps
from itertools import count
from threading import Lock

from flask import Flask, g, request

TOKENS = {"token-of-ada": "ada", "token-of-bo": "bo"}
CURRENCIES = ("EUR", "USD")

app = Flask(__name__)
payments = []
numbers = count(1)
records = {}
provider = {"up": True, "calls": 0}
lock = Lock()


class ProviderDown(Exception):
    pass


def needs_token(view):
    @wraps(view)
    def wrapper():
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in TOKENS:
            return {"error": "unauthorized"}, 401
        g.user = TOKENS[token]
        return view()

    return wrapper


def payload():
    """Amount and currency of the request's body, or None if they are not valid."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        return None
    amount, currency = body.get("amount"), body.get("currency")
    if type(amount) is not int or not 1 <= amount <= 1_000_000 or currency not in CURRENCIES:
        return None
    return {"amount": amount, "currency": currency}


def charge(user, wanted):
    """Have the provider make the payment; return status and body."""
    time.sleep(0.1)
    with lock:
        provider["calls"] += 1
        if not provider["up"]:
            raise ProviderDown
        if wanted["amount"] > 5000:
            return 402, {"error": "declined"}
        payment = {"id": next(numbers), **wanted}
        payments.append((user, payment))
        return 201, payment


@app.post("/payments")
@needs_token
def pay():
    key, wanted = request.headers.get("Idempotency-Key", ""), payload()
    if not 1 <= len(key) <= 64:
        return {"error": "invalid key"}, 400
    if wanted is None:
        return {"error": "invalid"}, 400
    slot, mine = key, {"payload": wanted, "answer": None}
    with lock:
        record = records.setdefault(slot, mine)
    if record["payload"] != wanted:
        return {"error": "key reused"}, 422
    if record is not mine:
        return replay(record)
    try:
        status, body = record["answer"] = charge(g.user, wanted)
    except ProviderDown:
        del records[slot]
        return {"error": "provider down"}, 503
    return body, status


def replay(record):
    if record["answer"] is None:
        return {"error": "in progress"}, 409
    status, body = record["answer"]
    return body, status, {"Idempotent-Replayed": "true"}


@app.get("/payments")
@needs_token
def list_payments():
    return {"payments": [payment for user, payment in payments if user == g.user]}


@app.get("/provider")
def read_provider():
    return provider


@app.post("/provider")
def switch_provider():
    provider["up"] = request.get_json()["up"]
    return "", 204
