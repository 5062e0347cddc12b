"""Hidden checks: the notes API, and its cross-origin headers on every kind of answer."""

# A server may drop the connection after a crash: no connection is used twice.
TOKEN = {"Authorization": "Bearer demo-token", "Connection": "close"}
APP = "https://app.example.com"
ALLOWED = (APP, "https://pr-12.preview.example.com", "https://7.preview.example.com")


def call(client, method, path, *, origin=None, headers=TOKEN, **content):
    sent = {**headers, "Origin": origin} if origin else headers
    return client.request(method, path, headers=sent, **content)


def preflight(client, origin, method="POST", path="/notes", **headers):
    sent = {"Origin": origin, "Access-Control-Request-Method": method}
    return client.options(path, headers=sent | {name.replace("_", "-"): text for name, text in headers.items()})


def told(response):
    request = response.request
    return f"{request.method} {request.url.path} with origin {request.headers.get('Origin')}"


def assert_status(response, *expected):
    wanted = " or ".join(str(status) for status in expected)
    assert response.status_code in expected, f"{told(response)} gave {response.status_code}, expected {wanted}"


def names(response, header):
    return {name.strip().lower() for name in response.headers.get(header, "").split(",")}


def assert_once(response, header, expected):
    found = response.headers.get_list(header)
    assert found == [expected], f"{header} of the {response.status_code} is {found}, expected once {expected!r}"


def assert_readable_by(response, origin):
    assert_once(response, "Access-Control-Allow-Origin", origin)
    assert_once(response, "Access-Control-Allow-Credentials", "true")
    assert_once(response, "Access-Control-Expose-Headers", "X-Total-Count")


def assert_not_readable(response):
    found = response.headers.get("Access-Control-Allow-Origin")
    assert found is None, f"{told(response)} got Access-Control-Allow-Origin: {found}"


def every_kind_of_answer(client, origin):
    return [
        call(client, "POST", "/notes", origin=origin, json={"text": "Buy milk"}),
        call(client, "GET", "/notes", origin=origin),
        call(client, "DELETE", "/notes/1", origin=origin),
        call(client, "GET", "/notes", origin=origin, headers={}),
        call(client, "GET", "/nowhere", origin=origin),
        call(client, "PUT", "/notes", origin=origin, json={}),
        call(client, "POST", "/notes", origin=origin, json={"text": ""}),
        call(client, "GET", "/crash", origin=origin),
    ]


STATUSES = [201, 200, 204, 401, 404, 405, 422, 500]


def check_notes_are_created_and_listed(client):
    """Notes are numbered from 1 and listed oldest first, with their number in X-Total-Count."""
    for number, text in enumerate(["Water plants", "Buy milk"], start=1):
        response = call(client, "POST", "/notes", json={"text": text})
        assert_status(response, 201)
        assert response.json() == {"id": number, "text": text}, f"POST answered {response.text}"
    response = call(client, "GET", "/notes")
    assert_status(response, 200)
    assert [note["text"] for note in response.json()] == ["Water plants", "Buy milk"], response.text
    count = response.headers.get("X-Total-Count")
    assert count == "2", f"X-Total-Count is {count!r} with two notes"


def check_text_length(client):
    """The text has 1 to 200 characters; an invalid body is 422."""
    for text in ("x", "x" * 200):
        assert_status(call(client, "POST", "/notes", json={"text": text}), 201)
    for body in ({"text": ""}, {"text": "x" * 201}, {"text": None}, {}):
        assert_status(call(client, "POST", "/notes", json=body), 422)


def check_delete(client):
    """A deleted note is gone; deleting an unknown one is 404 with a fixed body."""
    assert_status(call(client, "POST", "/notes", json={"text": "Buy milk"}), 201)
    assert_status(call(client, "DELETE", "/notes/1"), 204)
    assert call(client, "GET", "/notes").json() == [], "the deleted note is still listed"
    response = call(client, "DELETE", "/notes/1")
    assert_status(response, 404)
    assert response.json() == {"detail": "Note not found"}, f"the 404 body is {response.text}"


def check_every_route_needs_the_token(client):
    """Without the token, or with another one, every route answers 401 and does nothing."""
    assert_status(call(client, "POST", "/notes", json={"text": "Buy milk"}), 201)
    for headers in ({}, {"Authorization": "Bearer other"}, {"Authorization": "demo-token"}):
        for method, path in (("GET", "/notes"), ("DELETE", "/notes/1"), ("GET", "/crash")):
            response = call(client, method, path, headers=headers)
            assert_status(response, 401)
            assert response.json() == {"detail": "Not authenticated"}, f"the 401 body is {response.text}"
        assert_status(call(client, "POST", "/notes", headers=headers, json={"text": "Spam"}), 401)
    assert len(call(client, "GET", "/notes").json()) == 1, "a request without the token changed the notes"


