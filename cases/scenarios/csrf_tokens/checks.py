"""Hidden checks of the scenario csrf_tokens: notes that pages of other sites cannot change."""

from http.cookies import SimpleCookie

ADA = {"username": "ada", "password": "rabbit-hole-7"}
BO = {"username": "bo", "password": "red-brick-88"}
BY_ADA, BY_BO = {"Authorization": "Bearer key-ada-17"}, {"Authorization": "Bearer key-bo-28"}
HOST = "127.0.0.1:5000"


def is_answer(response, status, expected):
    request = response.request
    names = ("origin", "x-csrf-token", "authorization")
    sent = {name: request.headers[name] for name in names if name in request.headers}
    asked = f"{request.method} {request.url.raw_path.decode()} with {request.content.decode()!r} and headers {sent}"
    assert response.status_code == status, f"{asked} answered {response.status_code}, expected {status}"
    if status != 204:
        assert response.json() == expected, f"{asked} answered {response.json()}, expected {expected}"


def refused(response, error):
    is_answer(response, 403, {"error": error})


def new_token(client):
    response = client.get("/csrf")
    assert response.status_code == 200, f"GET /csrf answered {response.status_code}, expected 200"
    assert set(response.json()) == {"token"}, f"GET /csrf answered {response.json()}, expected a token only"
    return response.json()["token"]


def proof(client):
    return {"X-CSRF-Token": new_token(client)}


def login(client, given=ADA):
    is_answer(client.post("/login", json=given, headers=proof(client)), 200, {"user": given["username"]})
    return client


def add(client, text, headers):
    response = client.post("/notes", json={"text": text}, headers=headers)
    assert response.status_code == 201, f"a new note was answered with {response.status_code}, expected 201"
    return response.json()["id"]


def has_notes(client, texts, headers=None):
    response = client.get("/notes", headers=headers)
    assert response.status_code == 200, f"GET /notes answered {response.status_code}, expected 200"
    found = [note["text"] for note in response.json()["notes"]]
    assert found == texts, f"the notes are {found}, expected {texts}"


def check_notes_of_a_browser(client):
    """A browser that is logged in adds, lists and deletes notes with one token."""
    login(client)
    headers = proof(client)
    is_answer(client.get("/notes"), 200, {"notes": []})
    first, second = add(client, "Buy tea", headers), add(client, "Read Äsop", headers)
    assert type(first) is int and type(second) is int and first != second, f"ids are {first!r} and {second!r}"
    expected = [{"id": first, "text": "Buy tea"}, {"id": second, "text": "Read Äsop"}]
    is_answer(client.get("/notes"), 200, {"notes": expected})
    is_answer(client.delete(f"/notes/{second}", headers=headers), 204, None)
    is_answer(client.delete(f"/notes/{second}", headers=headers), 404, {"error": "not found"})
    third = add(client, "Third", headers)
    assert third not in (first, second), f"the id {third} is used twice"
    is_answer(client.get("/notes"), 200, {"notes": [expected[0], {"id": third, "text": "Third"}]})


def check_forms(client):
    """Forms do what JSON does, with the token in a field or in the header, which comes first."""
    given = ADA | {"csrf_token": new_token(client)}
    is_answer(client.post("/login", data=given), 200, {"user": "ada"})
    token = new_token(client)
    for text, field, header in (
        ("in the field", token, None),
        ("empty header", token, ""),
        ("in the header", None, token),
        ("in both", "x" * 30, token),
    ):
        data = {"text": text} | ({"csrf_token": field} if field else {})
        response = client.post("/notes", data=data, headers={} if header is None else {"X-CSRF-Token": header})
        assert response.status_code == 201, f"a form, token {text}, was answered with {response.status_code}"
        assert response.json()["text"] == text, f"a form with the text {text!r} made {response.json()}"
    wrong = {"X-CSRF-Token": "x" * 30}
    refused(client.post("/notes", data={"text": "no", "csrf_token": token}, headers=wrong), "csrf_invalid")
    has_notes(client, ["in the field", "empty header", "in the header", "in both"])
    is_answer(client.post("/logout", data={"csrf_token": token}), 204, None)
    is_answer(client.get("/notes"), 401, {"error": "unauthorized"})


