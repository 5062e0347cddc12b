"""Rules, their order, and where they lead."""

from urllib.parse import quote, unquote, urlsplit

KEY = {"Authorization": "Bearer key-maint-41"}
NOT_FOUND = {"error": "not found"}
RULE = {"from": "/docs/old/", "to": "/docs/guide/", "type": "exact", "status": 301, "force": False}


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def try_rule(client, **fields):
    return client.post("/redirects/", json=RULE | fields, headers=KEY)


def rule(client, source, target, **fields):
    fields = RULE | {"from": source, "to": target} | fields
    made = expect(try_rule(client, **fields), 201, f"new rule {fields}").json()
    assert made == {"id": made.get("id")} | fields, f"the new rule is {made}, expected {fields} and an id"
    return made["id"]


def prefix(client, source, target, **fields):
    return rule(client, source, target, type="prefix", **fields)


def leads(client, address, target, status=301, query=""):
    """Follow nothing: the first answer leads to the target at once."""
    response = expect(client.get(address), status, f"GET {address}")
    location = response.headers.get("Location", "")
    parts = urlsplit(location)
    assert location.startswith("/") and not parts.netloc, (
        f"GET {address} leads to {location!r}, not a path of this site"
    )
    assert unquote(parts.path) == target, f"GET {address} leads to {location!r}, expected {target!r}"
    assert location.partition("?")[2] == query, f"GET {address} leads to {location!r}, expected the query {query!r}"
    assert "?" in location or not query, f"GET {address} leads to {location!r}, without the query"
    assert not location.endswith("?"), f"GET {address} leads to {location!r}, with a question mark too many"
    assert location.isascii() and " " not in location, f"GET {address} leads to {location!r}, which is no URL"
    return location


def is_missing(client, address):
    expect(client.get(address), 404, f"GET {address}", NOT_FOUND)


def is_page(client, address, title):
    expect(client.get(address), 200, f"GET {address}", {"title": title})


def ids(client):
    return [found["id"] for found in expect(client.get("/redirects/", headers=KEY), 200, "rules").json()["redirects"]]


def check_pages(client):
    """Pages are served, everything else below /docs/ is 404."""
    is_page(client, "/docs/guide/", "Guide")
    is_page(client, "/docs/guide/install/?tab=2", "Installation")
    is_page(client, "/docs/api/", "API")
    for address in ("/docs/", "/docs/guide", "/docs/guide/install/x", "/docs/Guide/", "/docs/old/", "/docs//guide/"):
        is_missing(client, address)
    expect(client.head("/docs/api/"), 200, "HEAD /docs/api/")


def check_exact_rules(client):
    """An exact rule moves one address, to whatever path of the site."""
    rule(client, "/docs/old/", "/docs/guide/")
    rule(client, "/docs/start.html", "/home", status=302)
    rule(client, "/docs/", "/")
    leads(client, "/docs/old/", "/docs/guide/")
    leads(client, "/docs/start.html", "/home", 302)
    leads(client, "/docs/", "/")
    for address in ("/docs/old", "/docs/old/x", "/docs/old//", "/docs/start.html/", "/docs/start", "/docs/new"):
        is_missing(client, address)
    response = expect(client.head("/docs/old/"), 301, "HEAD /docs/old/")
    assert response.headers.get("Location") == "/docs/guide/", "HEAD has another Location than GET"


def check_prefix_rules(client):
    """A prefix rule moves everything below, and carries the rest over."""
    prefix(client, "/docs/v1/", "/archive/v1/")
    prefix(client, "/docs/v2/", "/docs/", status=302)
    leads(client, "/docs/v1/", "/archive/v1/")
    leads(client, "/docs/v1/a/b.html", "/archive/v1/a/b.html")
    leads(client, "/docs/v1/v1/docs/v1/", "/archive/v1/v1/docs/v1/")
    leads(client, "/docs/v2/guide/install/", "/docs/guide/install/", 302)
    leads(client, "/docs/v2/nowhere", "/docs/nowhere", 302)
    for address in ("/docs/v1", "/docs/v11/", "/docs/x/docs/v1/", "/docs/V1/a"):
        is_missing(client, address)


