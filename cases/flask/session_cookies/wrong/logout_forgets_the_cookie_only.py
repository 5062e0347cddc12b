"""Wrong: a logout removes the cookie from the browser, but not the session from the server."""

import secrets

from flask import Flask, jsonify, request

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
PRODUCTS = ("tea", "cup", "pot")
COOKIE = "session"
THIRTY_DAYS = 30 * 24 * 60 * 60

app = Flask(__name__)
sessions = {}


def current():
    return sessions.get(request.cookies.get(COOKIE), {})


def begin(response, data, max_age=None):
    """Keep `data` under a new id, and send this to the browser."""
    key = secrets.token_urlsafe()
    sessions[key] = data
    response.set_cookie(COOKIE, key, max_age=max_age, httponly=True, samesite="Lax")
    return response


def body():
    found = request.get_json(silent=True)
    return found if isinstance(found, dict) else {}


def invalid():
    return {"error": "invalid"}, 400


@app.get("/cart")
def show_cart():
    return {"items": current().get("cart", {})}


@app.post("/cart")
def add_to_cart():
    given = body()
    item, count = given.get("item"), given.get("count")
    if item not in PRODUCTS or type(count) is not int or not 1 <= count <= 10:
        return invalid()
    data = current()
    known = bool(data)
    cart = data.setdefault("cart", {})
    cart[item] = cart.get(item, 0) + count
    response = jsonify(items=cart)
    return response if known else begin(response, data)


@app.get("/me")
def me():
    user = current().get("user")
    return {"user": user} if user else ({"error": "login needed"}, 401)


@app.post("/login")
def login():
    given = body()
    user, password, remember = given.get("username"), given.get("password"), given.get("remember", False)
    if not isinstance(user, str) or not isinstance(password, str) or not isinstance(remember, bool):
        return invalid()
    if USERS.get(user) != password:
        return {"error": "wrong"}, 401
    data = sessions.pop(request.cookies.get(COOKIE), {})
    data["user"] = user
    return begin(jsonify(user=user), data, max_age=THIRTY_DAYS if remember else None)


@app.post("/logout")
def logout():
    response = app.response_class(status=204)
    response.delete_cookie(COOKIE)
    return response
