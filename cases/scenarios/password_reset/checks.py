"""Hidden checks of the scenario password_reset: links that work once, expire, and reveal nothing about accounts."""

import re

ADA, BO = "ada@example.com", "bo@example.com"
PASSWORDS = {ADA: "rabbit-hole-7", BO: "red-brick-88"}
NEW = "correct-horse-9"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32,}")


def body_of(response, status):
    """Return the JSON body of an answer that must have this status."""
    request = response.request
    asked = f"{request.method} {request.url.path} with {request.content.decode()}"
    assert response.status_code == status, f"{asked} answered {response.status_code}, expected {status}"
    return response.json()


def is_answer(response, status, expected):
    found, request = body_of(response, status), response.request
    assert found == expected, f"{request.method} {request.url.path} answered {found}, expected {expected}"


def login(client, email, password):
    return client.post("/login", json={"email": email, "password": password})


def session_of(client, email=ADA, password=None):
    return body_of(login(client, email, password or PASSWORDS[email]), 200)["session"]


def me(client, session):
    return client.get("/me", headers={"Authorization": f"Bearer {session}"})


def mails(client):
    return body_of(client.get("/outbox"), 200)["mails"]


def forgot(client, email):
    is_answer(client.post("/password/forgot", json={"email": email}), 202, {"status": "accepted"})


def link(client, email=ADA):
    """Ask for a link and return the token that is mailed."""
    before = len(mails(client))
    forgot(client, email)
    new = mails(client)[before:]
    assert len(new) == 1, f"asking for a link for {email} sent {len(new)} mails"
    return new[0]["token"]


def reset(client, token, password=NEW):
    return client.post("/password/reset", json={"token": token, "password": password})


def advance(client, seconds):
    status = client.post("/clock", json={"advance": seconds}).status_code
    assert status == 204, f"POST /clock answered {status}, expected 204"


def changed(response):
    is_answer(response, 200, {"status": "changed"})


def bad_token(response):
    is_answer(response, 403, {"error": "bad token"})


def password_is(client, right, email=ADA, wrong=()):
    """The account's password must be `right`, and none of `wrong`."""
    for password in wrong:
        is_answer(login(client, email, password), 401, {"error": "wrong"})
    body_of(login(client, email, right), 200)


def check_login(client):
    """Login gives sessions, each different, which tell who one is; the address may be written in any case."""
    found = [session_of(client), session_of(client), session_of(client, BO)]
    assert len(set(found)) == 3, f"three logins gave the sessions {found}"
    for session, email in zip(found, (ADA, ADA, BO), strict=True):
        is_answer(me(client, session), 200, {"email": email})
    is_answer(me(client, session_of(client, "  Ada@Example.COM ", PASSWORDS[ADA])), 200, {"email": ADA})
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer nobody"}, {"Authorization": found[0]}):
        is_answer(client.get("/me", headers=headers), 401, {"error": "unauthorized"})
    is_answer(client.get("/me", headers={"Authorization": f"Basic {found[0]}"}), 401, {"error": "unauthorized"})
    for email, password in ((ADA, PASSWORDS[BO]), ("eve@example.com", PASSWORDS[ADA]), (ADA, "Rabbit-hole-7")):
        is_answer(login(client, email, password), 401, {"error": "wrong"})


def check_mail(client):
    """Only accounts get a mail, to the address as it is known, with a token of its own."""
    assert mails(client) == [], f"the outbox of a fresh application is {mails(client)}"
    for email in (BO, "eve@example.com", "\tADA@example.com ", "ada@example.com.evil.test", BO):
        forgot(client, email)
        advance(client, 5)
    found = mails(client)
    told = [(mail["to"], mail["time"]) for mail in found]
    assert told == [(BO, 0), (ADA, 10), (BO, 20)], f"the outbox has mails (to, time) {told}"
    assert all(set(mail) == {"to", "time", "token"} for mail in found), f"a mail has other members: {found}"
    tokens = [mail["token"] for mail in found]
    assert len(set(tokens)) == 3, f"three mails have the tokens {tokens}"
    assert all(TOKEN.fullmatch(token) for token in tokens), f"tokens are not as described: {tokens}"


def check_reset(client):
    """A link changes the password of its account and of no other."""
    changed(reset(client, link(client)))
    password_is(client, NEW, wrong=[PASSWORDS[ADA]])
    password_is(client, PASSWORDS[BO], BO, wrong=[NEW])
    changed(reset(client, link(client), "x" * 10))
    password_is(client, "x" * 10, wrong=[NEW])


def check_a_link_works_once(client):
    """A used token is refused like one that never existed."""
    token = link(client)
    changed(reset(client, token))
    bad_token(reset(client, token, "another-password"))
    for unknown in ("nonsense", token[:-1], token + "x", token.swapcase()):
        bad_token(reset(client, unknown, "another-password"))
    password_is(client, NEW, wrong=["another-password"])