def check_queries_are_kept(client):
    """The query string goes along as it was sent, and nothing is added where there is none."""
    rule(client, "/docs/old/", "/docs/guide/")
    prefix(client, "/docs/v1/", "/docs/v2/")
    prefix(client, "/docs/v2/", "/archive/")
    for query in ("a=1", "q=a%26b%20c&empty=&q=2", "x=%C3%A9+y%2B", "next=//evil.test/?a", "flag", "a=1?b=2"):
        leads(client, f"/docs/old/?{query}", "/docs/guide/", query=query)
        leads(client, f"/docs/v1/x?{query}", "/archive/x", query=query)
    leads(client, "/docs/old/?", "/docs/guide/")


def check_rest_is_encoded(client):
    """Whatever characters the rest has, the location stands for the same path."""
    prefix(client, "/docs/v1/", "/archive/")
    for rest in (
        "two words",
        "caf\u00e9/\u6771\u4eac",
        "100%",
        "50%25",
        "a?b=c",
        "a#part",
        "a;b,c",
        'say "no"',
        "<b>",
        "a\\b",
        "%2e",
    ):
        leads(client, "/docs/v1/" + quote(rest), "/archive/" + rest)
        leads(client, f"/docs/v1/{quote(rest)}?a=1", "/archive/" + rest, query="a=1")
    for rest in ("a%0d%0aSet-Cookie:%20x=1", "a%0Ab", "%0d", "a%09b"):
        response = expect(client.get(f"/docs/v1/{rest}"), 301, f"GET /docs/v1/{rest}")
        assert "set-cookie" not in response.headers, f"the path {rest} has put a header into the answer"
        found = unquote(response.headers["Location"])
        assert found == "/archive/" + unquote(rest), f"GET /docs/v1/{rest} leads to {found!r}"


def check_pages_come_before_rules(client):
    """Only a forced rule hides a page."""
    rule(client, "/docs/api/", "/docs/guide/")
    prefix(client, "/docs/guide/", "/archive/")
    is_page(client, "/docs/api/", "API")
    is_page(client, "/docs/guide/install/", "Installation")
    leads(client, "/docs/guide/more", "/archive/more")
    prefix(client, "/docs/guide/", "/hidden/", force=True, status=302)
    leads(client, "/docs/guide/install/", "/hidden/install/", 302)
    leads(client, "/docs/guide/more", "/archive/more")
    is_page(client, "/docs/api/", "API")
    rule(client, "/docs/api/", "/forced", force=True)
    leads(client, "/docs/api/", "/forced")


def check_order_of_rules(client):
    """The first rule that matches counts; the order can be changed, and new rules come last."""
    first = prefix(client, "/docs/v1/", "/a/")
    second = rule(client, "/docs/v1/x", "/b", status=302)
    third = prefix(client, "/docs/v1/", "/c/")
    assert ids(client) == [first, second, third], f"the rules are {ids(client)}, expected the order of their creation"
    leads(client, "/docs/v1/x", "/a/x")
    for wanted, target, status in (([second, first, third], "/b", 302), ([third, second, first], "/c/x", 301)):
        response = client.put("/redirects/order/", json={"ids": wanted}, headers=KEY)
        found = [one["id"] for one in expect(response, 200, f"order {wanted}").json()["redirects"]]
        assert found == wanted == ids(client), f"the order {wanted} was answered with {found}, then it is {ids(client)}"
        leads(client, "/docs/v1/x", target, status)
    fourth = rule(client, "/docs/v1/x", "/d")
    assert ids(client) == [third, second, first, fourth], f"a new rule is not the last one: {ids(client)}"
    leads(client, "/docs/v1/x", "/c/x")
    expect(client.delete(f"/redirects/{third}/", headers=KEY), 204, "deletion")
    leads(client, "/docs/v1/x", "/b", 302)
    expect(client.delete(f"/redirects/{second}/", headers=KEY), 204, "deletion")
    fifth = rule(client, "/docs/v1/y", "/e")
    assert ids(client) == [first, fourth, fifth], f"after two deletions and a new rule the rules are {ids(client)}"
    expect(client.delete(f"/redirects/{third}/", headers=KEY), 404, "second deletion", NOT_FOUND)


