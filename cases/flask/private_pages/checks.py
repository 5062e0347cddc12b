"""Hidden checks of flask/private_pages."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

INVALID_NAMES = ("", " ", "\t\n", "x" * 51, 7, None, ["Ada"], {"a": 1}, True)


def asked(response):
    request = response.request
    cookie = "with" if "cookie" in request.headers else "without"
    return f"{request.method} {request.url.path} {cookie} a cookie, body {request.content!r}"


def is_answer(response, status, expected):
    assert response.status_code == status, f"{asked(response)}: status {response.status_code}, expected {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked(response)}: answered {kind!r} instead of JSON"
    assert response.json() == expected, f"{asked(response)}: answered {response.json()}, expected {expected}"


def listed(response, header):
    """Return the members of a header that is a list, in lower case."""
    return {item.strip().lower() for item in response.headers.get(header, "").split(",")} - {""}


def set_name(client, name="Ada"):
    response = client.post("/name", json={"name": name})
    is_answer(response, 200, {"hello": name.strip()})
    return response


def is_personal(response):
    vary, control = listed(response, "vary"), listed(response, "cache-control")
    assert "cookie" in vary, f"{asked(response)}: Vary names {sorted(vary)}, but not Cookie"
    missing = {"private", "no-cache"} - control
    assert not missing, f"{asked(response)}: Cache-Control lacks {sorted(missing)}, it has {sorted(control)}"
    assert "public" not in control, f"{asked(response)}: a personal answer is called public"


def sets_no_cookie(response):
    found = response.headers.get_list("set-cookie")
    assert not found, f"{asked(response)}: sets a cookie: {found}"


def check_guests_are_greeted(client):
    """Without a name the greeting is for a guest."""
    for _ in range(2):
        is_answer(client.get("/hello"), 200, {"hello": "guest"})


def check_name_is_greeted(client):
    """A stored name is greeted from then on, and can be replaced."""
    for name in ("Ada", "A", "Grace Hopper", "Zoë", "x" * 50, "guest"):
        set_name(client, name)
        for _ in range(2):
            is_answer(client.get("/hello"), 200, {"hello": name})


def check_white_space_is_removed(client):
    """White space at the ends does not belong to the name and does not count."""
    for sent, name in ((" Ada", "Ada"), ("Ada\n", "Ada"), ("\t Ada  B ", "Ada  B"), (" " * 60 + "x" * 50, "x" * 50)):
        set_name(client, sent)
        is_answer(client.get("/hello"), 200, {"hello": name})


def check_sessions_are_apart(client, new_client):
    """Every client has a name of its own."""
    other = new_client()
    set_name(client, "Ada")
    is_answer(other.get("/hello"), 200, {"hello": "guest"})
    set_name(other, "Bo")
    is_answer(client.get("/hello"), 200, {"hello": "Ada"})
    is_answer(other.get("/hello"), 200, {"hello": "Bo"})
    assert client.post("/logout").status_code == 204
    is_answer(other.get("/hello"), 200, {"hello": "Bo"})


def check_invalid_names(client):
    """Invalid names and bodies are 400 and leave the session alone."""
    for expected in ("guest", "Ada"):
        for name in INVALID_NAMES:
            response = client.post("/name", json={"name": name})
            is_answer(response, 400, {"error": "invalid"})
            sets_no_cookie(response)
        for content in (b"", b"{", b"[]", b"null", b'"Ada"', b"{}", b'{"Name": "Ada"}'):
            response = client.post("/name", content=content, headers={"Content-Type": "application/json"})
            is_answer(response, 400, {"error": "invalid"})
            sets_no_cookie(response)
        is_answer(client.get("/hello"), 200, {"hello": expected})
        set_name(client)


def check_personal_answers(client):
    """Every answer of /hello, /name and /logout varies by Cookie and is private, for guests and with errors too."""
    for _ in range(2):
        is_personal(client.get("/hello"))
        is_personal(client.post("/name", json={"name": " "}))
        is_personal(client.post("/name", json=[]))
        is_personal(set_name(client))
    is_personal(client.get("/hello"))
    is_personal(client.post("/logout"))
    is_personal(client.post("/logout"))
    is_personal(client.get("/hello"))


def check_public_answer(client):
    """/about is public and does not depend on a cookie."""
    for _ in range(2):
        response = client.get("/about")
        is_answer(response, 200, {"about": "We greet people."})
        vary, control = listed(response, "vary"), listed(response, "cache-control")
        assert not vary & {"cookie", "*"}, f"{asked(response)}: Vary names {sorted(vary)}"
        assert {"public", "max-age=600"} <= control, f"{asked(response)}: Cache-Control has {sorted(control)}"
        wrong = control & {"private", "no-cache", "no-store"}
        assert not wrong, f"{asked(response)}: Cache-Control has {sorted(wrong)}"
        set_name(client)


def check_only_a_name_sets_a_cookie(client):
    """Cookies are set by POST /name and by nothing else, with a cookie in the request or without."""
    sets_no_cookie(client.get("/hello"))
    sets_no_cookie(client.get("/about"))
    assert set_name(client).headers.get_list("set-cookie"), "POST /name sets no cookie"
    for _ in range(2):
        sets_no_cookie(client.get("/hello"))
        sets_no_cookie(client.get("/about"))
    assert set_name(client, "Bo").headers.get_list("set-cookie"), "POST /name with another name sets no cookie"


def check_the_cookie(client):
    """The cookie is HttpOnly, SameSite=Lax and lasts 30 days."""
    cookies = set_name(client).headers.get_list("set-cookie")
    assert len(cookies) == 1, f"POST /name sets {len(cookies)} cookies: {cookies}"
    pairs = [part.strip().partition("=") for part in cookies[0].split(";")[1:]]
    found = {name.lower(): value for name, _, value in pairs}
    assert "httponly" in found, f"the cookie is not HttpOnly: {cookies[0]}"
    assert found.get("samesite", "").lower() == "lax", f"the cookie is not SameSite=Lax: {cookies[0]}"
    assert "max-age" in found or "expires" in found, f"the cookie ends with the browser: {cookies[0]}"
    if "max-age" in found:
        lifetime = timedelta(seconds=int(found["max-age"]))
    else:
        lifetime = parsedate_to_datetime(found["expires"]).replace(tzinfo=UTC) - datetime.now(UTC)
    assert abs(lifetime - timedelta(days=30)) < timedelta(hours=1), f"the cookie lasts {lifetime}, not 30 days"


def check_logout(client):
    """Logout answers 204 without a body, deletes the cookie, and ends the greeting by name."""
    set_name(client)
    response = client.post("/logout")
    assert response.status_code == 204, f"POST /logout answered {response.status_code}, expected 204"
    assert response.content == b"", f"POST /logout answered with a body: {response.content!r}"
    left = list(client.cookies)
    assert not left, f"after the logout the browser still has the cookies {left}"
    is_answer(client.get("/hello"), 200, {"hello": "guest"})
    status = client.post("/logout").status_code
    assert status == 204, f"a second POST /logout answered {status}, expected 204"


def check_changed_cookies(client, new_client):
    """A cookie that was changed counts as none, and is not replaced by another answer."""
    set_name(client)
    (name, value), *_ = client.cookies.items()
    middle = len(value) // 2
    other = "x" if value[middle] != "x" else "y"
    for changed in (value[:middle] + other + value[middle + 1 :], value[:-8], "nonsense", ""):
        response = new_client().get("/hello", headers={"Cookie": f"{name}={changed}"})
        is_answer(response, 200, {"hello": "guest"})
        sets_no_cookie(response)
        is_personal(response)
