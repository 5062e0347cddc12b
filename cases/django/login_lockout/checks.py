"""Logging in, failing, being locked and unlocked."""

import json

ADMIN = {"X-Admin-Key": "let-me-in-9"}


def login(client, username, password):
    return client.post("/login/", json={"username": username, "password": password})


def expect(response, status, body, what):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"


def fail(client, username, times):
    for attempt in range(1, times + 1):
        expect(login(client, username, "guess"), 401, {"error": "wrong"}, f"failure {attempt} of {username!r}")


def check_right_password(client):
    """The right password is answered with 200 and the user's name."""
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login of alice")
    expect(login(client, "bob", "red-brick-8"), 200, {"user": "bob"}, "login of bob")


def check_wrong_password_and_unknown_user(client):
    """A wrong password and an unknown user get the same 401."""
    expect(login(client, "alice", "red-brick-8"), 401, {"error": "wrong"}, "password of somebody else")
    expect(login(client, "mallory", "rabbit-hole-7"), 401, {"error": "wrong"}, "unknown user")


def check_name_is_normalised(client):
    """Blanks around the name and its case do not matter."""
    expect(login(client, "  ALICE\t", "rabbit-hole-7"), 200, {"user": "alice"}, "login as '  ALICE<tab>'")


def check_password_is_not_normalised(client):
    """Only the name is normalised: the password must be exactly right."""
    expect(login(client, "alice", "RABBIT-HOLE-7"), 401, {"error": "wrong"}, "password in upper case")


def check_any_string_is_a_password(client):
    """A password may hold any characters; it is just right or wrong."""
    for password in ("", "räbbit-hole-7", "rabbit-hole-7\x00", "\ud83d"):
        response = client.post("/login/", content=json.dumps({"username": "bob", "password": password}))
        expect(response, 401, {"error": "wrong"}, f"password {password!a}")
        expect(login(client, "bob", "red-brick-8"), 200, {"user": "bob"}, "login of bob")


def check_third_failure_locks(client):
    """The first three failures are 401, each further attempt is 429."""
    fail(client, "alice", 3)
    expect(login(client, "alice", "guess"), 429, {"error": "locked"}, "fourth attempt")
    expect(login(client, "alice", "rabbit-hole-7"), 429, {"error": "locked"}, "right password while locked")


def check_two_failures_do_not_lock(client):
    """With two failures the right password still works."""
    fail(client, "alice", 2)
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login after two failures")


def check_success_forgets_failures(client):
    """After a successful login counting starts anew."""
    fail(client, "alice", 2)
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login after two failures")
    fail(client, "alice", 2)
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login after two more failures")


def check_names_are_independent(client):
    """A locked name leaves others alone."""
    fail(client, "alice", 3)
    expect(login(client, "bob", "red-brick-8"), 200, {"user": "bob"}, "login of bob while alice is locked")
    expect(login(client, "alice", "guess"), 429, {"error": "locked"}, "alice after bob's login")


def check_unknown_names_are_locked_too(client):
    """Unknown names are counted and locked like known ones."""
    fail(client, "mallory", 3)
    expect(login(client, "mallory", "guess"), 429, {"error": "locked"}, "fourth attempt of an unknown user")


def check_invalid_requests(client):
    """Bodies without a usable name and password are 400 with the promised error."""
    for body in (
        '{"username": "alice"',
        "",
        "[]",
        '"alice"',
        "null",
        '{"username": "alice"}',
        '{"password": "x"}',
        '{"username": 1, "password": "x"}',
        '{"username": "alice", "password": null}',
        '{"username": "  ", "password": "x"}',
    ):
        response = client.post("/login/", content=body, headers={"Content-Type": "application/json"})
        expect(response, 400, {"error": "invalid"}, f"body {body!r}")


def check_invalid_requests_do_not_count(client):
    """However many invalid requests are made, nobody gets locked."""
    for _ in range(4):
        expect(login(client, " ", "guess"), 400, {"error": "invalid"}, "blank name")
        response = client.post("/login/", json={"username": "alice"})
        expect(response, 400, {"error": "invalid"}, "no password")
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login after invalid requests")


def check_unlock(client):
    """Unlocking lets the user in again, and counting starts anew."""
    fail(client, "alice", 3)
    response = client.post("/unlock/", json={"username": " Alice "}, headers=ADMIN)
    assert response.status_code == 204, f"unlock: status {response.status_code}, expected 204"
    fail(client, "alice", 2)
    expect(login(client, "alice", "rabbit-hole-7"), 200, {"user": "alice"}, "login after unlocking")


def check_unlock_of_a_name_without_failures(client):
    """Unlocking is 204 also where there is nothing to forget."""
    response = client.post("/unlock/", json={"username": "nobody"}, headers=ADMIN)
    assert response.status_code == 204, f"unlock: status {response.status_code}, expected 204"


def check_unlock_needs_the_key(client):
    """Without the right key, unlocking is refused."""
    for headers in ({}, {"X-Admin-Key": "let-me-in"}, {"X-Admin-Key": ""}):
        for body in ({"username": "alice"}, {}):
            response = client.post("/unlock/", json=body, headers=headers)
            expect(response, 403, {"error": "forbidden"}, f"unlock with headers {headers}")


def check_invalid_unlocks(client):
    """With the key, a body without a string as name is 400."""
    for body in ("", "{", "[]", "null", "{}", '{"username": null}', '{"username": 7}'):
        response = client.post("/unlock/", content=body, headers=ADMIN | {"Content-Type": "application/json"})
        expect(response, 400, {"error": "invalid"}, f"unlock with body {body!r}")


def check_other_methods_are_refused(client):
    """Methods other than POST are 405."""
    for path in ("/login/", "/unlock/"):
        for method in ("GET", "PUT", "DELETE"):
            response = client.request(method, path, json={"username": "alice", "password": "x"}, headers=ADMIN)
            assert response.status_code == 405, f"{method} {path}: status {response.status_code}, expected 405"