def check_a_link_expires(client):
    """A token is valid for less than 900 seconds."""
    token = link(client)
    advance(client, 899)
    other = link(client, BO)
    changed(reset(client, token))
    advance(client, 899)
    late = link(client)
    advance(client, 1)
    bad_token(reset(client, other))
    advance(client, 899)
    bad_token(reset(client, late, "another-password"))
    password_is(client, NEW, wrong=["another-password"])
    password_is(client, PASSWORDS[BO], BO)


def check_only_the_latest_link_is_valid(client):
    """A new link ends the older ones of the same account, a reset ends all."""
    old, other, new = link(client), link(client, BO), link(client)
    bad_token(reset(client, old))
    changed(reset(client, new))
    bad_token(reset(client, old))
    changed(reset(client, other))
    password_is(client, NEW, BO)


def check_invalid_input(client):
    """Missing, blank or short values are 400, and the token is not used up."""
    token = link(client)
    bodies = [{"token": token, "password": "x" * 9}, {"token": token}, {"password": NEW}, {"token": 7, "password": NEW}]
    bodies += [{"token": token, "password": 1234567890}, {"token": token, "password": " " * 12}, [token, NEW], None]
    for body in bodies:
        is_answer(client.post("/password/reset", json=body), 400, {"error": "invalid"})
    is_answer(reset(client, "nonsense", "short"), 400, {"error": "invalid"})
    for body in ({}, {"email": None}, {"email": " "}, {"email": [ADA]}, [ADA], "ada@example.com"):
        is_answer(client.post("/password/forgot", json=body), 400, {"error": "invalid"})
    for body in ({}, {"email": ADA}, {"email": ADA, "password": None}, {"email": "", "password": "x"}, []):
        is_answer(client.post("/login", json=body), 400, {"error": "invalid"})
    for path in ("/password/reset", "/password/forgot", "/login"):
        response = client.post(path, content=b"{", headers={"Content-Type": "application/json"})
        is_answer(response, 400, {"error": "invalid"})
    assert len(mails(client)) == 1, f"refused requests have sent mails: {mails(client)}"
    changed(reset(client, token))


def check_a_reset_ends_the_sessions(client):
    """A reset ends all sessions of the account and of no other."""
    first, second, other = session_of(client), session_of(client), session_of(client, BO)
    token = link(client)
    is_answer(me(client, first), 200, {"email": ADA})
    changed(reset(client, token))
    for session in (first, second):
        is_answer(me(client, session), 401, {"error": "unauthorized"})
    is_answer(me(client, other), 200, {"email": BO})
    is_answer(me(client, session_of(client, ADA, NEW)), 200, {"email": ADA})


def check_sessions_and_links_are_not_interchangeable(client):
    """A session is no token for a reset, a token is no session."""
    session, token = session_of(client), link(client)
    bad_token(reset(client, session))
    is_answer(me(client, token), 401, {"error": "unauthorized"})
    password_is(client, PASSWORDS[ADA], wrong=[NEW])


def check_no_more_than_three_mails(client):
    """An account gets at most three mails in 3600 seconds; what is asked beyond that changes nothing."""
    for _ in range(2):
        link(client)
        advance(client, 1000)
    token = link(client)
    forgot(client, ADA)
    assert len(mails(client)) == 3, f"the fourth request within 2000 seconds left {len(mails(client))} mails"
    link(client, BO)
    changed(reset(client, token))
    advance(client, 1599)
    forgot(client, ADA)
    assert len(mails(client)) == 4, "3599 seconds after the first of three mails a fourth one was sent"
    advance(client, 1)
    token = link(client)
    forgot(client, ADA)
    assert len(mails(client)) == 5, f"a request beyond the limit was mailed: {len(mails(client))} mails"
    changed(reset(client, token, "another-password"))


def check_leaked_passwords_take_their_time(client):
    """The search for the new password takes 0.1 seconds."""
    response = reset(client, link(client))
    changed(response)
    seconds = response.elapsed.total_seconds()
    assert seconds >= 0.095, f"the reset was answered after {seconds:.3f} s, the search takes 0.1 s"


def check_simultaneous_resets(client, new_client, parallel):
    """Of several simultaneous resets with one token exactly one is done."""
    token = link(client)
    passwords = [f"password-of-{number}" for number in range(5)]
    clients = [new_client() for _ in passwords]
    calls = [lambda c=c, password=password: reset(c, token, password) for c, password in zip(clients, passwords)]
    statuses = [response.status_code for response in parallel(calls)]
    assert sorted(statuses) == [200] + [403] * 4, f"five simultaneous resets with one token answered {statuses}"
    winner = passwords.pop(statuses.index(200))
    password_is(client, winner, wrong=passwords)


def check_other_methods(client):
    """Methods that a route does not have are 405."""
    for path in ("/login", "/password/forgot", "/password/reset", "/clock"):
        status = client.get(path).status_code
        assert status == 405, f"GET {path} answered {status}, expected 405"
    for path in ("/me", "/outbox"):
        status = client.post(path, json={}).status_code
        assert status == 405, f"POST {path} answered {status}, expected 405"
