"""Hidden checks of flask/method_roles: the methods of one resource need different roles."""

import re
from base64 import b64encode

PASSWORDS = {"rita": "read:only:1", "will": "füller ☂ 2", "ada": ":schlüssel:3", "nils": "no-role-4"}
NOTE = {"text": "note"}


def basic(text, scheme="Basic"):
    """Return the header for `text`, which is name:password, or bytes that need not be that."""
    data = text.encode() if isinstance(text, str) else text
    return {"Authorization": f"{scheme} {b64encode(data).decode()}"}


RITA, WILL, ADA, NILS = (basic(f"{name}:{password}") for name, password in PASSWORDS.items())


def asked(response):
    return f"{response.request.method} {response.request.url.path}"


def is_answer(response, status, expected=None, who="somebody"):
    found = response.status_code
    assert found == status, f"{asked(response)} by {who} answered {found}, expected {status}"
    if expected is not None:
        body = response.json()
        assert body == expected, f"{asked(response)} by {who} answered {body}, expected {expected}"


def is_challenge(response, body=True):
    """A 401 that tells the browser to ask for name and password."""
    is_answer(response, 401, {"error": "unauthorized"} if body else None, "somebody unknown")
    header = response.headers.get("www-authenticate", "")
    scheme, _, rest = header.partition(" ")
    values = {name.lower(): value for name, value in re.findall(r'(\w+)\s*=\s*"?([^",]*)"?', rest)}
    assert scheme.lower() == "basic", f"{asked(response)} asks for {header!r}, expected the scheme Basic"
    assert values.get("realm") == "records", f"{asked(response)} asks for {header!r}, expected the realm records"
    assert values.get("charset", "").upper() == "UTF-8", f"{asked(response)} asks for {header!r}, expected a charset"


def add(client, text="note"):
    response = client.post("/records", json={"text": text}, headers=WILL)
    is_answer(response, 201, who="will")
    return response.json()["id"]


def every_call(pk):
    """Return all calls that need a role, the harmful ones last."""
    return (
        ("GET", "/records", None),
        ("GET", f"/records/{pk}", None),
        ("POST", "/records", NOTE),
        ("PUT", f"/records/{pk}", NOTE),
        ("DELETE", f"/records/{pk}", None),
    )


def check_records(client):
    """Records are added, read, replaced and deleted."""
    is_answer(client.get("/records", headers=RITA), 200, {"records": []})
    one, two = ({"id": pk, "text": text, "by": "will"} for pk, text in ((1, "a"), (2, "b")))
    is_answer(client.post("/records", json={"text": "a"}, headers=WILL), 201, one)
    is_answer(client.post("/records", json={"text": "b"}, headers=WILL), 201, two)
    is_answer(client.get("/records/2", headers=RITA), 200, two)
    one |= {"text": "ü" * 200, "by": "ada"}
    is_answer(client.put("/records/1", json={"text": one["text"]}, headers=ADA), 200, one)
    is_answer(client.get("/records", headers=RITA), 200, {"records": [one, two]})
    response = client.delete("/records/2", headers=ADA)
    assert (response.status_code, response.content) == (204, b""), f"a deletion answered {response.status_code}"
    is_answer(client.get("/records", headers=RITA), 200, {"records": [one]})
    is_answer(client.post("/records", json={"text": "c"}, headers=ADA), 201, {"id": 3, "text": "c", "by": "ada"})


def check_readers(client):
    """A reader may read, and nothing else."""
    pk = add(client)
    record = {"id": pk, "text": "note", "by": "will"}
    is_answer(client.get("/records", headers=RITA), 200, {"records": [record]}, "rita")
    is_answer(client.get(f"/records/{pk}", headers=RITA), 200, record, "rita")
    for method, path, body in every_call(pk)[2:]:
        is_answer(client.request(method, path, json=body, headers=RITA), 403, {"error": "forbidden"}, "rita")


def check_writers(client):
    """A writer may read and write, but not delete."""
    pk = add(client)
    for (method, path, body), status in zip(every_call(pk), (200, 200, 201, 200), strict=False):
        is_answer(client.request(method, path, json=body, headers=WILL), status, who="will")
    is_answer(client.delete(f"/records/{pk}", headers=WILL), 403, {"error": "forbidden"}, "will")
    is_answer(client.get(f"/records/{pk}", headers=WILL), 200, who="will")


def check_admins(client):
    """An admin may do everything."""
    pk = add(client)
    for (method, path, body), status in zip(every_call(pk), (200, 200, 201, 200, 204), strict=True):
        is_answer(client.request(method, path, json=body, headers=ADA), status, who="ada")
    is_answer(client.get(f"/records/{pk}", headers=ADA), 404, {"error": "not found"}, "ada")


def check_users_without_a_role(client):
    """A known user without a role is forbidden everything, which is not a matter of logging in."""
    pk = add(client)
    for method, path, body in every_call(pk):
        response = client.request(method, path, json=body, headers=NILS)
        is_answer(response, 403, {"error": "forbidden"}, "nils")
    is_answer(client.get("/records", headers=RITA), 200, {"records": [{"id": pk, "text": "note", "by": "will"}]})


