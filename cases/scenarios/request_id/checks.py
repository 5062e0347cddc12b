"""Hidden checks of the scenario request_id: each answer carries the id of its request."""

import uuid

HEADER = "X-Request-ID"
GIVEN = "upstream-0.17_B"


def described(response):
    """Say which request an answer belongs to."""
    request = response.request
    given = request.headers.get(HEADER)
    return f"{request.method} {request.url.path} with {HEADER} {given!r}"


def answered_id(response):
    """Return the one id in the header of an answer."""
    values = response.headers.get_list(HEADER)
    assert len(values) == 1, f"{described(response)}: expected one {HEADER} in the answer, found {values}"
    return values[0]


def assert_created(response):
    """The id in the header must be a new UUID of version 4; return it."""
    value = answered_id(response)
    try:
        usual = str(uuid.UUID(value))
    except ValueError:
        usual = None
    assert value == usual, f"{described(response)}: expected a UUID in its usual form, the answer has {value!r}"
    assert uuid.UUID(value).version == 4, f"{described(response)}: {value} is no UUID of version 4"
    return value


def body_of(response, status):
    """Return the JSON object of an answer that must have this status."""
    assert response.status_code == status, f"{described(response)} answered {response.status_code}, expected {status}"
    found = response.json()
    assert isinstance(found, dict), f"{described(response)}: expected a JSON object, got {found!r}"
    return found


def order(client, item="tea", given=GIVEN):
    return body_of(client.post("/orders", json={"item": item}, headers={HEADER: given}), 201)


def check_an_accepted_id_is_returned(client):
    """Ids of 8 to 64 letters, digits, hyphens, underscores and dots are taken over as they are."""
    for given in (GIVEN, "a" * 8, "Z9" * 32, "--------", "........", "________", "0123456789", str(uuid.uuid1())):
        response = client.get("/orders/7", headers={HEADER: given})
        assert answered_id(response) == given, f"{given!r} is valid, but the answer has {answered_id(response)!r}"
        told = body_of(response, 404).get("request_id")
        assert told == given, f"the header has {given!r}, but the body says {told!r}"


def check_an_unacceptable_id_is_replaced(client):
    """Any other value is replaced by a new UUID, in the header and in the body."""
    for given in ("", "a" * 7, "a" * 65, "two words", "id:12345678", "path/like/id", "a,b,c,d,e,f", '"quoted-id"'):
        response = client.get("/orders/7", headers={HEADER: given})
        made = assert_created(response)
        told = body_of(response, 404).get("request_id")
        assert told == made, f"{described(response)}: the header has {made!r}, but the body says {told!r}"


def check_letters_and_digits_are_ascii(client):
    """Letters and digits of other alphabets make an id unacceptable."""
    for given in (b"caf\xe9-12345", b"stra\xdfe-9999", b"12345678\xb2", b"\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"):
        assert_created(client.get("/orders/7", headers={HEADER: given}))


def check_each_request_without_an_id_gets_its_own(client):
    """Created ids are never repeated."""
    made = [assert_created(client.get("/orders/7")) for _ in range(12)]
    assert len(set(made)) == len(made), f"12 requests without an id got only {len(set(made))} different ones"


def check_orders(client):
    """Orders keep the id of the request that created them."""
    first = order(client, "tea", "request-of-tea")
    assert first == {"id": 1, "item": "tea", "request_id": "request-of-tea"}, f"the first order came back as {first}"
    second = order(client, "x", "request-of-x")
    assert second == {"id": 2, "item": "x", "request_id": "request-of-x"}, f"the second order came back as {second}"
    response = client.get("/orders/1", headers={HEADER: "a-later-request"})
    assert body_of(response, 200) == first, f"expected {first}, GET /orders/1 answered {response.json()}"
    assert answered_id(response) == "a-later-request", f"the answer's header has {answered_id(response)!r}"


