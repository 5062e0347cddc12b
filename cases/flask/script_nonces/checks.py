"""Hidden checks: content security policies with nonces, and overrides for single routes."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import quote

POLICY = {
    "default-src": {"'self'"},
    "script-src": {"'self'"},
    "style-src": {"'self'"},
    "object-src": {"'none'"},
    "base-uri": {"'none'"},
    "frame-ancestors": {"'self'"},
}
API_POLICY = {"default-src": {"'none'"}, "frame-ancestors": {"'none'"}}
LEGACY_POLICY = POLICY | {"style-src": {"'self'", "'unsafe-inline'"}}
EMBED_POLICY = POLICY | {"frame-ancestors": {"'self'", "https://partner.test"}}
NONCE = re.compile(r"'nonce-([A-Za-z0-9+/_-]{22,100}={0,2})'")
TEXTS = ("tea & cake", "1 < 2 > 0", 'say "no"', "it's", "Käse 東京", "a\\b", "<b>x</b>", "&lt;", "{{ 7 * 7 }}", "")


class Page(HTMLParser):
    """What a browser would find in a page: title, text shown, value of the input, scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.title = self.shown = ""
        self.inputs, self.scripts, self.within = [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "input":
            self.inputs.append(given)
        elif tag == "script":
            self.scripts.append([given, ""])
            self.within = "script"
        elif tag == "h1" or (tag == "p" and given.get("id") == "shown"):
            self.within = tag

    def handle_endtag(self, tag):
        if tag == self.within:
            self.within = None

    def handle_data(self, data):
        if self.within == "h1":
            self.title += data
        elif self.within == "p":
            self.shown += data
        elif self.within == "script":
            self.scripts[-1][1] += data


def fetch(client, path, status=200, method="GET"):
    response = client.request(method, path)
    assert response.status_code == status, f"{method} {path} answered {response.status_code}, expected {status}"
    for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")):
        found = response.headers.get_list(name)
        assert found == [value], f"{method} {path} has {name} {found}, expected {value!r}"
    return response


def policy_of(response):
    """Return the directives of the policy and its nonce, or None where there is none."""
    path = response.request.url.path
    headers = response.headers.get_list("content-security-policy")
    assert len(headers) == 1, f"{path} has {len(headers)} policies, expected one"
    directives = {}
    for part in filter(str.strip, headers[0].split(";")):
        name, *values = part.split()
        assert name.lower() not in directives, f"{path}: {name} is twice in the policy {headers[0]!r}"
        directives[name.lower()] = set(values)
    nonces = {value for value in directives.get("script-src", ()) if value.startswith("'nonce-")}
    directives["script-src"] = directives.get("script-src", set()) - nonces
    if not directives["script-src"]:
        del directives["script-src"]
    assert len(nonces) < 2, f"{path} has several nonces: {headers[0]!r}"
    if not nonces:
        return directives, None
    found = NONCE.fullmatch(nonces.pop())
    assert found, f"{path}: the nonce has another form in {headers[0]!r}"
    return directives, found[1]


def has_policy(response, expected):
    found, nonce = policy_of(response)
    path = response.request.url.path
    assert found == expected, f"{path} has the policy {found} (nonce aside), expected {expected}"
    return nonce


def is_framed(response, value):
    found = response.headers.get_list("x-frame-options")
    expected = [value] if value else []
    assert found == expected, f"{response.request.url.path} has X-Frame-Options {found}, expected {expected}"


def is_page(response, title, shown):
    """See that the page has this title and shows this text; return it."""
    path = response.request.url.raw_path.decode()
    assert response.headers["content-type"].startswith("text/html"), f"{path} is {response.headers['content-type']}"
    page = Page(response.text)
    assert page.title.strip() == title, f"{path} has the heading {page.title!r}, expected {title!r}"
    assert page.shown.strip() == shown.strip(), f"{path} shows {page.shown!r}, expected {shown!r}"
    values = [given.get("value") or "" for given in page.inputs if given.get("name") == "q"]
    assert values == [shown], f"{path} has inputs q with the values {values}, expected {shown!r}"
    return page


def script_is(response, page, nonce, shown):
    """See that the page's only script is allowed by the policy's nonce and gets the text."""
    path = response.request.url.raw_path.decode()
    assert nonce, f"the policy of {path} has no nonce"
    assert response.headers.get("cache-control") == "no-store", f"{path} may be stored, with its nonce"
    assert len(page.scripts) == 1, f"{path} has {len(page.scripts)} scripts, expected one"
    given, text = page.scripts[0]
    assert given == {"nonce": nonce}, f"the script of {path} has the attributes {given}, the policy the nonce {nonce}"
    found = re.fullmatch(r"const shown = (\".*\");", text.strip(), re.DOTALL)
    assert found, f"the script of {path} is {text!r}, expected const shown = <JSON string>;"
    assert json.loads(found[1]) == shown, f"the script of {path} gets {found[1]}, expected {shown!r} as JSON"


def check_home(client):
    """The home page has the policy, with a nonce that its script carries."""
    response = fetch(client, "/")
    nonce = has_policy(response, POLICY)
    is_framed(response, "SAMEORIGIN")
    script_is(response, is_page(response, "Home", ""), nonce, "")


def check_search(client):
    """The text that was searched for is text: in the paragraph, the input and the script."""
    for text in TEXTS:
        response = fetch(client, f"/search?q={quote(text)}")
        nonce = has_policy(response, POLICY)
        is_framed(response, "SAMEORIGIN")
        script_is(response, is_page(response, "Search", text), nonce, text)
    is_page(fetch(client, "/search"), "Search", "")


def check_nonces_are_fresh(client):
    """Every answer has a nonce of its own, also for one path and one browser."""
    paths = ["/", "/search?q=a", "/embed", "/nowhere"] * 6
    found = [policy_of(fetch(client, path, 404 if path == "/nowhere" else 200))[1] for path in paths]
    assert None not in found, "an answer has no nonce"
    assert len(set(found)) == len(found), f"nonces repeat: {found}"


def check_legacy(client):
    """The legacy page allows inline styles and has neither nonce nor script."""
    for text in ("", 'a "b" <c>'):
        response = fetch(client, f"/legacy?q={quote(text)}")
        assert has_policy(response, LEGACY_POLICY) is None, "the legacy page has a nonce"
        is_framed(response, "SAMEORIGIN")
        page = is_page(response, "Legacy", text)
        assert not page.scripts, f"the legacy page has scripts: {page.scripts}"


def check_embed(client):
    """The page for a partner may be framed by it and is like the others apart from that."""
    for text in ("", 'a "b" <c>'):
        response = fetch(client, f"/embed?q={quote(text)}")
        nonce = has_policy(response, EMBED_POLICY)
        is_framed(response, None)
        script_is(response, is_page(response, "Embed", text), nonce, text)


def check_overrides_do_not_leak(client, new_client):
    """What one route overrides holds for this route only, in any order of requests."""
    expected = {
        "/": (POLICY, "SAMEORIGIN"),
        "/legacy": (LEGACY_POLICY, "SAMEORIGIN"),
        "/embed": (EMBED_POLICY, None),
        "/api/search": (API_POLICY, "DENY"),
        "/search": (POLICY, "SAMEORIGIN"),
    }
    for first in expected:
        for second in expected:
            for browser, path in ((client, first), (new_client(), second)):
                response = fetch(browser, path)
                policy, framing = expected[path]
                nonce = has_policy(response, policy)
                assert (nonce is None) == (path in ("/legacy", "/api/search")), f"{path} has the nonce {nonce}"
                is_framed(response, framing)


def check_api(client):
    """The API has the minimal policy and answers with the text."""
    for text in TEXTS:
        response = fetch(client, f"/api/search?q={quote(text)}")
        assert has_policy(response, API_POLICY) is None, "the policy of the API has a nonce"
        is_framed(response, "DENY")
        assert response.headers["content-type"].startswith("application/json"), "the API does not answer with JSON"
        assert response.json() == {"query": text}, f"the API answered {response.json()}, expected the query {text!r}"
    assert fetch(client, "/api/search").json() == {"query": ""}, "without q the query is not empty"


def check_unknown_paths(client):
    """Unknown paths get a page with the same headers, which shows the path."""
    for path in ("/nowhere", "/search/more", "/api/nothing", "/a b/<i>&amp;\"x'", "/käse"):
        response = fetch(client, quote(path), 404)
        nonce = has_policy(response, POLICY)
        is_framed(response, "SAMEORIGIN")
        script_is(response, is_page(response, "Not found", path), nonce, path)


def check_other_errors(client):
    """Refused methods and failures have the two headers of every answer, and break nothing."""
    for _ in range(2):
        fetch(client, "/fail", 500)
        for path in ("/", "/legacy", "/embed", "/api/search"):
            fetch(client, path, 405, "POST")
    response = fetch(client, "/")
    assert has_policy(response, POLICY), "after errors the home page has no nonce"


def check_head(client):
    """HEAD has the headers of GET, and no body."""
    for path, policy, framing in (
        ("/", POLICY, "SAMEORIGIN"),
        ("/legacy", LEGACY_POLICY, "SAMEORIGIN"),
        ("/embed", EMBED_POLICY, None),
        ("/api/search", API_POLICY, "DENY"),
    ):
        response = fetch(client, path, method="HEAD")
        has_policy(response, policy)
        is_framed(response, framing)
        assert response.content == b"", f"HEAD {path} has a body"
