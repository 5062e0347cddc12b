"""Hidden checks of the scenario safe_redirect: back to the wanted page, but not to another site."""

from urllib.parse import parse_qs, quote, urlsplit

ADA = {"username": "ada", "password": "rabbit-hole-7"}
FOLLOWED = [
    "/account",
    "/",
    "/reports/7?tab=2&sort=a",
    "/reports/7?q=a%26b%20c&empty=",
    "/reports/7?from=http://other.test/start",
    "/reports/7?path=//other.test",
    "/reports/7#part-2",
    "/account?a=1#b?c",
    "/a:b/c@d/~e",
]
NOT_FOLLOWED = [
    None,
    "",
    7,
    True,
    ["/account"],
    {"path": "/account"},
    "account",
    "reports/7",
    "?tab=2",
    "./account",
    "../account",
    "http://other.test/account",
    "https://other.test",
    "http://127.0.0.1:5000/account",
    "//other.test/account",
    "//127.0.0.1:5000/account",
    "mailto:ada@other.test",
    "/account\nLocation: /",
    "/account\n",
    "/two words",
    "/back\\slash",
]


def asked(response):
    """Say which request an answer belongs to."""
    request = response.request
    return f"{request.method} {request.url.raw_path.decode()} with {request.content.decode()!r}"


def status_is(response, status):
    assert response.status_code == status, f"{asked(response)} answered {response.status_code}, expected {status}"


def is_answer(response, status, expected):
    status_is(response, status)
    assert response.json() == expected, f"{asked(response)} answered {response.json()}, expected {expected}"


def leads_to(response, target):
    status_is(response, 303)
    location = response.headers.get("location")
    assert location == target, f"{asked(response)} has the Location {location!r}, expected {target!r}"


def login(client, **given):
    return client.post("/login", json=ADA | given)


def wanted_page(response):
    """Return what `next` says in the redirection of a visitor to the login."""
    status_is(response, 303)
    location = response.headers.get("location", "")
    parts = urlsplit(location)
    assert location.startswith("/login?"), f"{asked(response)} leads a visitor to {location!r}"
    found = parse_qs(parts.query, keep_blank_values=True, strict_parsing=True)
    assert list(found) == ["next"] and not parts.fragment, f"expected next and nothing else in {location!r}"
    assert len(found["next"]) == 1, f"expected next once in {location!r}"
    return found["next"][0]


def check_login_leads_to_the_wanted_page(client, new_client):
    """A path of this site is followed exactly as it is."""
    for target in FOLLOWED:
        leads_to(login(new_client(), next=target), target)
    response = login(client, next="/account")
    leads_to(response, "/account")
    cookies = response.headers.get_list("set-cookie")
    assert cookies, "a login sets no cookie"
    assert all("httponly" in cookie.lower() for cookie in cookies), f"a cookie is not HttpOnly: {cookies}"
    is_answer(client.get("/account"), 200, {"user": "ada"})
    is_answer(client.get("/reports/12?tab=2"), 200, {"user": "ada", "report": 12})


def check_login_leads_home_otherwise(client, new_client):
    """Without a next, or with one that is no path of this site, the way is home; the login itself is done."""
    leads_to(login(client), "/home")
    is_answer(client.get("/account"), 200, {"user": "ada"})
    is_answer(client.get("/home"), 200, {"page": "home"})
    for wanted in NOT_FOLLOWED:
        visitor = new_client()
        leads_to(login(visitor, next=wanted), "/home")
        is_answer(visitor.get("/account"), 200, {"user": "ada"})


def check_wrong_logins(client):
    """Wrong names and passwords are 401, malformed bodies 400, without redirection and session."""
    for given in ({"password": "guess"}, {"username": "eve"}, {"username": "bo"}, {"password": ""}):
        response = login(client, next="/account", **given)
        is_answer(response, 401, {"error": "wrong"})
        assert "location" not in response.headers, f"a refused login leads to {response.headers['location']}"
    for body in ({}, {"username": "ada"}, ADA | {"password": None}, ADA | {"username": 7}, [], None, "ada"):
        is_answer(client.post("/login", json=body), 400, {"error": "invalid"})
    response = client.post("/login", content=b"{", headers={"Content-Type": "application/json"})
    is_answer(response, 400, {"error": "invalid"})
    status_is(client.get("/account"), 303)


def check_visitors_are_sent_to_the_login(client):
    """The login is told path and query of the wanted page, exactly as they were asked for."""
    for target in (
        "/account",
        "/reports/7",
        "/reports/7?tab=2&sort=a",
        "/reports/7?q=a%26b%20c&empty=",
        "/reports/7?q=caf%C3%A9+au+lait%2B",
        "/reports/7?from=http://other.test/start?a=1",
        "/account?next=/reports/7&x=%2523",
    ):
        found = wanted_page(client.get(target))
        assert found == target, f"a visitor who wanted {target} is sent to the login with next {found!r}"
    is_answer(client.get("/home"), 200, {"page": "home"})


def check_the_whole_way(client):
    """From the wanted page to the login and back."""
    target = "/reports/7?q=a%26b%20c&sort=a"
    sent = client.get(target)
    wanted = wanted_page(sent)
    is_answer(client.get(sent.headers["location"]), 200, {"next": target})
    leads_to(login(client, next=wanted), target)
    is_answer(client.get(target), 200, {"user": "ada", "report": 7})


def check_login_page(client):
    """GET /login tells visitors where the way leads and sends members there."""
    targets = [(target, target) for target in FOLLOWED]
    targets += [(wanted, "/home") for wanted in NOT_FOLLOWED if isinstance(wanted, str)]
    pages = [("/login", "/home")] + [(f"/login?next={quote(wanted, safe='')}", target) for wanted, target in targets]
    for page, target in pages:
        is_answer(client.get(page), 200, {"next": target})
    login(client)
    for page, target in pages:
        leads_to(client.get(page), target)


def check_logout(client, new_client):
    """Logout ends the session and leads where it is told, under the same rule."""
    other = new_client()
    leads_to(other.post("/login", json={"username": "bo", "password": "red-brick-88"}), "/home")
    for wanted, target in [(target, target) for target in FOLLOWED] + [(wanted, "/home") for wanted in NOT_FOLLOWED]:
        leads_to(client.post("/logout", json={"next": wanted}), target)
    login(client)
    is_answer(client.get("/account"), 200, {"user": "ada"})
    leads_to(client.post("/logout", json={"next": "/reports/7"}), "/reports/7")
    assert wanted_page(client.get("/account")) == "/account", "after the logout a visitor is not sent to the login"
    login(client)
    leads_to(client.post("/logout", json={}), "/home")
    status_is(client.get("/account"), 303)
    is_answer(other.get("/account"), 200, {"user": "bo"})


def check_malformed_logouts(client):
    """A logout whose body is not an object is 400 and ends nothing."""
    login(client)
    for content in (b"[]", b"null", b"{", b'"/account"'):
        response = client.post("/logout", content=content, headers={"Content-Type": "application/json"})
        is_answer(response, 400, {"error": "invalid"})
    is_answer(client.get("/account"), 200, {"user": "ada"})


def check_other_methods(client):
    """Methods that a route does not have are 405, for visitors and for members."""
    for _ in range(2):
        for method, path in (("POST", "/home"), ("PUT", "/account"), ("POST", "/reports/7"), ("GET", "/logout")):
            status_is(client.request(method, path), 405)
        login(client)
