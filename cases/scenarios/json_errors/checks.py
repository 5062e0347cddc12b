"""Hidden checks: the notes work, and every error is JSON of one form with its status and headers."""

TITLES = {
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    415: "Unsupported Media Type",
    500: "Internal Server Error",
}


def assert_error(response, status, what):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    assert kind == "application/json", f"{what}: Content-Type {kind!r}, expected application/json"
    body = response.json()
    error = body.get("error") if isinstance(body, dict) else None
    fields = sorted(error) if isinstance(error, dict) else None
    assert set(body) == {"error"} and fields == ["detail", "status", "title"], f"{what}: body {response.text[:200]}"
    assert error["status"] == status, f"{what}: the body says status {error['status']!r}, expected {status}"
    assert error["title"] == TITLES[status], f"{what}: title {error['title']!r}, expected {TITLES[status]!r}"
    assert isinstance(error["detail"], str) and error["detail"], f"{what}: detail {error['detail']!r}, expected a text"


def add(client, text="Buy milk"):
    response = client.post("/notes", json={"text": text})
    assert response.status_code == 201, f"POST of {text!r} gave {response.status_code}, expected 201"
    return response.json()


def listed(client):
    response = client.get("/notes")
    assert response.status_code == 200, f"GET /notes gave {response.status_code}, expected 200"
    return response.json()


def check_notes_work(client):
    """Notes are created, listed, read and deleted."""
    first, second = add(client), add(client, "x" * 200)
    assert first == {"id": 1, "text": "Buy milk"}, f"the first note is {first}"
    assert second == {"id": 2, "text": "x" * 200}, f"the second note is {second}"
    assert listed(client) == {"notes": [first, second]}, f"GET /notes gave {listed(client)}"
    response = client.get("/notes/2")
    assert (response.status_code, response.json()) == (200, second), f"GET /notes/2 gave {response.text[:200]}"
    response = client.delete("/notes/2")
    assert (response.status_code, response.content) == (204, b""), f"DELETE gave {response.status_code}"
    assert listed(client) == {"notes": [first]}, f"after DELETE the list is {listed(client)}"
    assert add(client, "y")["id"] == 3, "the id of a deleted note was used again"


def check_unknown_paths(client):
    """A path that is none of the API is 404 for every method."""
    for path in ("/", "/note", "/notes/", "/notes/1/", "/notes/1/text", "/notes/abc", "/Notes", "/boom/", "/x.html"):
        for method in ("GET", "DELETE"):
            assert_error(client.request(method, path), 404, f"{method} {path}")
    for path in ("/other", "/notes/"):
        for method in ("POST", "PUT", "PATCH"):
            assert_error(client.request(method, path, json={"text": "a"}), 404, f"{method} {path}")


def check_unknown_notes(client):
    """A note that does not exist, or not any more, is 404."""
    note = add(client)["id"]
    for method in ("GET", "DELETE"):
        for number in (0, note + 1, 10**12):
            assert_error(client.request(method, f"/notes/{number}"), 404, f"{method} of note {number}")
    status = client.delete(f"/notes/{note}").status_code
    assert status == 204, f"DELETE gave {status}, expected 204"
    for method in ("GET", "DELETE"):
        assert_error(client.request(method, f"/notes/{note}"), 404, f"{method} of a deleted note")


def check_methods_that_are_not_allowed(client):
    """A method that a path does not have is 405."""
    note = add(client)["id"]
    for path, methods in (
        ("/notes", ("PUT", "PATCH", "DELETE")),
        (f"/notes/{note}", ("POST", "PUT", "PATCH")),
        ("/notes/999", ("POST", "PUT", "PATCH")),
        ("/boom", ("POST", "PUT", "PATCH", "DELETE")),
    ):
        for method in methods:
            assert_error(client.request(method, path), 405, f"{method} {path}")
            assert_error(client.request(method, path, json={"text": "a"}), 405, f"{method} {path} with a note")
    assert listed(client) == {"notes": [{"id": note, "text": "Buy milk"}]}, f"after refusals: {listed(client)}"


def check_allow_lists_the_methods(client):
    """A 405 has an Allow header with all methods of the path and no others."""
    for path, method, expected in (
        ("/notes", "PUT", {"GET", "POST"}),
        ("/notes/1", "PATCH", {"GET", "DELETE"}),
        ("/notes/999", "POST", {"GET", "DELETE"}),
        ("/boom", "DELETE", {"GET"}),
    ):
        response = client.request(method, path)
        assert response.status_code == 405, f"{method} {path} gave {response.status_code}, expected 405"
        found = {name.strip() for name in response.headers.get("Allow", "").split(",")}
        assert found - {"HEAD", "OPTIONS"} == expected, f"{method} {path}: Allow names {found}, expected {expected}"


def check_other_media_types(client):
    """A POST whose body is not declared as application/json is 415, whatever it contains."""
    for body in (b'{"text": "a"}', b"text=a", b"{", b""):
        for kind in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/ld+json",
            "application/jsonp",
            None,
        ):
            response = client.post("/notes", content=body, headers={"Content-Type": kind} if kind else {})
            assert_error(response, 415, f"POST of {body!r} as {kind}")
    assert listed(client) == {"notes": []}, f"a refused note is listed: {listed(client)}"
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/json ;charset=UTF-8"):
        response = client.post("/notes", content=b'{"text": "a"}', headers={"Content-Type": kind})
        assert response.status_code == 201, f"POST as {kind} gave {response.status_code}, expected 201"


def check_malformed_json(client):
    """A body that is no JSON is 400."""
    for body in (
        b"",
        b"{",
        b'{"text": "a"',
        b"text=a",
        b'{"text": "\xff"}',
        b"\xff",
        b"{'text': 'a'}",
        b'{"text": "a"} x',
    ):
        response = client.post("/notes", content=body, headers={"Content-Type": "application/json"})
        assert_error(response, 400, f"POST of {body!r}")
    assert listed(client) == {"notes": []}, f"a refused note is listed: {listed(client)}"


def check_invalid_notes(client):
    """JSON that is no valid note is 400."""
    texts = ("", "x" * 201, 5, None, True, ["a"], {"a": 1})
    for body in ({}, [], "text", 5, False, ["text"], {"title": "a"}, *({"text": text} for text in texts)):
        assert_error(client.post("/notes", json=body), 400, f"POST of {str(body)[:60]}")
    assert listed(client) == {"notes": []}, f"a refused note is listed: {listed(client)}"
    assert add(client, "x")["id"] == 1, "a refused note used up an id"


def check_unexpected_failure(client):
    """An exception that no route expects is 500, and the application goes on."""
    note = add(client)
    for _ in range(2):
        assert_error(client.get("/boom"), 500, "GET /boom")
    assert listed(client) == {"notes": [note]}, f"after a failure the list is {listed(client)}"
