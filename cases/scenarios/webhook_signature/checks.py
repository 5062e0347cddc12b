"""Hidden checks: what is signed, how fresh a delivery must be, and that each is accepted once."""

import hashlib
import hmac
import json
import time

BILLING, BILLING_TOO, SHIPPING = "whsec-billing-41c7", "whsec-billing-90ae", "whsec-shipping-5d2b"
PAID = b'{"type": "invoice.paid", "amount": 1250}'


def sign(secret, identifier, timestamp, body):
    return hmac.new(secret.encode(), f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def headers_for(secret, identifier, body, timestamp=None):
    timestamp = int(time.time()) if timestamp is None else timestamp
    return {
        "Webhook-Id": identifier,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": f"v1={sign(secret, identifier, timestamp, body)}",
    }


def deliver(client, identifier, body=PAID, secret=BILLING, sender="billing", timestamp=None, **changed):
    """Send a delivery; `changed` replaces headers of a genuine one, None leaves one out."""
    headers = headers_for(secret, identifier, body, timestamp)
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    kept = {name: value for name, value in headers.items() if value is not None}
    return client.post(f"/webhooks/{sender}", content=body, headers=kept)


def expect(response, status, answer, what):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    assert response.json() == answer, f"{what}: body {response.text[:200]}, expected {answer}"


def accepted(client, identifier, what, **options):
    expect(deliver(client, identifier, **options), 202, {"accepted": identifier}, what)


def refused(response, error, what):
    status = {"signature": 401, "timestamp": 401, "body": 400, "replayed": 409, "sender": 404}[error]
    expect(response, status, {"error": error}, what)


def events(client):
    response = client.get("/events")
    assert response.status_code == 200, f"GET /events gave {response.status_code}, expected 200"
    return response.json()["events"]


def listed(client):
    return [event["id"] for event in events(client)]


def check_genuine_deliveries_are_accepted(client):
    """Genuine deliveries are 202 and listed in the order of their arrival, with sender and data."""
    accepted(client, "evt_2", "first delivery")
    accepted(client, "evt_1", "second delivery", sender="shipping", secret=SHIPPING, body=b'{"type":"sent"}')
    expected = [
        {"id": "evt_2", "sender": "billing", "data": {"type": "invoice.paid", "amount": 1250}},
        {"id": "evt_1", "sender": "shipping", "data": {"type": "sent"}},
    ]
    assert events(client) == expected, f"GET /events gave {events(client)}, expected {expected}"
    accepted(client, "A-z_09" + "x" * 58, "an id of 64 characters")


def check_raw_bytes_are_signed(client):
    """The signature covers the bytes of the body as they came, whatever Content-Type says."""
    bodies = (
        b'{"type":"a","amount":1.50,"note":"\\u00e9"}',
        b'\n{  "type" : "a" ,\t"b":[1 ,2] }\r\n',
        '{"z": 1, "type": "größer", "a": 2}'.encode(),
        b'{"type": "a&b=c", "payload": "x+y%20z"}',
    )
    kinds = ("application/json", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream", None)
    for number, body in enumerate(bodies):
        for kind in kinds:
            what = f"body {body!r} with Content-Type {kind}"
            identifier = f"evt-{number}-{kinds.index(kind)}"
            accepted(client, identifier, what, body=body, **({"Content_Type": kind} if kind else {}))
            assert events(client)[-1]["data"] == json.loads(body), f"{what}: listed as {events(client)[-1]['data']}"


def check_signature_covers_everything(client):
    """A signature of another id, timestamp or body is refused."""
    now = int(time.time())
    genuine = headers_for(BILLING, "evt_1", PAID, now)
    for name, value in (("Webhook-Id", "evt_2"), ("Webhook-Timestamp", str(now - 1))):
        response = client.post("/webhooks/billing", content=PAID, headers=genuine | {name: value})
        refused(response, "signature", f"another {name} than the signed one")
    for body in (PAID.replace(b"1250", b"9250"), PAID + b" ", json.dumps(json.loads(PAID), indent=1).encode(), b""):
        response = client.post("/webhooks/billing", content=body, headers=genuine)
        refused(response, "signature", f"body {body!r} with the signature of {PAID!r}")
    assert listed(client) == [], f"after refusals only, the list has {listed(client)}"
    expect(client.post("/webhooks/billing", content=PAID, headers=genuine), 202, {"accepted": "evt_1"}, "the original")


def check_missing_or_malformed_headers(client):
    """Without a signature, or with headers of another form, the answer is 401 signature."""
    accepted(client, "evt_1", "a genuine delivery")
    for name in ("Webhook_Id", "Webhook_Timestamp", "Webhook_Signature"):
        refused(deliver(client, "evt_2", **{name: None}), "signature", f"without {name}")
    now = int(time.time())
    good = sign(BILLING, "evt_2", now, PAID)
    texts = (good, f"v0={good}", f"v1:{good}", f"v1={good[:-1]}", f"v1={good[:10]}", "v1=", "v1", "", "=", "v1=\xe9")
    for text in texts:
        response = deliver(client, "evt_2", timestamp=now, Webhook_Signature=text.encode("latin-1"))
        refused(response, "signature", f"Webhook-Signature {text!r}")
    for stamp in (f"{now}.0", f"+{now}", f"-{now}", f"{now:_}", "nan", "soon", ""):
        refused(deliver(client, "evt_2", timestamp=stamp), "signature", f"correctly signed timestamp {stamp!r}")
    for identifier in ("", "a.b", "a b", "x" * 65, "evt/2"):
        refused(deliver(client, identifier), "signature", f"correctly signed id {identifier!r}")


def check_several_signatures_and_secrets(client):
    """One right signature among several is enough, and it may be made with either secret of the sender."""
    now = int(time.time())
    wrong, right = "v1=" + "0" * 64, "v1=" + sign(BILLING_TOO, "evt_1", now, PAID)
    accepted(client, "evt_1", "the right signature last", timestamp=now, Webhook_Signature=f"v0=abc {wrong} {right}")
    right = "v1=" + sign(BILLING, "evt_2", now, PAID)
    accepted(client, "evt_2", "the right signature first", timestamp=now, Webhook_Signature=f"{right} {wrong} v2=x")
    response = deliver(client, "evt_3", Webhook_Signature=f"{wrong} {wrong}")
    refused(response, "signature", "two wrong signatures")


def check_secret_belongs_to_the_sender(client):
    """A secret counts for its own sender only; other senders do not exist."""
    refused(deliver(client, "evt_1", secret=SHIPPING), "signature", "a delivery of billing, signed by shipping")
    response = deliver(client, "evt_1", secret=BILLING, sender="shipping")
    refused(response, "signature", "a delivery of shipping, signed by billing")
    refused(deliver(client, "evt_1", sender="returns"), "sender", "an unknown sender")
    accepted(client, "evt_1", "a delivery of shipping", sender="shipping", secret=SHIPPING)


def check_freshness(client):
    """A signed timestamp more than 300 seconds in the past or the future is 401 timestamp."""
    now = int(time.time())
    for number, offset in enumerate((-290, 290, -60, 60)):
        accepted(client, f"evt_{number}", f"a timestamp {offset} seconds from now", timestamp=now + offset)
    for offset in (-310, 315, -3600, 3600, -86400 - 5, 86400 + 15, -7 * 86400):
        response = deliver(client, "evt_9", timestamp=now + offset)
        refused(response, "timestamp", f"a timestamp {offset} seconds from now")
    refused(deliver(client, "evt_9", timestamp=17), "timestamp", "a timestamp of 1970")
    refused(deliver(client, "evt_9", timestamp="9" * 12), "timestamp", "a timestamp of a far future")


def check_replay_is_refused(client):
    """An accepted id is refused from then on, also with another body; ids of another sender do not count."""
    now = int(time.time())
    accepted(client, "evt_1", "the first time", timestamp=now)
    accepted(client, "evt_2", "another id")
    refused(deliver(client, "evt_1", timestamp=now), "replayed", "the same delivery again")
    refused(deliver(client, "evt_1", timestamp=now - 7), "replayed", "the same id, signed at another time")
    other = b'{"type": "invoice.void"}'
    refused(deliver(client, "evt_1", body=other, secret=BILLING_TOO), "replayed", "the same id with another body")
    accepted(client, "evt_1", "the id for another sender", sender="shipping", secret=SHIPPING)
    response = deliver(client, "evt_1", sender="shipping", secret=SHIPPING)
    refused(response, "replayed", "the other sender's delivery again")
    assert listed(client) == ["evt_1", "evt_2", "evt_1"], f"after replays the list has {listed(client)}"


def check_invalid_bodies(client):
    """A genuine delivery whose body is no JSON object with a type is 400 body."""
    accepted(client, "evt_1", "a valid body")
    for body in (
        b"",
        b"{",
        b"type=a",
        b'{"type": "\xff"}',
        b'"type"',
        b'["type"]',
        b"null",
        b"{}",
        b'{"type": ""}',
        b'{"type": 5}',
        b'{"type": null}',
    ):
        refused(deliver(client, "evt_2", body=body), "body", f"genuine delivery of {body!r}")


def check_refusals_leave_no_trace(client):
    """The id of a refused delivery may still be used, and refused deliveries are not listed."""
    old = int(time.time()) - 400
    refused(deliver(client, "evt_1", secret="guess"), "signature", "a forged delivery")
    refused(deliver(client, "evt_1", timestamp=old), "timestamp", "a late delivery")
    refused(deliver(client, "evt_1", body=b"{}"), "body", "a delivery with an invalid body")
    assert listed(client) == [], f"after refusals only, the list has {listed(client)}"
    accepted(client, "evt_1", "a genuine delivery with the id of refused ones")


def check_first_reason_counts(client):
    """Where several reasons apply, the first of the list in the task decides."""
    old = int(time.time()) - 400
    accepted(client, "evt_1", "a genuine delivery")
    refused(deliver(client, "evt_1", secret="guess", sender="returns"), "sender", "unknown sender, forged")
    refused(deliver(client, "evt_1", secret="guess", timestamp=old, body=b"{"), "signature", "forged, late, invalid")
    refused(deliver(client, "evt_1", timestamp=old, body=b"{"), "timestamp", "late, invalid, replayed")
    refused(deliver(client, "evt_1", body=b"{"), "body", "invalid, replayed")


def check_simultaneous_deliveries(client, new_client, parallel):
    """Of the same delivery sent several times at once, one is accepted."""
    now = int(time.time())
    clients = [new_client() for _ in range(8)]
    answers = parallel([lambda client=client: deliver(client, "evt_1", timestamp=now) for client in clients])
    found = sorted(answer.status_code for answer in answers)
    assert found == [202] + [409] * 7, f"eight equal deliveries at once gave {found}"
    assert listed(client) == ["evt_1"], f"the list has {listed(client)}"


def check_other_methods(client):
    """Other methods of the two paths are 405."""
    for path, methods in (("/webhooks/billing", ("GET", "PUT", "DELETE")), ("/events", ("POST", "PUT", "DELETE"))):
        for method in methods:
            status = client.request(method, path).status_code
            assert status == 405, f"{method} {path} gave {status}, expected 405"