def check_refusals_name_the_request(client):
    """Invalid orders and unknown ids are answered with error and request_id."""
    refused = [{}, {"item": ""}, {"item": 7}, {"item": None}, {"item": ["tea"]}, ["item"], "tea", None]
    responses = [client.post("/orders", json=body, headers={HEADER: GIVEN}) for body in refused]
    responses.append(client.post("/orders", content=b"{", headers={HEADER: GIVEN, "Content-Type": "application/json"}))
    for response in responses:
        expected = {"error": "invalid", "request_id": GIVEN}
        found = body_of(response, 400)
        assert found == expected, f"POST /orders with {response.request.content!r}: expected {expected}, got {found}"
        assert answered_id(response) == GIVEN, f"the refusal has the id {answered_id(response)!r} in its header"
    found = body_of(client.get("/orders/1", headers={HEADER: GIVEN}), 404)
    assert found == {"error": "not found", "request_id": GIVEN}, f"GET /orders/1 without orders answered {found}"


def check_a_failing_request_has_its_id(client):
    """The answer to a request that raises has the id in header and body."""
    response = client.get("/crash", headers={HEADER: GIVEN})
    found = body_of(response, 500)
    assert found == {"error": "internal", "request_id": GIVEN}, f"GET /crash answered {found}"
    assert answered_id(response) == GIVEN, f"the answer to /crash has the id {answered_id(response)!r}"
    response = client.get("/crash")
    made = assert_created(response)
    assert body_of(response, 500)["request_id"] == made, f"header {made!r}, body {response.json()}"
    assert order(client)["id"] == 1, "after a failing request the application does not work on"


def check_unknown_paths_and_methods_have_the_id(client):
    """404 of unknown paths and 405 carry the header like everything else."""
    asked = [
        ("GET", "/nowhere", 404),
        ("POST", "/nowhere/else", 404),
        ("GET", "/orders", 405),
        ("PUT", "/orders/1", 405),
    ]
    asked += [("POST", path, 405) for path in ("/slow", "/crash", "/log")]
    for method, path, status in asked:
        response = client.request(method, path, headers={HEADER: GIVEN})
        found = response.status_code
        assert found == status, f"{method} {path} answered {found}, expected {status}"
        assert answered_id(response) == GIVEN, f"{method} {path} has the id {answered_id(response)!r}"
        assert_created(client.request(method, path))


def check_simultaneous_requests_keep_their_ids(client, new_client, parallel):
    """Requests that overlap do not mix up their ids."""
    given = [f"parallel-{number}" for number in range(6)]
    clients = [new_client() for _ in given]
    responses = parallel(
        [lambda c=c, name=name: c.get("/slow", headers={HEADER: name}) for c, name in zip(clients, given, strict=True)]
    )
    fastest = min(response.elapsed.total_seconds() for response in responses)
    assert fastest >= 0.19, f"GET /slow did not wait for 0.2 seconds, only for {fastest:.3f}"
    told = [body_of(response, 200).get("request_id") for response in responses]
    assert told == given, f"overlapping requests {given} were told the ids {told}"
    headers = [answered_id(response) for response in responses]
    assert headers == given, f"overlapping requests {given} got the headers {headers}"
    logged = sorted(entry["request_id"] for entry in body_of(client.get("/log"), 200)["entries"])
    assert logged == given, f"overlapping requests {given} were logged as {logged}"


def check_log(client):
    """The log has one entry for each answered request, whatever its status, and none for itself."""
    assert body_of(client.get("/log"), 200) == {"entries": []}, f"a fresh log is {client.get('/log').json()}"
    asked = [
        ("GET", "/orders/9?page=2", 404),
        ("POST", "/orders", 400),
        ("GET", "/crash", 500),
        ("GET", "/nowhere", 404),
        ("PUT", "/orders/9", 405),
        ("GET", "/slow", 200),
    ]
    expected = []
    for number, (method, target, status) in enumerate(asked):
        given = f"log-entry-{number}"
        client.request(method, target, headers={HEADER: given})
        expected.append({"request_id": given, "method": method, "path": target.partition("?")[0], "status": status})
    made = assert_created(client.get("/orders/9"))
    expected.append({"request_id": made, "method": "GET", "path": "/orders/9", "status": 404})
    body_of(client.get("/log"), 200)
    response = client.get("/log", headers={HEADER: GIVEN})
    assert answered_id(response) == GIVEN, f"GET /log has the id {answered_id(response)!r}"
    found = body_of(response, 200).get("entries")
    assert found == expected, f"expected the entries\n{expected}\nfound\n{found}"