def check_requests_without_token(client):
    """Without a token, or with one elsewhere than said, the answer is csrf_missing, and nothing happens."""
    refused(client.post("/login", json=ADA), "csrf_missing")
    refused(client.post("/login", data=ADA), "csrf_missing")
    refused(client.post("/logout"), "csrf_missing")
    refused(client.post("/notes", json={"text": "no"}), "csrf_missing")
    login(client)
    token = new_token(client)
    number = add(client, "stays", {"X-CSRF-Token": token})
    for headers in ({}, {"X-CSRF-Token": ""}, {"Cookie": "; ".join(f"{k}={v}" for k, v in client.cookies.items())}):
        refused(client.post("/notes", json={"text": "no"}, headers=headers), "csrf_missing")
        refused(client.delete(f"/notes/{number}", headers=headers), "csrf_missing")
        refused(client.post("/logout", headers=headers), "csrf_missing")
        refused(client.post("/login", json=BO, headers=headers), "csrf_missing")
    refused(client.post("/notes", data={"text": "no", "csrf_token": ""}), "csrf_missing")
    refused(client.post("/notes", json={"text": "no", "csrf_token": token}), "csrf_missing")
    refused(client.post("/notes", params={"csrf_token": token}, json={"text": "no"}), "csrf_missing")
    refused(client.post("/notes", params={"csrf_token": token}, data={"text": "no"}), "csrf_missing")
    refused(client.delete(f"/notes/{number}", params={"csrf_token": token}), "csrf_missing")
    has_notes(client, ["stays"])


def check_invalid_tokens(client, new_client):
    """What is no token of the session is csrf_invalid, whatever it is."""
    other = login(new_client(), BO)
    foreign = new_token(other)
    refused(client.post("/login", json=ADA, headers={"X-CSRF-Token": foreign}), "csrf_invalid")
    login(client)
    token = new_token(client)
    number = add(client, "stays", {"X-CSRF-Token": token})
    values = [*client.cookies.values(), "x", token[:-1], token + token, token[1:], "null", "key-ada-17", "ada"]
    values = [value for value in values if value != token]
    for value in [foreign, *values, "café".encode("latin-1"), "日本".encode()]:
        headers = {"X-CSRF-Token": value}
        refused(client.post("/notes", json={"text": "no"}, headers=headers), "csrf_invalid")
        refused(client.delete(f"/notes/{number}", headers=headers), "csrf_invalid")
        refused(client.post("/logout", headers=headers), "csrf_invalid")
        refused(client.post("/login", json=BO, headers=headers), "csrf_invalid")
    for value in (foreign, "x", "café", "日本"):
        refused(client.post("/notes", data={"text": "no", "csrf_token": value}), "csrf_invalid")
    has_notes(client, ["stays"])
    refused(new_client().post("/logout", headers={"X-CSRF-Token": token}), "csrf_invalid")


def check_tokens(client, new_client):
    """Tokens differ between sessions, look as said, and go on beside newer ones."""
    tokens = [new_token(new_client()) for _ in range(5)]
    for token in tokens:
        assert isinstance(token, str) and 20 <= len(token) <= 300, f"the token {token!r} has another length"
        assert all("!" <= letter <= "~" for letter in token), f"not all of {token!r} is visible ASCII"
    assert len(set(tokens)) == 5, f"tokens of different sessions are alike: {tokens}"
    login(client)
    tokens = [new_token(client) for _ in range(3)]
    for token in tokens + tokens:
        add(client, "again", {"X-CSRF-Token": token})
    has_notes(client, ["again"] * 6)


