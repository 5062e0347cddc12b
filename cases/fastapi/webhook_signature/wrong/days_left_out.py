"""Wrong: compares the `seconds` of a timedelta, which leave out whole days."""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse

SECRETS = {"billing": ["whsec-billing-41c7", "whsec-billing-90ae"], "shipping": ["whsec-shipping-5d2b"]}
TOLERANCE_SECONDS = 300

app = FastAPI()
events: dict[tuple[str, str], dict[str, Any]] = {}


class Refused(Exception):
    def __init__(self, status: int, error: str) -> None:
        self.status = status
        self.error = error


@app.exception_handler(Refused)
async def answer_refusal(request: Request, refused: Refused) -> JSONResponse:
    return JSONResponse({"error": refused.error}, refused.status)


def is_genuine(secrets: Iterable[str], identifier: str, timestamp: str, signatures: str, body: bytes) -> bool:
    """Whether one of the signatures was made with one of the secrets."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", identifier) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    expected = [b"v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode() for secret in secrets]
    given = [signature.encode() for signature in signatures.split()]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def parse(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        raise Refused(400, "body") from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str) or not data["type"]:
        raise Refused(400, "body")
    return data


@app.post("/webhooks/{sender}", status_code=202)
async def receive(
    sender: str,
    request: Request,
    webhook_id: Annotated[str, Header()] = "",
    webhook_timestamp: Annotated[str, Header()] = "",
    webhook_signature: Annotated[str, Header()] = "",
) -> dict[str, str]:
    if sender not in SECRETS:
        raise Refused(404, "sender")
    body = await request.body()
    if not is_genuine(SECRETS[sender], webhook_id, webhook_timestamp, webhook_signature, body):
        raise Refused(401, "signature")
    age = abs(datetime.now(UTC) - datetime(1970, 1, 1, tzinfo=UTC) - timedelta(seconds=int(webhook_timestamp)))
    if age.seconds > TOLERANCE_SECONDS:
        raise Refused(401, "timestamp")
    event = {"id": webhook_id, "sender": sender, "data": parse(body)}
    if events.setdefault((sender, webhook_id), event) is not event:
        raise Refused(409, "replayed")
    return {"accepted": webhook_id}


@app.get("/events")
async def list_events() -> dict[str, list[dict[str, Any]]]:
    return {"events": list(events.values())}
