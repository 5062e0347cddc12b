"""Hidden checks of the scenario api_versions: one store, two versions, chosen by the Accept header."""

import re

VERSIONS = ["1.0", "2.0"]
V1, V2 = "application/json; version=1.0", "application/json; version=2.0"
ADA_1, ADA_2 = {"id": 1, "full_name": "Ada Lovelace"}, {"id": 1, "first_name": "Ada", "last_name": "Lovelace"}
ALAN_1, ALAN_2 = {"id": 2, "full_name": "Alan Turing"}, {"id": 2, "first_name": "Alan", "last_name": "Turing"}
REFUSED = {"error": "not acceptable", "versions": VERSIONS}


def ask(client, path, accept=None, **more):
    """Send a request with this Accept header, or with none: the client's own one is left out."""
    request = client.build_request("POST" if more else "GET", path, **more)
    del request.headers["accept"]
    if accept is not None:
        request.headers["accept"] = accept
    return client.send(request)


def asked(response):
    request = response.request
    body = f" with {request.content.decode()}" if request.content else ""
    return f"{request.method} {request.url.path}{body}, Accept {request.headers.get('accept')!r}"


def is_answer(response, status, expected):
    assert response.status_code == status, f"{asked(response)}: status {response.status_code}, expected {status}"
    kind = response.headers.get("content-type", "")
    assert kind.split(";")[0].strip() == "application/json", f"{asked(response)}: the type is {kind!r}"
    assert response.json() == expected, f"{asked(response)}: answered {response.json()}, expected {expected}"


def tells(response, version):
    """Check the headers that tell the version; `None`: none was chosen."""
    _, *parameters = response.headers["content-type"].split(";")
    pairs = [parameter.strip().split("=") for parameter in parameters]
    found = [value.strip('"') for name, value in pairs if name.lower() == "version"]
    expected = [version] if version else []
    assert found == expected, f"{asked(response)}: the Content-Type names the versions {found}, expected {expected}"
    vary = re.split(r"[,\s]+", response.headers.get("vary", "").lower())
    assert "accept" in vary, f"{asked(response)}: Vary does not name Accept"
    deprecation = response.headers.get("deprecation")
    expected = "@1767225600" if version == "1.0" else None
    assert deprecation == expected, f"{asked(response)}: Deprecation is {deprecation!r}, expected {expected!r}"


def check_versions_of_a_user(client):
    """A user in both versions."""
    for number, old, new in ((1, ADA_1, ADA_2), (2, ALAN_1, ALAN_2)):
        is_answer(ask(client, f"/users/{number}", V1), 200, old)
        is_answer(ask(client, f"/users/{number}", V2), 200, new)


def check_versions_of_the_list(client):
    """All users in both versions, in the order of their ids."""
    is_answer(ask(client, "/users", V1), 200, [ADA_1, ALAN_1])
    is_answer(ask(client, "/users", V2), 200, [ADA_2, ALAN_2])


def check_default_version(client):
    """Without an Accept header, or without a version in it, the version is 2.0."""
    for accept in (None, "application/json", "*/*", "application/*", "application/json; charset=utf-8"):
        response = ask(client, "/users/1", accept)
        is_answer(response, 200, ADA_2)
        tells(response, "2.0")


def check_spellings_of_a_version(client):
    """The version counts with every range that includes JSON, quoted or not, among other parameters."""
    for spelling in (
        "application/json;version={}",
        "application/json ;  version={}",
        'application/json; version="{}"',
        "application/json; charset=utf-8; version={}",
        'application/json; version="{}"; charset="utf-8"',
        "application/json; Version={}",
        "Application/JSON; VERSION={}",
        "*/*; version={}",
        "*/*;version={}",
        "application/*; version={}",
    ):
        for version, expected in (("1.0", ADA_1), ("2.0", ADA_2)):
            response = ask(client, "/users/1", spelling.format(version))
            is_answer(response, 200, expected)
            tells(response, version)


def check_unknown_versions(client):
    """Unknown, blank and repeated versions are not acceptable."""
    for parameter in ("3.0", "1", "2", "", '""', "1.1", "01.0", "1.00", "v1.0", "latest", "1.0; version=2.0"):
        for path in ("/users", "/users/1"):
            response = ask(client, path, f"application/json; version={parameter}")
            is_answer(response, 406, REFUSED)
            tells(response, None)
    is_answer(ask(client, "/users", "application/json; version=2.0; version=2.0"), 406, REFUSED)
    is_answer(ask(client, "/users", "*/*; version=7.0"), 406, REFUSED)


