"""Wrong: compares the `seconds` of a timedelta, which leave out whole days."""

import hashlib
import hmac
import json
import re
from datetime import UTC, datetime, timedelta

from flask import Flask, abort, request
from werkzeug.exceptions import HTTPException

SECRETS = {"billing": ["whsec-billing-41c7", "whsec-billing-90ae"], "shipping": ["whsec-shipping-5d2b"]}
TOLERANCE_SECONDS = 300

app = Flask(__name__)
events = {}


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


def is_genuine(secrets, identifier, timestamp, signatures, body):
    """Whether one of the signatures was made with one of the secrets."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", identifier) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    expected = [b"v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode() for secret in secrets]
    given = [signature.encode() for signature in signatures.split()]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def parse(body):
    try:
        data = json.loads(body)
    except ValueError:
        abort(400, "body")
    if not isinstance(data, dict) or not isinstance(data.get("type"), str) or not data["type"]:
        abort(400, "body")
    return data


@app.post("/webhooks/<sender>")
def receive(sender):
    if sender not in SECRETS:
        abort(404, "sender")
    body = request.get_data()
    names = ("Webhook-Id", "Webhook-Timestamp", "Webhook-Signature")
    identifier, timestamp, signatures = (request.headers.get(name, "") for name in names)
    if not is_genuine(SECRETS[sender], identifier, timestamp, signatures, body):
        abort(401, "signature")
    age = abs(datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC) - timedelta(seconds=int(timestamp)))
    if age.seconds > TOLERANCE_SECONDS:
        abort(401, "timestamp")
    event = {"id": identifier, "sender": sender, "data": parse(body)}
    if events.setdefault((sender, identifier), event) is not event:
        abort(409, "replayed")
    return {"accepted": identifier}, 202


@app.get("/events")
def list_events():
    return {"events": list(events.values())}
