"""Wrong: the password is stored before the name is looked up, so registering again takes the account over."""

import os
import time
import uuid
from functools import wraps

import jwt
from flask import Flask, g, request
from werkzeug.security import check_password_hash, generate_password_hash

SECRET_KEY = os.environ["SECRET_KEY"]
LIFETIME_SECONDS = 900

app = Flask(__name__)
password_hashes = {}
revoked_ids = set()


def read_credentials():
    """Return username and password, or None if the body does not hold both."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        return None
    credentials = body.get("username"), body.get("password")
    if not all(isinstance(value, str) and value for value in credentials):
        return None
    return credentials


def takes_credentials(view):
    @wraps(view)
    def wrapper():
        credentials = read_credentials()
        if credentials is None:
            return {"error": "invalid_request"}, 400
        return view(*credentials)

    return wrapper


def read_token():
    """Return the claims of the request's bearer token, or None if there is no valid one."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    try:
        claims = jwt.decode(token.strip(), SECRET_KEY, algorithms=["HS256"])
    except jwt.InvalidTokenError:
        return None
    return None if claims["jti"] in revoked_ids else claims


def needs_token(view):
    @wraps(view)
    def wrapper():
        g.claims = read_token()
        if g.claims is None:
            return {"error": "invalid_token"}, 401, {"WWW-Authenticate": "Bearer"}
        return view()

    return wrapper


def password_is_right(username, password):
    """Check the password; the answer for an unknown user takes as long."""
    if username not in password_hashes:
        generate_password_hash(password)
        return False
    return check_password_hash(password_hashes[username], password)


@app.post("/register")
@takes_credentials
def register(username, password):
    taken = username in password_hashes
    password_hashes[username] = generate_password_hash(password)
    if taken:
        return {"error": "username_taken"}, 409
    return {"username": username}, 201


@app.post("/login")
@takes_credentials
def login(username, password):
    if not password_is_right(username, password):
        return {"error": "invalid_credentials"}, 401
    now = int(time.time())
    claims = {"sub": username, "iat": now, "exp": now + LIFETIME_SECONDS, "jti": uuid.uuid4().hex}
    token = jwt.encode(claims, SECRET_KEY, algorithm="HS256")
    return {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME_SECONDS}


@app.get("/me")
@needs_token
def me():
    return {"username": g.claims["sub"]}


@app.post("/logout")
@needs_token
def logout():
    revoked_ids.add(g.claims["jti"])
    return "", 204
