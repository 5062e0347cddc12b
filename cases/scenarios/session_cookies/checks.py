"""Hidden checks of the scenario session_cookies: a shop whose sessions are kept on the server."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookies import SimpleCookie

ADA = {"username": "ada", "password": "rabbit-hole-7"}
BO = {"username": "bo", "password": "red-brick-88"}


def is_answer(response, status, expected):
    request = response.request
    asked = f"{request.method} {request.url.raw_path.decode()} with {request.content.decode()!r}"
    assert response.status_code == status, f"{asked} answered {response.status_code}, expected {status}"
    assert response.json() == expected, f"{asked} answered {response.json()}, expected {expected}"


def removes(morsel):
    """Whether a cookie is sent only to make the browser forget it."""
    if morsel["max-age"]:
        return int(morsel["max-age"]) <= 0
    return bool(morsel["expires"]) and parsedate_to_datetime(morsel["expires"]) < datetime.now(UTC)


def sent_cookies(response):
    """Return the cookies that an answer gives to the browser, without those that it removes."""
    cookies = [SimpleCookie(line) for line in response.headers.get_list("set-cookie")]
    return [morsel for cookie in cookies for morsel in cookie.values() if not removes(morsel)]


def session_cookie(response):
    found = sent_cookies(response)
    assert len(found) == 1, f"a session begins with {len(found)} cookies, expected one"
    return found[0]


def add(client, item="tea", count=1, **options):
    return client.post("/cart", json={"item": item, "count": count}, **options)


def login(client, given=ADA, **more):
    response = client.post("/login", json=given | more)
    is_answer(response, 200, {"user": given["username"]})
    return response


def with_id(cookie, value=None):
    return {"Cookie": f"{cookie.key}={cookie.value if value is None else value}"}


def check_carts(client, new_client):
    """Every browser has a cart of its own, in which counts add up."""
    other = new_client()
    is_answer(add(client, "tea", 2), 200, {"items": {"tea": 2}})
    is_answer(add(other, "pot", 10), 200, {"items": {"pot": 10}})
    is_answer(add(client, "cup", 1), 200, {"items": {"tea": 2, "cup": 1}})
    is_answer(add(client, "tea", 10), 200, {"items": {"tea": 12, "cup": 1}})
    for _ in range(2):
        is_answer(client.get("/cart"), 200, {"items": {"tea": 12, "cup": 1}})
    is_answer(other.get("/cart"), 200, {"items": {"pot": 10}})


def check_no_session_without_need(client):
    """Whoever has nothing to keep gets no cookie."""
    for response, status, expected in (
        (client.get("/cart"), 200, {"items": {}}),
        (client.get("/me"), 401, {"error": "login needed"}),
        (add(client, "hat"), 400, {"error": "invalid"}),
        (client.post("/login", json=ADA | {"password": "guess"}), 401, {"error": "wrong"}),
        (client.post("/login", json={}), 400, {"error": "invalid"}),
    ):
        is_answer(response, status, expected)
        found = response.headers.get_list("set-cookie")
        assert not found, f"{response.request.method} {response.request.url.path} with {status} sets {found}"


def check_reading_sends_no_cookie(client):
    """Within a session, too, answers to reading and refused requests set no cookie."""
    add(client)
    login(client)
    for response in (
        client.get("/cart"),
        client.get("/me"),
        add(client, "hat"),
        client.post("/login", json=BO | {"password": "guess"}),
    ):
        found = response.headers.get_list("set-cookie")
        assert not found, f"{response.request.method} {response.request.url.path} sets {found}"


def check_attributes_of_the_cookie(client, new_client):
    """The cookie is an opaque id, for this site only, and ends with the browser."""
    for response in (add(client), login(client), login(new_client()), login(new_client(), remember=False)):
        cookie = session_cookie(response)
        what = f"the cookie of {response.request.method} {response.request.url.path}"
        assert re.fullmatch(r"[A-Za-z0-9_-]{20,200}", cookie.value), f"{what} has the value {cookie.value!r}"
        assert cookie["httponly"], f"{what} is not HttpOnly"
        assert cookie["samesite"].lower() == "lax", f"{what} has SameSite {cookie['samesite']!r}"
        assert cookie["path"] == "/", f"{what} has the path {cookie['path']!r}"
        assert not cookie["max-age"] and not cookie["expires"], f"{what} outlives the browser: {cookie.OutputString()}"


def check_remembered_login(client):
    """Who wants to be remembered has a cookie for 30 days; the next login decides anew."""
    add(client)
    first = login(client, remember=True)
    for response in (first, add(client, "cup")):
        for cookie in sent_cookies(response):
            assert cookie["max-age"] == "2592000", f"a remembered user's cookie has Max-Age {cookie['max-age']!r}"
            assert cookie["httponly"] and cookie["path"] == "/", f"expected HttpOnly, Path=/: {cookie.OutputString()}"
            assert cookie["samesite"].lower() == "lax", f"a remembered cookie has SameSite {cookie['samesite']!r}"
    session_cookie(first)
    is_answer(client.get("/me"), 200, {"user": "ada"})
    cookie = session_cookie(login(client))
    assert not cookie["max-age"] and not cookie["expires"], f"not remembered, but sent {cookie.OutputString()}"


def check_the_id_stays_the_same(client):
    """Changes of the cart do not change the id."""
    cookie = session_cookie(add(client))
    for item in ("tea", "cup"):
        values = [again.value for again in sent_cookies(add(client, item))]
        assert values in ([], [cookie.value]), f"adding to the cart changed the id from {cookie.value} to {values}"
    is_answer(client.get("/cart", headers=with_id(cookie)), 200, {"items": {"tea": 2, "cup": 1}})


def check_login_keeps_the_cart(client, new_client):
    """What was in the cart before the login is there after it, and can be added to."""
    add(client, "tea", 3)
    login(client)
    is_answer(client.get("/me"), 200, {"user": "ada"})
    is_answer(client.get("/cart"), 200, {"items": {"tea": 3}})
    is_answer(add(client, "pot"), 200, {"items": {"tea": 3, "pot": 1}})
    login(client, BO)
    is_answer(client.get("/me"), 200, {"user": "bo"})
    is_answer(client.get("/cart"), 200, {"items": {"tea": 3, "pot": 1}})
    other = new_client()
    is_answer(other.get("/me"), 401, {"error": "login needed"})
    login(other)
    is_answer(other.get("/cart"), 200, {"items": {}})
    is_answer(add(other, "cup"), 200, {"items": {"cup": 1}})
    is_answer(other.get("/me"), 200, {"user": "ada"})


def check_logout(client, new_client):
    """A logout ends the session, cart included, and removes the cookie, but ends no other session."""
    other = new_client()
    login(other)
    for begin in (add, login):
        begin(client)
        assert len(client.cookies) == 1, f"a session has {len(client.cookies)} cookies, expected one"
        response = client.post("/logout")
        assert response.status_code == 204, f"a logout was answered with {response.status_code}, expected 204"
        assert not client.cookies, "the browser still has the cookie after the logout"
        is_answer(client.get("/me"), 401, {"error": "login needed"})
        is_answer(client.get("/cart"), 200, {"items": {}})
    response = client.post("/logout")
    assert response.status_code == 204, f"without a session a logout answered {response.status_code}, expected 204"
    is_answer(other.get("/me"), 200, {"user": "ada"})


def check_unknown_ids_are_no_session(client, new_client):
    """With an id that is not that of a session everything goes as without a cookie."""
    cookie = session_cookie(login(new_client()))
    for value in (
        "",
        "x",
        "0" * len(cookie.value),
        cookie.value[:-1],
        cookie.value + "A",
        "../../etc",
        "a" * 500,
        "%00",
    ):
        header = with_id(cookie, value)
        is_answer(client.get("/cart", headers=header), 200, {"items": {}})
        is_answer(client.get("/me", headers=header), 401, {"error": "login needed"})
        response = new_client().post("/logout", headers=header)
        assert response.status_code == 204, f"with the id {value!r} a logout answered {response.status_code}"
        browser = new_client()
        is_answer(add(browser, headers=header), 200, {"items": {"tea": 1}})
        is_answer(browser.get("/cart"), 200, {"items": {"tea": 1}})
    is_answer(client.get("/me", headers=with_id(cookie)), 200, {"user": "ada"})


def check_malformed_additions(client):
    """Wrong items, counts and bodies are 400 and leave the cart as it is."""
    add(client)
    for body in (
        {"item": "hat", "count": 1},
        {"item": "Tea", "count": 1},
        {"item": None, "count": 1},
        {"item": ["tea"], "count": 1},
        {"count": 1},
        {"item": "tea"},
        *({"item": "tea", "count": count} for count in (0, -1, 11, "2", True, 1.5, None, [1])),
        [],
        None,
        "tea",
    ):
        is_answer(client.post("/cart", json=body), 400, {"error": "invalid"})
    response = client.post("/cart", content=b"{", headers={"Content-Type": "application/json"})
    is_answer(response, 400, {"error": "invalid"})
    is_answer(client.get("/cart"), 200, {"items": {"tea": 1}})


def check_refused_logins(client):
    """Wrong and malformed logins leave the session as it is."""
    add(client)
    login(client, BO)
    for given in ({"password": "guess"}, {"username": "eve"}, {"username": "bo"}, {"password": ""}):
        is_answer(client.post("/login", json=ADA | given), 401, {"error": "wrong"})
    for body in (
        {},
        {"username": "ada"},
        {"password": "rabbit-hole-7"},
        ADA | {"password": None},
        ADA | {"username": 7},
        ADA | {"remember": "true"},
        ADA | {"remember": 1},
        [],
        "ada",
    ):
        is_answer(client.post("/login", json=body), 400, {"error": "invalid"})
    response = client.post("/login", content=b"{", headers={"Content-Type": "application/json"})
    is_answer(response, 400, {"error": "invalid"})
    is_answer(client.get("/me"), 200, {"user": "bo"})
    is_answer(client.get("/cart"), 200, {"items": {"tea": 1}})


def check_other_methods(client):
    """Methods that a route does not have are 405."""
    for method, path in (("DELETE", "/cart"), ("POST", "/me"), ("GET", "/login"), ("GET", "/logout")):
        status = client.request(method, path).status_code
        assert status == 405, f"{method} {path} answered {status}, expected 405"