def check_anonymous_callers(client):
    """Without credentials everything is 401, with a challenge."""
    pk = add(client)
    for method, path, body in every_call(pk):
        is_challenge(client.request(method, path, json=body))
    is_answer(client.get("/records", headers=RITA), 200, {"records": [{"id": pk, "text": "note", "by": "will"}]})


def check_wrong_credentials(client):
    """Credentials that are wrong or malformed are like none."""
    for header in (
        basic("rita:read"),
        basic("rita:read:only:2"),
        basic("rita:read:only:1 "),
        basic("rita:only:1"),
        basic("will:fuller ☂ 2"),
        basic("ada:schlüssel:3"),
        basic("ada:no-role-4"),
        basic("nils:"),
        basic("eve:no-role-4"),
        basic("Rita:read:only:1"),
        basic(":"),
        basic("None:None"),
        basic("rita"),
        basic("will:füller".encode("latin-1") + b" 2"),
        basic(b"\xff\xfe:\x00"),
        {"Authorization": "Basic"},
        {"Authorization": "Basic ***"},
        {"Authorization": "Basic rita:read:only:1"},
        {"Authorization": "Bearer read:only:1"},
        {"Authorization": "rita"},
    ):
        is_challenge(client.get("/records", headers=header))


def check_the_name_of_the_scheme(client):
    """The case of the scheme's name does not matter."""
    for scheme in ("basic", "BASIC"):
        header = basic("rita:read:only:1", scheme)
        is_answer(client.get("/records", headers=header), 200, {"records": []}, "rita")


def check_head(client):
    """HEAD needs what GET needs, and has the same status."""
    pk = add(client)
    for path in ("/records", f"/records/{pk}"):
        for header, status in ((RITA, 200), (WILL, 200), (ADA, 200), (NILS, 403)):
            response = client.head(path, headers=header)
            is_answer(response, status)
            assert not response.content, f"HEAD {path} answered with a body"
        is_challenge(client.head(path), body=False)
    is_answer(client.head("/records/99", headers=RITA), 404, who="rita")
    is_challenge(client.head("/records/99"), body=False)


def check_options(client):
    """OPTIONS tells everybody the methods, with or without credentials."""
    for path, methods in (
        ("/records", {"GET", "HEAD", "POST", "OPTIONS"}),
        ("/records/1", {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}),
    ):
        for header in ({}, NILS, RITA, basic("rita:wrong")):
            response = client.options(path, headers=header)
            assert response.status_code in (200, 204), f"OPTIONS {path} answered {response.status_code}"
            allowed = {name.strip() for name in response.headers.get("allow", "").split(",")}
            assert allowed == methods, f"OPTIONS {path} allows {sorted(allowed)}, expected {sorted(methods)}"


def check_unknown_records(client):
    """Only who has the role learns that a record does not exist."""
    for method, path, body in every_call(7)[1:]:
        if path == "/records":
            continue
        is_challenge(client.request(method, path, json=body))
        is_answer(client.request(method, path, json=body, headers=NILS), 403, {"error": "forbidden"}, "nils")
        is_answer(client.request(method, path, json=body, headers=ADA), 404, {"error": "not found"}, "ada")
    is_answer(client.put("/records/7", json=NOTE, headers=RITA), 403, {"error": "forbidden"}, "rita")
    is_answer(client.delete("/records/7", headers=WILL), 403, {"error": "forbidden"}, "will")
    is_answer(client.put("/records/7", json={}, headers=WILL), 404, {"error": "not found"}, "will")
    is_answer(client.get("/records", headers=RITA), 200, {"records": []})


def check_malformed_bodies(client):
    """Malformed records are 400 and change nothing, for those who may write."""
    pk = add(client)
    for method, path in (("POST", "/records"), ("PUT", f"/records/{pk}")):
        for body in ({}, {"text": ""}, {"text": "x" * 201}, {"text": 7}, {"text": None}, {"text": ["a"]}, [], "text"):
            is_answer(client.request(method, path, json=body, headers=WILL), 400, {"error": "invalid"}, "will")
        response = client.request(method, path, content=b"{", headers=ADA | {"Content-Type": "application/json"})
        is_answer(response, 400, {"error": "invalid"}, "ada")
        is_answer(client.request(method, path, json={}, headers=RITA), 403, {"error": "forbidden"}, "rita")
        is_challenge(client.request(method, path, json={}))
    is_answer(client.get("/records", headers=RITA), 200, {"records": [{"id": pk, "text": "note", "by": "will"}]})


def check_other_methods(client):
    """Methods that a path does not have are 405 for everybody."""
    for header in ({}, NILS, ADA):
        for method, path in (
            ("PUT", "/records"),
            ("DELETE", "/records"),
            ("POST", "/records/1"),
            ("PATCH", "/records/1"),
        ):
            is_answer(client.request(method, path, json=NOTE, headers=header), 405)