def check_invalid_orders(client):
    """An order has each rule once."""
    one, two = rule(client, "/docs/a", "/a"), rule(client, "/docs/b", "/b")
    for wanted in ([one], [two, two], [two, one, one], [two, one, two + 9], [], [str(two), one], None, "x", {"0": one}):
        response = client.put("/redirects/order/", json={"ids": wanted}, headers=KEY)
        expect(response, 422, f"order {wanted}", {"error": "invalid"})
    for content in (b"{}", b"[]", b"{", f"[{two}, {one}]".encode()):
        headers = KEY | {"Content-Type": "application/json"}
        response = client.put("/redirects/order/", content=content, headers=headers)
        expect(response, 422, f"order {content!r}", {"error": "invalid"})
    assert ids(client) == [one, two], f"a refused order has changed the rules to {ids(client)}"


def check_chains_end_at_once(client):
    """The answer leads to the end of a chain, permanently only if all its rules are permanent."""
    prefix(client, "/docs/v1/", "/docs/v2/")
    prefix(client, "/docs/v2/", "/docs/v3/", status=302)
    rule(client, "/docs/v3/a", "/docs/v4")
    rule(client, "/docs/v4", "/docs/api/")
    leads(client, "/docs/v1/a?x=1", "/docs/api/", 302, query="x=1")
    leads(client, "/docs/v1/b", "/docs/v3/b", 302)
    leads(client, "/docs/v2/a", "/docs/api/", 302)
    leads(client, "/docs/v3/a", "/docs/api/", 301)
    rule(client, "/docs/api/", "/docs/guide/")
    leads(client, "/docs/v3/a", "/docs/api/", 301)
    rule(client, "/docs/api/", "/docs/guide/install/", force=True, status=302)
    leads(client, "/docs/v3/a", "/docs/guide/install/", 302)


def check_length_of_chains(client):
    """Five rules may apply, a sixth makes the page missing."""
    for number in range(6):
        rule(client, f"/docs/r{number}", f"/docs/r{number + 1}")
    leads(client, "/docs/r1", "/docs/r6")
    leads(client, "/docs/r5", "/docs/r6")
    is_missing(client, "/docs/r0")


def check_loops_are_missing_pages(client):
    """A rule that leads back, to itself or ever further, makes the page missing."""
    rule(client, "/docs/self", "/docs/self")
    rule(client, "/docs/a", "/docs/b")
    rule(client, "/docs/b", "/docs/c", status=302)
    rule(client, "/docs/c", "/docs/a")
    prefix(client, "/docs/grow/", "/docs/grow/grow/")
    prefix(client, "/docs/ping/", "/docs/pong/")
    prefix(client, "/docs/pong/", "/docs/ping/")
    rule(client, "/docs/into", "/docs/a")
    rule(client, "/docs/api/", "/docs/api/", force=True)
    for address in ("self", "a", "b", "c", "grow/", "grow/x", "ping/", "pong/x?a=1", "into", "api/"):
        is_missing(client, f"/docs/{address}")
    is_page(client, "/docs/guide/", "Guide")


def check_targets_stay_on_this_site(client):
    """A target that a browser would take for another site is a missing page."""
    prefix(client, "/docs/v1/", "/")
    prefix(client, "/docs/v2/", "/docs/v1/")
    leads(client, "/docs/v1/a//b", "/a//b")
    leads(client, "/docs/v1/", "/")
    leads(client, "/docs/v2/docs/guide/", "/docs/guide/")
    for address in (
        "v1//evil.test/x",
        "v1/%2Fevil.test",
        "v2//evil.test",
        "v1///evil.test",
        "v1//evil.test?a=1",
    ):
        is_missing(client, f"/docs/{address}")