def check_unhandled_exception(client):
    """An unhandled exception is 500 with exactly the generic body."""
    for origin in (None, APP, "https://other.example.com"):
        response = call(client, "GET", "/crash", origin=origin)
        assert_status(response, 500)
        expected = {"detail": "Internal Server Error"}
        text = response.text
        assert "json" in response.headers.get("Content-Type", ""), f"the 500 is not JSON: {text}"
        assert response.json() == expected, f"the 500 body with origin {origin} is {text}, expected {expected}"


def check_allowed_origins_are_echoed(client):
    """An answer to an allowed origin names exactly this origin and allows credentials."""
    for origin in ALLOWED:
        response = call(client, "GET", "/notes", origin=origin)
        assert_status(response, 200)
        assert_readable_by(response, origin)


def check_answers_of_every_status_are_readable(client):
    """The headers for an allowed origin are on regular answers of every status."""
    for status, response in zip(STATUSES[:-1], every_kind_of_answer(client, APP)[:-1], strict=True):
        assert_status(response, status)
        assert_readable_by(response, APP)


def check_crash_is_readable(client):
    """The 500 of an unhandled exception has the headers for an allowed origin too."""
    for origin in ALLOWED:
        response = call(client, "GET", "/crash", origin=origin)
        assert_status(response, 500)
        assert_readable_by(response, origin)


def check_other_origins_are_served_without_permission(client):
    """Another origin, or none, is served as usual, without Access-Control-Allow-Origin."""
    for origin in (None, "https://other.example.com", "http://app.example.com", "null"):
        response = call(client, "POST", "/notes", origin=origin, json={"text": "Buy milk"})
        assert_status(response, 201)
        assert_not_readable(response)


def check_vary_names_origin_always(client):
    """Vary names Origin in every answer, whether the origin is allowed, another one or absent."""
    for origin in (APP, "https://other.example.com", None):
        for response in every_kind_of_answer(client, origin):
            vary = response.headers.get("Vary")
            where = f"the {response.status_code} of {told(response)}"
            assert "origin" in names(response, "Vary"), f"Vary in {where} is {vary!r}"


def check_preflight_is_granted(client):
    """A preflight that fits the rules is answered with the allowed methods and headers."""
    for origin in ALLOWED:
        for method in ("GET", "POST", "DELETE"):
            response = preflight(client, origin, method)
            assert_status(response, 200, 204)
            assert_once(response, "Access-Control-Allow-Origin", origin)
            assert_once(response, "Access-Control-Allow-Credentials", "true")
            assert_once(response, "Access-Control-Max-Age", "600")
            assert {"get", "post", "delete"} <= names(response, "Access-Control-Allow-Methods"), response.headers
            allowed = names(response, "Access-Control-Allow-Headers")
            assert {"authorization", "content-type"} <= allowed, f"Access-Control-Allow-Headers names {allowed}"
            assert "origin" in names(response, "Vary"), f"Vary is {response.headers.get('Vary')!r}"


def check_preflight_headers_in_any_case(client):
    """Requested header names are compared without regard to letter case."""
    for requested in ("authorization", "content-type,authorization", "Content-Type, AUTHORIZATION"):
        response = preflight(client, APP, Access_Control_Request_Headers=requested)
        assert_status(response, 200, 204)
        assert_once(response, "Access-Control-Allow-Origin", APP)


def check_preflight_is_refused(client):
    """A preflight for another origin, method or header is 400."""
    assert_status(preflight(client, APP, "DELETE", "/notes/1"), 200, 204)
    response = preflight(client, "https://other.example.com")
    assert_status(response, 400)
    assert_not_readable(response)
    for method in ("PUT", "PATCH"):
        assert_status(preflight(client, APP, method), 400)
    for requested in ("X-Admin", "authorization,x-admin"):
        assert_status(preflight(client, APP, Access_Control_Request_Headers=requested), 400)


def check_plain_options_is_no_preflight(client):
    """OPTIONS without Origin or without Access-Control-Request-Method is served as usual: 405."""
    assert_status(preflight(client, APP), 200, 204)
    response = call(client, "OPTIONS", "/notes", origin=APP)
    assert_status(response, 405)
    assert_readable_by(response, APP)
    asked = {**TOKEN, "Access-Control-Request-Method": "POST"}
    assert_status(call(client, "OPTIONS", "/notes", headers=asked), 405)