def check_login_and_logout_end_tokens(client):
    """Tokens from before a login or logout are invalid, also for the next login."""
    old = []
    for given in (ADA, BO, ADA):
        old.append(proof(client))
        is_answer(client.post("/login", json=given, headers=old[-1]), 200, {"user": given["username"]})
        for headers in old:
            refused(client.post("/notes", json={"text": "no"}, headers=headers), "csrf_invalid")
        add(client, "new", proof(client))
        for headers in old:
            refused(client.post("/logout", headers=headers), "csrf_invalid")
    old.append(proof(client))
    is_answer(client.post("/logout", headers=old[-1]), 204, None)
    is_answer(client.get("/notes"), 401, {"error": "unauthorized"})
    fresh = proof(client)
    for headers in old:
        refused(client.post("/login", json=ADA, headers=headers), "csrf_invalid")
    is_answer(client.post("/notes", json={"text": "no"}, headers=fresh), 401, {"error": "unauthorized"})
    is_answer(client.post("/logout", headers=fresh), 204, None)
    has_notes(client, ["new", "new"], BY_ADA)
    has_notes(client, ["new"], BY_BO)


def check_refused_logins(client):
    """Wrong and malformed logins are refused and leave user and tokens as they are."""
    headers = proof(client)
    wrong = [ADA | {"password": "guess"}, ADA | {"username": "eve"}, ADA | {"username": "bo"}]
    malformed = [{}, {"username": "ada"}, ADA | {"password": 7}, ADA | {"username": ""}, ADA | {"password": None}]
    for logged_in in (False, True):
        for given in wrong:
            is_answer(client.post("/login", json=given, headers=headers), 401, {"error": "wrong"})
            is_answer(client.post("/login", data=given, headers=headers), 401, {"error": "wrong"})
        for given in [*malformed, [], "ada"]:
            is_answer(client.post("/login", json=given, headers=headers), 400, {"error": "invalid"})
        is_answer(client.post("/login", data={"username": "ada"}, headers=headers), 400, {"error": "invalid"})
        if not logged_in:
            is_answer(client.get("/notes"), 401, {"error": "unauthorized"})
            is_answer(client.post("/login", json=ADA, headers=headers), 200, {"user": "ada"})
            headers = proof(client)
    add(client, "still here", headers)
    has_notes(client, ["still here"])


def check_malformed_notes(client):
    """A text that is missing, empty or no string is 400, by session and by key."""
    login(client)
    for headers in (proof(client), BY_ADA):
        for given in ({}, {"text": ""}, {"text": 7}, {"text": None}, {"text": ["a"]}, [], None, "text"):
            is_answer(client.post("/notes", json=given, headers=headers), 400, {"error": "invalid"})
        for data in ({"text": ""}, {"other": "a"}):
            is_answer(client.post("/notes", data=data, headers=headers), 400, {"error": "invalid"})
        broken = headers | {"Content-Type": "application/json"}
        is_answer(client.post("/notes", content=b"{", headers=broken), 400, {"error": "invalid"})
        as_text = headers | {"Content-Type": "text/plain"}
        is_answer(client.post("/notes", content=b'{"text": "no"}', headers=as_text), 400, {"error": "invalid"})
        is_answer(client.delete("/notes/999", headers=headers), 404, {"error": "not found"})
    refused(client.post("/notes", json={}), "csrf_missing")
    has_notes(client, [])


def check_origin(client):
    """An Origin must be this site's, as Host tells it; without one nothing is compared."""
    login(client)
    token = proof(client)
    for host in (HOST, "notes.test", "notes.test:8080"):
        for origin in (f"http://{host}", f"https://{host}"):
            add(client, "own", token | {"Host": host, "Origin": origin})
        strange = (
            "null",
            "http://other.test",
            f"http://{host}.other.test",
            f"http://{host}@other.test",
            f"http://other{host}",
            f"ftp://{host}",
            f"https://other.test/http://{host}",
            host,
            f"http://{host}1",
        )
        for origin in strange:
            headers = {"Host": host, "Origin": origin}
            for more in (token, {}, {"X-CSRF-Token": "x" * 30}):
                refused(client.post("/notes", json={"text": "no"}, headers=headers | more), "csrf_origin")
            refused(client.post("/logout", headers=headers | token), "csrf_origin")
            refused(client.post("/login", json=BO, headers=headers | token), "csrf_origin")
            refused(client.delete("/notes/1", headers=headers | token), "csrf_origin")
    has_notes(client, ["own"] * 6, {"Origin": "http://other.test"})
    for headers in ({}, {"X-CSRF-Token": "x" * 30}):
        error = "csrf_invalid" if headers else "csrf_missing"
        refused(client.post("/logout", headers=headers | {"Origin": f"http://{HOST}"}), error)


