"""Hidden checks of the scenario idempotency_keys: a payment is made once, however often it is sent."""

import json
import time

ADA, BO = "token-of-ada", "token-of-bo"
REPLAYED = "Idempotent-Replayed"


def pay(client, key="key-1", amount=100, currency="EUR", token=ADA):
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    return client.post("/payments", json={"amount": amount, "currency": currency}, headers=headers)


def send(client, content, key="key-1"):
    """Send a body as it is."""
    headers = {"Authorization": f"Bearer {ADA}", "Idempotency-Key": key, "Content-Type": "application/json"}
    return client.post("/payments", content=content, headers=headers)


def asked(response):
    request = response.request
    key = request.headers.get("Idempotency-Key")
    return f"{request.method} {request.url.path} with the key {key!r} and {request.content.decode()}"


def is_answer(response, status, expected, replayed=None):
    """The answer must be this one; `replayed` is the expected value of the header."""
    found = response.status_code
    assert found == status, f"{asked(response)} answered {found} {response.text[:200]}, expected {status}"
    assert response.json() == expected, f"{asked(response)} answered {response.json()}, expected {expected}"
    header = response.headers.get(REPLAYED)
    assert header == replayed, f"{asked(response)}: the header {REPLAYED} is {header!r}, expected {replayed!r}"


def payment(number, amount=100, currency="EUR"):
    return {"id": number, "amount": amount, "currency": currency}


def payments_are(client, *expected, token=ADA):
    response = client.get("/payments", headers={"Authorization": f"Bearer {token}"})
    is_answer(response, 200, {"payments": list(expected)})


def calls_are(client, expected):
    found = client.get("/provider").json()["calls"]
    assert found == expected, f"the provider was called {found} times, expected {expected}"


def switch(client, up):
    status = client.post("/provider", json={"up": up}).status_code
    assert status == 204, f"POST /provider answered {status}, expected 204"


def check_payments(client):
    """Each new key makes a payment, also with an equal payload; each user sees their own."""
    is_answer(client.get("/provider"), 200, {"up": True, "calls": 0})
    response = pay(client)
    is_answer(response, 201, payment(1))
    seconds = response.elapsed.total_seconds()
    assert seconds >= 0.095, f"the payment was answered after {seconds:.3f} s, the provider takes 0.1 s"
    is_answer(pay(client, "key-2"), 201, payment(2))
    is_answer(pay(client, "K" * 64, 1, "USD"), 201, payment(3, 1, "USD"))
    is_answer(pay(client, "k", 5000, token=BO), 201, payment(4, 5000))
    payments_are(client, payment(1), payment(2), payment(3, 1, "USD"))
    payments_are(client, payment(4, 5000), token=BO)
    calls_are(client, 4)


def check_callers_must_be_known(client):
    """Without a valid token everything about payments is 401."""
    for headers in ({}, {"Authorization": "Bearer nobody"}, {"Authorization": f"Basic {ADA}"}, {"Authorization": ADA}):
        is_answer(client.get("/payments", headers=headers), 401, {"error": "unauthorized"})
        for body in ({"amount": 100, "currency": "EUR"}, {}):
            is_answer(client.post("/payments", json=body, headers=headers), 401, {"error": "unauthorized"})
    payments_are(client)
    calls_are(client, 0)


def check_a_key_is_needed(client):
    """Without a key, or with one that is empty or too long, a payment is 400."""
    headers = {"Authorization": f"Bearer {ADA}"}
    for body in ({"amount": 100, "currency": "EUR"}, {"amount": 0}):
        is_answer(client.post("/payments", json=body, headers=headers), 400, {"error": "invalid key"})
        for key in ("", "k" * 65):
            response = client.post("/payments", json=body, headers=headers | {"Idempotency-Key": key})
            is_answer(response, 400, {"error": "invalid key"})
    payments_are(client)
    calls_are(client, 0)


def check_invalid_payloads(client):
    """An invalid body is 400 and leaves its key free."""
    for amount in (0, -1, 1_000_001, 1.5, "100", True, None, [100]):
        is_answer(pay(client, amount=amount), 400, {"error": "invalid"})
    for currency in ("GBP", "eur", "", None, 7):
        is_answer(pay(client, currency=currency), 400, {"error": "invalid"})
    for content in (b"{}", b'{"amount": 100}', b'{"currency": "EUR"}', b"[]", b"null", b"{", b""):
        is_answer(send(client, content), 400, {"error": "invalid"})
    calls_are(client, 0)
    is_answer(pay(client), 201, payment(1))
    is_answer(pay(client, amount=0), 400, {"error": "invalid"})
    is_answer(pay(client, "key-2", 1_000_000), 402, {"error": "declined"})


def check_a_repeated_payment_is_replayed(client):
    """The same key with the same payload has the same answer and makes nothing new."""
    is_answer(pay(client), 201, payment(1))
    is_answer(pay(client, "key-2", 7), 201, payment(2, 7))
    for _ in range(2):
        is_answer(pay(client), 201, payment(1), "true")
    is_answer(pay(client, "key-2", 7), 201, payment(2, 7), "true")
    payments_are(client, payment(1), payment(2, 7))
    calls_are(client, 2)


