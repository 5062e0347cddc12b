"""Accounts, their tokens, and when these end."""

ADMIN = {"X-Admin-Key": "key-adm-31"}
BAD_TOKEN = {"error": "invalid token"}
BAD_LOGIN = {"error": "invalid credentials"}
INVALID = {"error": "invalid"}
GARBAGE = ["garbage", "", "a.b.c", "é", "x" * 500, "1"]


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def add(client, name="ada", password="rabbit-7"):
    response = client.post("/users/", json={"username": name, "password": password}, headers=ADMIN)
    made = expect(response, 201, f"new user {name}").json()
    assert made == {"id": made.get("id"), "username": name, "is_active": True}, f"unexpected user {made}"
    return made["id"]


def set_active(client, pk, active):
    response = client.patch(f"/users/{pk}/", json={"is_active": active}, headers=ADMIN)
    found = expect(response, 200, f"is_active = {active}").json()
    assert found["id"] == pk and found["is_active"] is active, f"is_active = {active} was answered with {found}"


def try_login(client, name="ada", password="rabbit-7"):
    return client.post("/token/", json={"username": name, "password": password})


def login(client, name="ada", password="rabbit-7"):
    found = expect(try_login(client, name, password), 200, f"login of {name}").json()
    assert found.keys() == {"access", "refresh"}, f"the login answers {found}, expected access and refresh"
    return found["access"], found["refresh"]


def refresh(client, token):
    return client.post("/token/refresh/", json={"refresh": token})


def verify(client, token):
    return client.post("/token/verify/", json={"token": token})


def me(client, token):
    return client.get("/me/", headers={"Authorization": f"Bearer {token}".strip().encode()})


def are_good(client, access, refreshing, pk, name="ada"):
    """Both tokens do their work."""
    expect(me(client, access), 200, "me", {"id": pk, "username": name})
    found = expect(refresh(client, refreshing), 200, "refresh").json()
    assert found.keys() == {"access"}, f"the refresh answers {found}, expected access alone"
    expect(me(client, found["access"]), 200, "me with the refreshed token", {"id": pk, "username": name})
    for token in (access, refreshing, found["access"]):
        expect(verify(client, token), 200, "verify", {})


def are_dead(client, access, refreshing, why):
    """Neither token does anything any longer, and the answers are those for garbage."""
    expect(me(client, access), 401, f"me {why}", BAD_TOKEN)
    expect(refresh(client, refreshing), 401, f"refresh {why}", BAD_TOKEN)
    for name, token in (("access", access), ("refresh", refreshing)):
        expect(verify(client, token), 401, f"verify of the {name} token {why}", BAD_TOKEN)


def check_login(client):
    """A login gives two tokens that work, as often as wanted and beside those of others."""
    ada, bo = add(client), add(client, "bo", "brick-8")
    assert ada != bo, "two users have the same id"
    first, other, second = login(client), login(client, "bo", "brick-8"), login(client)
    are_good(client, *first, ada)
    are_good(client, *second, ada)
    are_good(client, *other, bo, "bo")
    are_good(client, *first, ada)
    assert len({*first, *second, *other}) == 6, "tokens repeat"


def check_wrong_logins(client):
    """Wrong passwords and unknown names are 401 with one answer."""
    add(client)
    add(client, "bo", "brick-8")
    for name, password in (("ada", "guess"), ("ada", ""), ("eve", "rabbit-7"), ("", ""), ("bo", "rabbit-7")):
        expect(try_login(client, name, password), 401, f"login of {name!r} with {password!r}", BAD_LOGIN)


def check_garbage_tokens(client):
    """What is no token is 401 everywhere."""
    pk = add(client)
    access, refreshing = login(client)
    for token in (*GARBAGE, access[:-2], refreshing[:-2], "X" + access, str(pk), "ada"):
        are_dead(client, token, token, f"with the token {token[:40]!r}")
    for value in (None, access, f"Basic {access}", f"Token {access}", "Bearer"):
        headers = {"Authorization": value} if value else {}
        expect(client.get("/me/", headers=headers), 401, f"me with Authorization {value!r}", BAD_TOKEN)


def check_tokens_have_one_use(client):
    """A refresh token is no access token and the other way round."""
    add(client)
    access, refreshing = login(client)
    expect(me(client, refreshing), 401, "me with the refresh token", BAD_TOKEN)
    expect(refresh(client, access), 401, "refresh with the access token", BAD_TOKEN)


def check_malformed_bodies(client):
    """Bodies that are no object, and fields that are missing or of another type, are 400."""
    pk = add(client)
    access, refreshing = login(client)
    routes = [
        ("POST", "/users/"),
        ("POST", "/token/"),
        ("POST", "/token/refresh/"),
        ("POST", "/token/verify/"),
        ("PATCH", f"/users/{pk}/"),
    ]
    for method, path in routes:
        for content in (b"", b"{", b"[]", b"null", b'"token"', b"{}", b"7", b"\xff"):
            headers = ADMIN | {"Content-Type": "application/json"}
            expect(client.request(method, path, content=content, headers=headers), 400, f"{path} {content!r}", INVALID)
    for value in (None, 7, True, ["x"], {}):
        for body in ({"username": "eve", "password": value}, {"username": value, "password": "x"}):
            expect(client.post("/users/", json=body, headers=ADMIN), 400, f"new user {body}", INVALID)
        expect(client.post("/token/", json={"username": "ada", "password": value}), 400, f"password {value}", INVALID)
        expect(client.post("/token/", json={"username": value, "password": "x"}), 400, f"username {value}", INVALID)
        expect(client.post("/token/refresh/", json={"refresh": value}), 400, f"refresh {value}", INVALID)
        expect(client.post("/token/verify/", json={"token": value}), 400, f"token {value}", INVALID)
    for value in (None, 0, 1, "false", "", []):
        response = client.patch(f"/users/{pk}/", json={"is_active": value}, headers=ADMIN)
        expect(response, 400, f"is_active {value!r}", INVALID)
    are_good(client, access, refreshing, pk)