def check_calls_by_key(client):
    """A key needs no proof, and its user counts, not the session's."""
    first = add(client, "by key", BY_ADA)
    strange = {"Origin": "http://other.test", "X-CSRF-Token": "x" * 30}
    second = add(client, "by key", BY_BO | strange)
    login(client)
    third = add(client, "by session", proof(client))
    for headers in (BY_BO, BY_BO | proof(client), BY_BO | strange):
        is_answer(client.get("/notes", headers=headers), 200, {"notes": [{"id": second, "text": "by key"}]})
        for number in (first, third):
            is_answer(client.delete(f"/notes/{number}", headers=headers), 404, {"error": "not found"})
    has_notes(client, ["by key", "by session"])
    is_answer(client.delete(f"/notes/{second}", headers=BY_BO), 204, None)
    is_answer(client.delete(f"/notes/{first}", headers=BY_ADA), 204, None)
    is_answer(client.get("/notes", headers=BY_ADA), 200, {"notes": [{"id": third, "text": "by session"}]})
    has_notes(client, [], BY_BO)


def check_unknown_keys(client):
    """Another Authorization is 401 also for a browser that is logged in and has a token; it is no proof."""
    login(client)
    token = proof(client)
    number = add(client, "stays", token)
    for value in ("Bearer key-eve-39", "Bearer", "Basic key-ada-17", "key-ada-17", "Basic YWRhOnJhYmJpdC1ob2xlLTc="):
        for more in ({}, token):
            headers = {"Authorization": value} | more
            for method, path in (("GET", "/notes"), ("POST", "/notes"), ("DELETE", f"/notes/{number}")):
                response = client.request(method, path, json={"text": "no"}, headers=headers)
                is_answer(response, 401, {"error": "unauthorized"})
    for headers in ({"Authorization": "Bearer key-eve-39"}, BY_ADA):
        refused(client.post("/logout", headers=headers), "csrf_missing")
        refused(client.post("/login", json=BO, headers=headers), "csrf_missing")
        is_answer(client.post("/login", json=ADA, headers=headers | proof(client)), 200, {"user": "ada"})
    has_notes(client, ["stays"])


def check_pings(client):
    """The hook needs nothing, whatever is sent along."""
    for headers in ({}, {"Origin": "http://other.test"}, {"X-CSRF-Token": "x" * 30}, {"Authorization": "Basic x"}):
        is_answer(client.post("/hooks/ping", headers=headers), 200, {"pong": True})
    login(client)
    is_answer(client.post("/hooks/ping", json={"event": "push"}), 200, {"pong": True})
    has_notes(client, [])


def check_session_cookie_is_hidden_from_scripts(client, new_client):
    """What scripts can read of the cookies is not enough to be logged in."""
    begin = client.get("/csrf")
    response = client.post("/login", json=ADA, headers={"X-CSRF-Token": begin.json()["token"]})
    is_answer(response, 200, {"user": "ada"})
    sent = [line for answer in (begin, response, client.get("/csrf")) for line in answer.headers.get_list("set-cookie")]
    assert sent, "neither the login nor the token before and after it sets a cookie"
    other = new_client()
    for line in sent:
        for name, morsel in SimpleCookie(line).items():
            if not morsel["httponly"]:
                other.cookies.set(name, morsel.value)
    is_answer(other.get("/notes"), 401, {"error": "unauthorized"})
    has_notes(client, [])