def check_equal_payloads_may_be_written_differently(client):
    """Order of the members, white space and other members do not make another payload."""
    is_answer(pay(client), 201, payment(1))
    for content in (
        b'{"currency":"EUR","amount":100}',
        b'{\n  "amount": 100,\n  "currency": "EUR"\n}',
        b'{"amount": 100, "currency": "\\u0045UR", "note": "again"}',
    ):
        is_answer(send(client, content), 201, payment(1), "true")
    payments_are(client, payment(1))


def check_another_payload_is_refused(client):
    """The same key with another payload is 422; the first one is still replayed."""
    is_answer(pay(client), 201, payment(1))
    for changed in ({"amount": 101}, {"currency": "USD"}, {"amount": 9999}):
        is_answer(pay(client, **changed), 422, {"error": "key reused"})
    is_answer(pay(client), 201, payment(1), "true")
    is_answer(pay(client, "KEY-1", 101), 201, payment(2, 101))
    payments_are(client, payment(1), payment(2, 101))
    calls_are(client, 2)


def check_declined_payments_are_replayed(client):
    """402 is an answer like 201: it is kept for its key."""
    is_answer(pay(client, amount=5001), 402, {"error": "declined"})
    is_answer(pay(client, amount=5001), 402, {"error": "declined"}, "true")
    is_answer(pay(client, amount=5000), 422, {"error": "key reused"})
    payments_are(client)
    calls_are(client, 1)


def check_an_outage_leaves_the_key_free(client):
    """503 is not kept: the key may be used again, with any payload."""
    is_answer(pay(client, "old"), 201, payment(1))
    switch(client, False)
    for amount in (100, 100, 200, 6000):
        is_answer(pay(client, amount=amount), 503, {"error": "provider down"})
    is_answer(pay(client, "old"), 201, payment(1), "true")
    payments_are(client, payment(1))
    is_answer(client.get("/provider"), 200, {"up": False, "calls": 5})
    switch(client, True)
    is_answer(pay(client, amount=300), 201, payment(2, 300))
    is_answer(pay(client, amount=300), 201, payment(2, 300), "true")
    payments_are(client, payment(1), payment(2, 300))


def check_keys_belong_to_their_user(client):
    """Two users may use the same key without noticing."""
    is_answer(pay(client), 201, payment(1))
    is_answer(pay(client, token=BO), 201, payment(2))
    is_answer(pay(client, "key-2", 7, token=BO), 201, payment(3, 7))
    is_answer(pay(client, "key-2", 8), 201, payment(4, 8))
    payments_are(client, payment(1), payment(4, 8))
    payments_are(client, payment(2), payment(3, 7), token=BO)


def check_simultaneous_duplicates(client, new_client, parallel):
    """Of several equal requests at once one makes the payment; the others replay it or are told to wait."""
    clients = [new_client() for _ in range(5)]
    responses = parallel([lambda c=c: pay(c) for c in clients])
    first = [r for r in responses if r.status_code == 201 and REPLAYED not in r.headers]
    assert len(first) == 1, f"five equal requests at once: {len(first)} of them made a payment"
    is_answer(first[0], 201, payment(1))
    for response in responses:
        if response.status_code == 409:
            is_answer(response, 409, {"error": "in progress"})
        elif response is not first[0]:
            is_answer(response, 201, payment(1), "true")
    payments_are(client, payment(1))
    calls_are(client, 1)
    is_answer(pay(client), 201, payment(1), "true")


def check_another_payload_while_in_progress(client, new_client, parallel):
    """A key is taken from the moment its first request is accepted."""
    other = new_client()

    def a_little_later():
        time.sleep(0.05)
        return pay(other, amount=101)

    first, second = parallel([lambda: pay(client), a_little_later])
    is_answer(first, 201, payment(1))
    is_answer(second, 422, {"error": "key reused"})
    payments_are(client, payment(1))


def check_simultaneous_payments(client, new_client, parallel):
    """Requests with different keys are all done, with ids of their own."""
    clients = [new_client() for _ in range(5)]
    responses = parallel([lambda c=c, n=n: pay(c, f"key-{n}", 10 + n) for n, c in enumerate(clients)])
    statuses = [response.status_code for response in responses]
    assert statuses == [201] * 5, f"five different payments at once were answered with {statuses}"
    found = sorted(response.json()["id"] for response in responses)
    assert found == [1, 2, 3, 4, 5], f"five payments at once have the ids {found}"
    made = {json.dumps(response.json(), sort_keys=True) for response in responses}
    listed = client.get("/payments", headers={"Authorization": f"Bearer {ADA}"}).json()["payments"]
    assert {json.dumps(one, sort_keys=True) for one in listed} == made, f"made were {made}, listed are {listed}"
    calls_are(client, 5)