def check_deactivation(client):
    """Deactivation ends all tokens of the account at once, refreshed ones too, and nobody else's."""
    ada, bo = add(client), add(client, "bo", "brick-8")
    tokens, more, others = login(client), login(client), login(client, "bo", "brick-8")
    again = refresh(client, tokens[1]).json()["access"]
    set_active(client, ada, False)
    are_dead(client, *tokens, "after deactivation")
    are_dead(client, again, more[1], "after deactivation")
    are_good(client, *others, bo, "bo")


def check_login_of_inactive_accounts(client):
    """An inactive account cannot log in, and looks as if the password were wrong."""
    pk = add(client)
    for _ in range(2):
        set_active(client, pk, False)
        for password in ("rabbit-7", "guess"):
            expect(try_login(client, password=password), 401, f"login of an inactive user: {password}", BAD_LOGIN)


def check_reactivation(client):
    """After reactivation new logins work, and earlier tokens stay dead."""
    pk = add(client)
    tokens = login(client)
    set_active(client, pk, False)
    set_active(client, pk, True)
    are_dead(client, *tokens, "after deactivation and reactivation")
    are_good(client, *login(client), pk)
    are_dead(client, *tokens, "after deactivation, reactivation and another login")


def check_active_accounts_stay_as_they_are(client):
    """Activating an active account ends nothing."""
    pk = add(client)
    tokens = login(client)
    set_active(client, pk, True)
    are_good(client, *tokens, pk)


def check_deletion(client):
    """Deletion ends the tokens and the login; the others go on."""
    ada, bo = add(client), add(client, "bo", "brick-8")
    tokens, others = login(client), login(client, "bo", "brick-8")
    expect(client.delete(f"/users/{ada}/", headers=ADMIN), 204, "deletion")
    are_dead(client, *tokens, "after deletion")
    expect(try_login(client), 401, "login of a deleted user", BAD_LOGIN)
    are_good(client, *others, bo, "bo")


def check_new_account_of_the_same_name(client):
    """A new account with the name of a deleted one has no part in the former tokens."""
    former = add(client)
    tokens = login(client)
    expect(client.delete(f"/users/{former}/", headers=ADMIN), 204, "deletion")
    pk = add(client, password="carrot-9")
    are_dead(client, *tokens, "of a deleted user whose name is taken again")
    expect(try_login(client), 401, "login with the password of the deleted user", BAD_LOGIN)
    are_good(client, *login(client, password="carrot-9"), pk)


def check_unknown_users(client):
    """Changes of unknown users are 404."""
    pk = add(client)
    expect(client.delete(f"/users/{pk + 9}/", headers=ADMIN), 404, "deletion of an unknown user")
    response = client.patch(f"/users/{pk + 9}/", json={"is_active": False}, headers=ADMIN)
    expect(response, 404, "change of an unknown user")
    expect(client.delete(f"/users/{pk}/", headers=ADMIN), 204, "deletion")
    expect(client.delete(f"/users/{pk}/", headers=ADMIN), 404, "second deletion")


def check_admin_key_is_needed(client):
    """Users are managed with the key of the administrators only."""
    pk = add(client)
    tokens = login(client)
    for headers in ({}, {"X-Admin-Key": "guess"}, {"X-Admin-Key": ""}, {"Authorization": f"Bearer {tokens[0]}"}):
        for method, path, body in (
            ("POST", "/users/", {"username": "eve", "password": "x"}),
            ("PATCH", f"/users/{pk}/", {"is_active": False}),
            ("PATCH", f"/users/{pk + 9}/", {}),
            ("DELETE", f"/users/{pk}/", None),
        ):
            response = client.request(method, path, json=body, headers=headers)
            expect(response, 403, f"{method} {path} with {list(headers)}", {"error": "forbidden"})
    expect(try_login(client, "eve", "x"), 401, "login of a user who was not added", BAD_LOGIN)
    are_good(client, *tokens, pk)


def check_other_methods(client):
    """Methods that a route does not name are 405."""
    pk = add(client)
    get = ["/users/", f"/users/{pk}/", "/token/", "/token/refresh/", "/token/verify/"]
    for method, path in [*(("GET", path) for path in get), ("POST", "/me/"), ("POST", f"/users/{pk}/")]:
        expect(client.request(method, path, headers=ADMIN), 405, f"{method} {path}")


def check_data_survives_a_restart(client, restart):
    """Users and tokens are still known after a restart."""
    pk = add(client)
    tokens = login(client)
    restart()
    are_good(client, *tokens, pk)
    set_active(client, pk, False)
    restart()
    are_dead(client, *tokens, "after deactivation and a restart")