def check_invalid_rules(client):
    """Addresses and fields that are not as described are 422, and the rule is not kept."""
    bad = [
        "docs/x",
        "",
        "/docs//x",
        "//docs/x",
        "/docs/a b",
        "/docs/a?b",
        "/docs/a#b",
        "/docs/a%20b",
        "/docs/\u00e9",
        "/docs/a\\b",
    ]
    bad += [
        "/docs/a\n",
        "/docs/a\r\nb",
        "http://app.test/docs/x",
        "/docs/" + "x" * 195,
        "/docs/<b>",
        None,
        7,
        ["/docs/x"],
    ]
    for address in [*bad, "/home", "/", "/docs", "/Docs/x", "/docsx/"]:
        expect(try_rule(client, **{"from": address}), 422, f"from {address!r}", {"error": "invalid"})
    for address in [*bad, "//evil.test/x", "https://evil.test/", "/\\evil.test", "///", "//"]:
        expect(try_rule(client, to=address), 422, f"to {address!r}", {"error": "invalid"})
    for fields in (
        {"type": "page"},
        {"type": None},
        {"status": 303},
        {"status": "301"},
        {"status": None},
        {"status": 200},
        {"force": 1},
        {"force": "yes"},
        {"force": None},
        {"type": "prefix", "from": "/docs/x"},
        {"type": "prefix", "to": "/x"},
    ):
        expect(try_rule(client, **fields), 422, f"rule with {fields}", {"error": "invalid"})
    for name in RULE:
        rest = {key: value for key, value in RULE.items() if key != name}
        response = client.post("/redirects/", json=rest, headers=KEY)
        expect(response, 422, f"rule without {name}", {"error": "invalid"})
    for content in (b"{", b"", b"[]", b"null"):
        headers = KEY | {"Content-Type": "application/json"}
        response = client.post("/redirects/", content=content, headers=headers)
        expect(response, 422, f"rule {content!r}", {"error": "invalid"})
    assert ids(client) == [], "refused rules are kept"
    rule(client, "/docs/" + "x" * 194, "/a/B/0-9._~")


def check_key_is_needed(client):
    """Rules are seen and changed with the key only."""
    pk = rule(client, "/docs/old/", "/docs/guide/")
    for value in (None, "Bearer key-maint-42", "key-maint-41"):
        headers = {"Authorization": value} if value else {}
        for method, path, body in (
            ("GET", "/redirects/", None),
            ("POST", "/redirects/", RULE),
            ("PUT", "/redirects/order/", {"ids": [pk]}),
            ("DELETE", f"/redirects/{pk}/", None),
        ):
            response = client.request(method, path, json=body, headers=headers)
            expect(response, 401, f"{method} {path} with key {value!r}", {"error": "unauthorized"})
    assert ids(client) == [pk], "rules were changed without the key"


def check_other_methods(client):
    """Methods that a route does not name are 405."""
    pk = rule(client, "/docs/old/", "/docs/guide/")
    paths = [("PUT", "/redirects/"), ("GET", "/redirects/order/"), ("GET", f"/redirects/{pk}/"), ("POST", "/docs/api/")]
    for method, path in [*paths, ("POST", "/docs/old/")]:
        expect(client.request(method, path, json={}, headers=KEY), 405, f"{method} {path}")


def check_rules_survive_a_restart(client, restart):
    """Rules and their order are still there after a restart."""
    one, two = rule(client, "/docs/a", "/b"), rule(client, "/docs/a", "/c", status=302)
    client.put("/redirects/order/", json={"ids": [two, one]}, headers=KEY)
    restart()
    leads(client, "/docs/a", "/c", 302)
    assert ids(client) == [two, one], f"after a restart the rules are {ids(client)}"
