"""Receives signed webhook deliveries; each is accepted once."""

import hashlib
import hmac
import json
import re
import time

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

SECRETS = {"billing": ["whsec-billing-41c7", "whsec-billing-90ae"], "shipping": ["whsec-shipping-5d2b"]}
TOLERANCE_SECONDS = 300

events = {}


def refuse(status: int, error: str) -> JsonResponse:
    return JsonResponse({"error": error}, status=status)


def is_genuine(secrets: list[str], identifier: str, timestamp: str, signatures: str, body: bytes) -> bool:
    """Whether one of the signatures was made with one of the secrets."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", identifier) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    expected = [b"v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode() for secret in secrets]
    given = [signature.encode() for signature in signatures.split()]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


def parse(body: bytes) -> dict | None:
    """Return the event in the body, or None if there is none."""
    try:
        data = json.loads(body)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str) or not data["type"]:
        return None
    return data


@require_POST
def receive(request: HttpRequest, sender: str) -> JsonResponse:
    if sender not in SECRETS:
        return refuse(404, "sender")
    names = ("Webhook-Id", "Webhook-Timestamp", "Webhook-Signature")
    identifier, timestamp, signatures = (request.headers.get(name, "") for name in names)
    if not is_genuine(SECRETS[sender], identifier, timestamp, signatures, request.body):
        return refuse(401, "signature")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return refuse(401, "timestamp")
    data = parse(request.body)
    if data is None:
        return refuse(400, "body")
    event = {"id": identifier, "sender": sender, "data": data}
    if events.setdefault((sender, identifier), event) is not event:
        return refuse(409, "replayed")
    return JsonResponse({"accepted": identifier}, status=202)


@require_GET
def list_events(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"events": list(events.values())})


urlpatterns = [
    path("webhooks/<str:sender>", receive),
    path("events", list_events),
]