def check_other_types(client):
    """What does not include JSON is not acceptable, whatever its version."""
    for accept in (
        "text/html",
        "text/*",
        "application/xml; version=1.0",
        "application/json-seq",
        "image/*; version=2.0",
    ):
        for path in ("/users", "/users/2"):
            response = ask(client, path, accept)
            is_answer(response, 406, REFUSED)
            tells(response, None)


def check_answers_tell_their_version(client):
    """Every answer of /users names its version, varies by Accept, and is deprecated in version 1.0 only."""
    ada = {"full_name": "Grace Hopper", "first_name": "Grace", "last_name": "Hopper"}
    for version, accept in (("1.0", V1), ("2.0", V2), ("2.0", None)):
        tells(ask(client, "/users", accept), version)
        tells(ask(client, "/users/2", accept), version)
        tells(ask(client, "/users", accept, json=ada), version)
        tells(ask(client, "/users", accept, json={}), version)
        tells(ask(client, "/users/99", accept), version)


def check_add_users(client):
    """Users are added in the shape of the version that is asked for, and seen in both."""
    old, new = {"id": 3, "full_name": "Grace Hopper"}, {"id": 3, "first_name": "Grace", "last_name": "Hopper"}
    is_answer(ask(client, "/users", V1, json={"full_name": "Grace Hopper"}), 201, old)
    is_answer(ask(client, "/users/3", V2), 200, new)
    names = {"first_name": "Annie", "last_name": "Easley"}
    is_answer(ask(client, "/users", V2, json=names), 201, {"id": 4, **names})
    is_answer(ask(client, "/users/4", V1), 200, {"id": 4, "full_name": "Annie Easley"})
    both = {"full_name": "Old One", "first_name": "New", "last_name": "Two", "id": 99}
    is_answer(ask(client, "/users", V1, json=both), 201, {"id": 5, "full_name": "Old One"})
    is_answer(ask(client, "/users", None, json=both), 201, {"id": 6, "first_name": "New", "last_name": "Two"})
    names = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Annie Easley", "Old One", "New Two"]
    expected = [{"id": number, "full_name": name} for number, name in enumerate(names, 1)]
    is_answer(ask(client, "/users", V1), 200, expected)


def check_invalid_users(client):
    """Bodies that do not have the shape of the version are invalid, in the same form in every version."""
    two, one = {"first_name": "Grace", "last_name": "Hopper"}, {"full_name": "Grace Hopper"}
    for accept, bodies in (
        (
            V1,
            [two, {}, [], *({"full_name": name} for name in ("Grace", "", "a b c", " Hopper", "a  b", "a ", 7, None))],
        ),
        (V1, [{"full_name": ["Grace", 7]}, {"full_name": ["Grace", "Mary Hopper"]}, {"full_name": " "}]),
        (V2, [one, {}, [], *(two | {"first_name": name} for name in ("", "Grace Mary", " ", 7, None, ["Grace"]))]),
        (V2, [{"first_name": "Grace"}, {"last_name": "Hopper"}, two | {"last_name": ""}, two | {"last_name": "a b"}]),
    ):
        for body in bodies:
            is_answer(ask(client, "/users", accept, json=body), 400, {"error": "invalid"})
    for content in (b"", b"{", b"null", b'"Grace Hopper"'):
        response = ask(client, "/users", V1, content=content, headers={"Content-Type": "application/json"})
        is_answer(response, 400, {"error": "invalid"})
    is_answer(ask(client, "/users", V2), 200, [ADA_2, ALAN_2])


def check_nothing_is_added_without_a_version(client):
    """A POST with an unknown version is not acceptable, whatever its body, and adds nothing."""
    for accept in ("application/json; version=3.0", "application/json; version=", "text/html"):
        for body in ({"full_name": "Grace Hopper", "first_name": "Grace", "last_name": "Hopper"}, {}):
            response = ask(client, "/users", accept, json=body)
            is_answer(response, 406, REFUSED)
            tells(response, None)
    is_answer(ask(client, "/users", V2), 200, [ADA_2, ALAN_2])


def check_unknown_users(client):
    """Unknown users are not found, in the same form in every version; the version comes first."""
    for number in (0, 3, 99):
        for accept in (V1, V2, None):
            is_answer(ask(client, f"/users/{number}", accept), 404, {"error": "not found"})
        is_answer(ask(client, f"/users/{number}", "*/*; version=3.0"), 406, REFUSED)


def check_about(client):
    """GET / names the versions, whatever is accepted."""
    for accept in (None, V1, "text/html", "application/json; version=9"):
        is_answer(ask(client, "/", accept), 200, {"versions": VERSIONS, "default": "2.0"})
