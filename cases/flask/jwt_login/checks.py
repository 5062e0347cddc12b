"""Hidden checks of flask/jwt_login."""

import base64
import hashlib
import hmac
import json
import time

SECRET_KEY = b"webbench-secret"
PASSWORD = "correct horse"


def answer(response, status):
    """Return the JSON body of a response that must have this status."""
    asked = f"{response.request.method} {response.request.url.path}"
    assert response.status_code == status, f"{asked} answered {response.status_code} instead of {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked} answered {kind!r} instead of JSON"
    return response.json()


def refusal(response, status, error):
    body = answer(response, status)
    expected = {"error": error}
    assert body == expected, f"the {status} answer is {body!r} instead of {expected!r}"


def refused_token(response, why):
    """Check the answer to a request without a valid token; `why` names what was wrong with it."""
    assert response.status_code == 401, f"{why}: answered {response.status_code} instead of 401"
    refusal(response, 401, "invalid_token")
    challenge = response.headers.get("www-authenticate", "")
    assert challenge.lower().startswith("bearer"), f"{why}: WWW-Authenticate is {challenge!r} instead of 'Bearer'"


def register(client, username, password=PASSWORD):
    return client.post("/register", json={"username": username, "password": password})


def login(client, username, password=PASSWORD):
    """Return a new token of this user."""
    body = answer(client.post("/login", json={"username": username, "password": password}), 200)
    assert isinstance(body.get("access_token"), str), f"the login answer holds no access_token: {body!r}"
    return body["access_token"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def encode(part):
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def decode(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def sign(claims, key=SECRET_KEY):
    """Return a JWT made without the application's help."""
    signed = ".".join(encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{signed}.{encode(hmac.digest(key, signed.encode(), 'sha256'))}"


def check_register_and_login(client):
    """A new user is created with 201 and can log in; the answer has the three promised keys."""
    body = answer(register(client, "ann"), 201)
    assert body == {"username": "ann"}, f"POST /register answered {body!r}"
    body = answer(client.post("/login", json={"username": "ann", "password": PASSWORD}), 200)
    rest = {key: value for key, value in body.items() if key != "access_token"}
    assert rest == {"token_type": "Bearer", "expires_in": 900}, f"beside the token, POST /login answered {rest!r}"
    assert body["access_token"].count(".") == 2, f"access_token is no JWT: {body['access_token']!r}"


def check_token_is_signed_with_the_key(client):
    """The token is an HS256 JWT signed with the key from SECRET_KEY."""
    register(client, "ann")
    header, payload, signature = login(client, "ann").split(".")
    assert decode(header).get("alg") == "HS256", f"the token's algorithm is {decode(header).get('alg')!r}"
    expected = encode(hmac.new(SECRET_KEY, f"{header}.{payload}".encode(), hashlib.sha256).digest())
    assert signature == expected, "the token is not signed with the key from the environment variable SECRET_KEY"


def check_token_claims(client):
    """The claims are sub, iat (now), exp (900 seconds later) and a jti of its own for each token."""
    register(client, "ann")
    first, second = (decode(login(client, "ann").split(".")[1]) for _ in range(2))
    for claim in ("sub", "iat", "exp", "jti"):
        assert claim in first, f"the token lacks the claim {claim!r}: {first!r}"
    assert first["sub"] == "ann", f"sub is {first['sub']!r} instead of the username"
    assert abs(first["iat"] - time.time()) < 60, f"iat is {first['iat']}, now is {time.time():.0f}"
    lifetime = first["exp"] - first["iat"]
    assert abs(lifetime - 900) <= 1, f"exp is {lifetime} seconds after iat instead of 900"
    assert isinstance(first["jti"], str), f"jti is {first['jti']!r} instead of a string"
    assert first["jti"] != second["jti"], "two logins gave the same jti"


def check_me_answers_the_user_of_the_token(client):
    """GET /me answers the name of the user whose token is sent, and nothing else."""
    for username in ("ann", "bob"):
        register(client, username)
    tokens = {username: login(client, username) for username in ("ann", "bob")}
    for username, token in tokens.items():
        body = answer(client.get("/me", headers=bearer(token)), 200)
        assert body == {"username": username}, f"with the token of {username}, GET /me answered {body!r}"


def check_taken_username_is_refused(client):
    """Registering a name twice answers 409 and leaves the existing account as it is."""
    register(client, "ann")
    refusal(register(client, "ann", "another password"), 409, "username_taken")
    login(client, "ann")
    response = client.post("/login", json={"username": "ann", "password": "another password"})
    refusal(response, 401, "invalid_credentials")


def check_bad_credentials_look_alike(client):
    """An unknown user and a wrong password get the same 401."""
    register(client, "ann")
    for username, password in (("ann", "wrong"), ("ann", PASSWORD.upper()), ("bob", PASSWORD)):
        response = client.post("/login", json={"username": username, "password": password})
        refusal(response, 401, "invalid_credentials")


def check_incomplete_credentials_are_invalid_requests(client):
    """Bodies without two non-empty strings answer 400 on both routes."""
    bodies = [{}, {"username": "ann"}, {"password": "x"}, {"username": "", "password": "x"}]
    bodies += [{"username": "ann", "password": ""}, {"username": 7, "password": "x"}]
    bodies += [{"username": "ann", "password": ["x"]}, {"username": None, "password": "x"}]
    for route in ("/register", "/login"):
        for body in bodies:
            response = client.post(route, json=body)
            assert response.status_code == 400, f"POST {route} {body!r} answered {response.status_code}, not 400"
            refusal(response, 400, "invalid_request")


def check_bodies_that_are_no_objects_are_invalid_requests(client):
    """Malformed JSON and JSON that is no object answer 400 on both routes."""
    for route in ("/register", "/login"):
        for content in (b"{", b"", b"[]", b'["username", "password"]', b'"ann"', b"null"):
            response = client.post(route, content=content, headers={"Content-Type": "application/json"})
            assert response.status_code == 400, f"POST {route} {content!r} answered {response.status_code}, not 400"
            refusal(response, 400, "invalid_request")


def check_missing_and_malformed_tokens_are_refused(client):
    """Without a header, with another scheme or with a malformed token, both routes answer 401."""
    register(client, "ann")
    token = login(client, "ann")
    values = [None, "", "Bearer", "Bearer nonsense", "Bearer a.b.c", f"Basic {token}", token]
    for value in values:
        headers = {} if value is None else {"Authorization": value}
        refused_token(client.get("/me", headers=headers), f"GET /me with Authorization {value!r}")
        refused_token(client.post("/logout", headers=headers), f"POST /logout with Authorization {value!r}")
    answer(client.get("/me", headers=bearer(token)), 200)


def check_expired_token_is_refused(client):
    """A rightly signed token whose exp has passed answers 401."""
    register(client, "ann")
    claims = decode(login(client, "ann").split(".")[1])
    token = sign({**claims, "iat": claims["iat"] - 1800, "exp": claims["exp"] - 1800})
    refused_token(client.get("/me", headers=bearer(token)), "an expired token")


def check_token_signed_with_another_key_is_refused(client):
    """A token with the right claims but another key's signature answers 401."""
    register(client, "ann")
    claims = decode(login(client, "ann").split(".")[1])
    token = sign(claims, b"another key")
    refused_token(client.get("/me", headers=bearer(token)), "a token signed with another key")


def check_logout_ends_this_token_only(client):
    """POST /logout answers 204; that token is refused afterwards, other tokens are not."""
    register(client, "ann")
    gone, kept = login(client, "ann"), login(client, "ann")
    response = client.post("/logout", headers=bearer(gone))
    assert response.status_code == 204, f"POST /logout answered {response.status_code} instead of 204"
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    refused_token(client.get("/me", headers=bearer(gone)), "GET /me with a logged-out token")
    refused_token(client.post("/logout", headers=bearer(gone)), "POST /logout with a logged-out token")
    for token in (kept, login(client, "ann")):
        response = client.get("/me", headers=bearer(token))
        assert response.status_code == 200, "logging one token out ended another one"
