"""Hidden checks of flask/url_watcher."""

from ipaddress import ip_address, ip_network

NEWS, BLOG, SIX = "93.184.215.14", "151.101.1.6", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
LONG = "a" * 63
NAMES = {
    "news.test": [[NEWS]],
    "blog.news.test": [[BLOG]],
    "six.test": [[SIX]],
    "both.test": [[NEWS, SIX]],
    "inside.test": [["10.0.0.7"]],
    "half.test": [[NEWS, "10.0.0.7"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "empty.test": [[]],
    "a-1.b2.c3-d": [[NEWS]],
    "a.b": [[NEWS]],
    f"{LONG}.{LONG}": [[NEWS]],
    f"a{LONG}.test": [[NEWS]],
    f"a.b{LONG}": [[NEWS]],
    "localhost": [[NEWS]],
    "1.2": [[NEWS]],
    "news.1test": [[NEWS]],
}
INTERNAL_V4 = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
"""
INTERNAL_V6 = "2001::/23 2001:db8::/32 2002::/16"


def page(body="hello", status=200):
    return {"status": status, "body": body}


def moved(location, status=302):
    return {"status": status, "location": location}


def build(client, names=None, **servers):
    """Set up the world; the keyword `at_<port>` holds the pages of the host NEWS on that port."""
    at_news = {f"{NEWS} {key.removeprefix('at_')}": pages for key, pages in servers.items()}
    inside = {f"{address} 80": {"/": page("secret")} for address in ("127.0.0.1", "10.0.0.7", "169.254.169.254")}
    response = client.put("/world", json={"names": NAMES | (names or {}), "servers": inside | at_news})
    assert response.status_code == 204, f"PUT /world answered {response.status_code}, expected 204"


def is_answer(response, status, expected, what):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    assert response.json() == expected, f"{what}: answered {response.json()}, expected {expected}"


def watch(client, url):
    response = client.post("/watches", json={"url": url})
    assert response.status_code == 201, f"the URL {url!r} was answered with {response.status_code}, expected 201"
    body = response.json()
    assert body.get("url") == url, f"the URL {url!r} came back as {body}"
    return body["id"]


def is_refused(client, *urls):
    for url in urls:
        is_answer(client.post("/watches", json={"url": url}), 422, {"error": "not allowed"}, f"the URL {url!r}")


def look(client, number):
    return client.post(f"/watches/{number}/check")


def fetched(client, *expected):
    """Compare the log with the expected fetches, each an address, a port and a target."""
    found = [(entry["address"], entry["port"], entry["target"]) for entry in client.get("/log").json()]
    assert found == list(expected), f"fetched were {found}, expected {list(expected)}"


def literal(address):
    return f"http://[{address}]/" if address.version == 6 else f"http://{address}/"


def check_watches_are_stored(client):
    """URLs that are allowed are stored as they were given; nothing is fetched."""
    build(client)
    urls = ["http://news.test", "HTTPS://News.Test:8443/a?b=c#d", f"http://{NEWS}/", f"http://[{SIX}]:8000/"]
    urls += ["http://news.test.", "http://a-1.b2.c3-d/", "http://both.test?x=1", "https://news.test:80/%20'()*;@"]
    urls += [f"http://[{SIX.upper()}]", "http://BLOG.news.test/#http://inside.test/", "http://news.test?@10.0.0.7/"]
    for number, url in enumerate(urls, 1):
        assert watch(client, url) == number, f"the watch of {url!r} does not have the id {number}"
    expected = [{"id": number, "url": url} for number, url in enumerate(urls, 1)]
    is_answer(client.get("/watches"), 200, expected, "GET /watches")
    fetched(client)


def check_refused_urls_leave_nothing(client):
    """Refused URLs are not stored and use up no id; there is no watch to check."""
    build(client)
    is_answer(client.get("/watches"), 200, [], "GET /watches at first")
    is_refused(client, "http://inside.test/", "ftp://news.test/", "")
    for body in ({}, {"url": None}, {"url": 7}, {"url": ["http://news.test/"]}, [], "http://news.test/"):
        is_answer(client.post("/watches", json=body), 400, {"error": "invalid"}, f"the body {body}")
    for content in (b"", b"{", b"null"):
        response = client.post("/watches", content=content, headers={"Content-Type": "application/json"})
        is_answer(response, 400, {"error": "invalid"}, f"the body {content!r}")
    is_answer(look(client, 1), 404, {"error": "not found"}, "check of watch 1, which was refused")
    assert watch(client, "http://news.test/") == 1, "a refused URL used up an id"
    for number in (0, 2, 99):
        is_answer(look(client, number), 404, {"error": "not found"}, f"check of watch {number}")
    fetched(client)


def check_form_of_a_url(client):
    """Other schemes, missing parts, user names, and characters that do not belong into a URL."""
    build(client)
    is_refused(
        client, "ftp://news.test/", "file:///etc/passwd", "gopher://news.test/", "javascript:alert(1)", "//news.test/"
    )
    is_refused(client, "news.test", "/", "http:news.test", "http:/news.test/", "http://", "http:///a", "http://:80/")
    is_refused(
        client, "http:///news.test/", "httpx://news.test/", "xhttp://news.test/", "http//news.test/", "http://?a"
    )
    is_refused(client, "http://a@news.test/", "http://a:b@news.test/", "http://@news.test/", "http://:@news.test/")
    is_refused(client, "http://news.test:80@blog.news.test/", f"http://10.0.0.7@{NEWS}/")
    is_refused(client, " http://news.test/", "http://news.test/ ", "http://news.test/a b", "http://news.test/\n")
    is_refused(client, "\thttp://news.test/", "http://ne\tws.test/", "http://news.test\\a", "http://news.test/a\\b")
    is_refused(client, "http://news.test/é", "http://news.test/?\x7f", "http://news.test/#\u2028", "http://néws.test/")
    is_refused(client, "http:\\\\news.test\\", "http://new\u017f.test/", "http://news.test\x00/", "h\nttp://news.test/")


def check_ports(client):
    """80, 443 and 8000 to 8999 are allowed with either scheme, other ports are not."""
    build(client)
    for port in (80, 443, 8000, 8001, 8500, 8998, 8999):
        for scheme in ("http", "https"):
            watch(client, f"{scheme}://news.test:{port}/")
    for port in (0, 1, 22, 25, 79, 81, 442, 444, 7999, 9000, 6379, 65535, 65616, 99999, 8000000, -80, "+80", "8o"):
        is_refused(client, f"http://news.test:{port}/", f"https://[{SIX}]:{port}/")
    is_refused(client, "http://news.test:80:80/", "http://news.test:80.0/", "http://news.test:８０/")


def check_form_of_a_host(client):
    """Addresses in other notations are not allowed, public ones included, nor names that are none."""
    build(client)
    is_refused(client, "http://1572394766/", "http://0x5db8d70e/", "http://93.12113678/", "http://93.184.55054/")
    is_refused(client, "http://0135.0270.0327.016/", "http://0x5d.0xb8.0xd7.0xe/", "http://93.184.215.014/")
    is_refused(client, f"http://{NEWS}./", f"http://{NEWS}.1/", "http://93.184.215.256/", "http://93.184.215/")
    is_refused(client, f"http://[{NEWS}]/", f"http://{SIX}/", f"http://[{SIX}%25eth0]/", f"http://[{SIX}%eth0]/")
    is_refused(client, f"http://[{SIX}/", f"http://{SIX}]/", f"http://[{SIX}]a/", "http://[]/", f"http://a[{SIX}]/")
    is_refused(client, "http://[v1.a]/", "http://[news.test]/", f"http://[{SIX}:1]/", f"http://[[{SIX}]]/")
    is_refused(client, "http://localhost/", "http://localhost./", "http://1.2/", "http://news.1test/", "http://test/")
    is_refused(client, "http://news..test/", "http://.news.test/", "http://news.test../", "http://ne_ws.test/")
    is_refused(
        client,
        f"http://a{LONG}.test/",
        f"http://a.b{LONG}/",
        "http://news.test%2f/",
        "http://%6eews.test/",
        "http://news,test/",
    )


def check_addresses_of_names(client):
    """A name is allowed if it has addresses and all of them are public."""
    build(
        client, {"last.test": [[NEWS, BLOG, "192.168.0.1"]], "six-in.test": [[SIX, "fd00::1"]], "nat.test": [["::1"]]}
    )
    for name in (
        f"{LONG}.{LONG}",
        "a.b",
        "news.test",
        "NEWS.test",
        "news.test.",
        "blog.news.test",
        "six.test",
        "both.test",
    ):
        watch(client, f"http://{name}/")
    for name in ("inside.test", "half.test", "mapped.test", "empty.test", "unknown.test", "last.test", "six-in.test"):
        is_refused(client, f"http://{name}/", f"http://{name.upper()}/", f"http://{name}./", f"http://{name}:8080/")
    is_refused(client, "http://nat.test/", "http://news.test.inside.test/")


def check_networks(client):
    """The first and last address of every internal network are refused, those beside it are allowed."""
    build(client)
    for text in (INTERNAL_V4 + INTERNAL_V6).split():
        network = ip_network(text)
        is_refused(client, *(literal(network[place]) for place in (0, 1, -1)))
    for text in (
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
    ):
        watch(client, f"http://{text}/")
    for text in (
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "198.51.99.255",
    ):
        watch(client, f"http://{text}/")
    for text in ("192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255"):
        watch(client, f"http://{text}/")
    for text in ("198.51.101.0", "203.0.114.0", "223.255.255.255", "192.88.99.1", "8.8.8.8"):
        watch(client, f"http://{text}/")
    for text in ("2000::", "2001:200::", "2001:db7:ffff::1", "2001:db9::", "2001:ffff::", "2003::", "3fff:ffff::1"):
        watch(client, literal(ip_address(text)))
    for text in ("::", "::1", "1fff::1", "4000::", "64:ff9b::5db8:d70e", "fc00::1", "fd00::1", "fe80::1", "ff02::1"):
        is_refused(client, literal(ip_address(text)))
    is_refused(
        client, f"http://[::ffff:{NEWS}]/", f"http://[::{NEWS}]/", "http://[2002:5db8:d70e::1]/", "http://[::ffff:1]/"
    )


def check_page_is_fetched(client):
    """The first address, the port and the target are those of the URL; status and body are handed on."""
    for url, target, status, body in (
        ("http://news.test", "/", 200, "hello"),
        ("HTTP://NEWS.test./#part?x=1", "/", 200, "hello"),
        ("http://both.test:80/a/b?c=d&e#f", "/a/b?c=d&e", 404, "found"),
        (f"http://{NEWS}?x=1", "/?x=1", 200, "query"),
        ("https://news.test:80/a//../%41;x", "/a//../%41;x", 404, ""),
    ):
        build(client, at_80={"/": page(), "/a/b?c=d&e": page("found", 404), "/?x=1": page("query")})
        number = watch(client, url)
        is_answer(look(client, number), 200, {"status": status, "url": url, "body": body}, f"check of {url}")
        fetched(client, (NEWS, 80, target))


def check_watches_are_checked_anew(client):
    """Whether a URL is allowed is found out at each check, and the watch stays whatever comes out."""
    build(client, {"moving.test": [[NEWS], [NEWS], ["10.0.0.7"], [], [BLOG], [NEWS]]}, at_80={"/": page()})
    number = watch(client, "http://moving.test/")
    good = {"status": 200, "url": "http://moving.test/", "body": "hello"}
    is_answer(look(client, number), 200, good, "check at a public address")
    is_answer(look(client, number), 422, {"error": "not allowed"}, "check after the name moved inside")
    is_answer(look(client, number), 422, {"error": "not allowed"}, "check after the name lost its address")
    is_answer(look(client, number), 502, {"error": "unreachable"}, "check after the name moved to a dead server")
    is_answer(look(client, number), 200, good, "check after the name moved back")
    fetched(client, (NEWS, 80, "/"), (BLOG, 80, "/"), (NEWS, 80, "/"))
    is_answer(client.get("/watches"), 200, [{"id": 1, "url": "http://moving.test/"}], "GET /watches")


def check_names_are_resolved_once(client):
    """What was found allowed is what is connected to: no name is resolved twice for one fetch."""
    turns = [[NEWS], [NEWS], ["127.0.0.1"], [NEWS], [NEWS], ["127.0.0.1"]]
    build(client, {"turning.test": turns}, at_80={"/": moved("/next"), "/next": page()})
    number = watch(client, "http://turning.test/")
    is_answer(look(client, number), 422, {"error": "not allowed"}, "check with a name that turns inside")
    fetched(client, (NEWS, 80, "/"))
    good = {"status": 200, "url": "http://turning.test/next", "body": "hello"}
    is_answer(look(client, number), 200, good, "check with a name that turns inside afterwards")
    fetched(client, (NEWS, 80, "/"), (NEWS, 80, "/"), (NEWS, 80, "/next"))


def check_redirections_are_followed(client):
    """Redirections are resolved against the URL that was fetched last."""
    for location, url, port, target in (
        ("http://blog.news.test:8000/x?y#z", "http://blog.news.test:8000/x?y#z", 8000, "/x?y"),
        ("//news.test/other", "http://news.test/other", 80, "/other"),
        ("/top", "http://news.test/top", 80, "/top"),
        ("next?page=2", "http://news.test/a/next?page=2", 80, "/a/next?page=2"),
        ("?page=2", "http://news.test/a/b?page=2", 80, "/a/b?page=2"),
        ("../up", "http://news.test/up", 80, "/up"),
        ("https://news.test", "https://news.test", 443, "/"),
    ):
        for status in (301, 302, 303, 307, 308):
            pages = {"/a/b?c": moved(location, status)}
            at = {"at_80": pages, f"at_{port}": (pages if port == 80 else {}) | {target: page()}}
            build(client, {"blog.news.test": [[NEWS]]}, **at)
            number = watch(client, "http://news.test/a/b?c")
            expected = {"status": 200, "url": url, "body": "hello"}
            is_answer(look(client, number), 200, expected, f"{status} to {location}")
            fetched(client, (NEWS, 80, "/a/b?c"), (NEWS, port, target))


def check_other_statuses_are_not_followed(client):
    """Other statuses, and redirections without a Location, are the end of the way."""
    for status in (200, 201, 300, 304, 305, 306, 404, 500):
        build(client, at_80={"/": moved("http://news.test/x", status), "/x": page()})
        expected = {"status": status, "url": "http://news.test/", "body": ""}
        is_answer(look(client, watch(client, "http://news.test/")), 200, expected, f"{status} with a Location")
        fetched(client, (NEWS, 80, "/"))
    for status in (301, 302, 307):
        build(client, at_80={"/": page("gone", status)})
        expected = {"status": status, "url": "http://news.test/", "body": "gone"}
        is_answer(look(client, watch(client, "http://news.test/")), 200, expected, f"{status} without a Location")


def check_redirections_are_tested(client):
    """A redirection to a URL that is not allowed ends the check, and nothing is fetched from there."""
    for location in (
        "http://inside.test/",
        "http://half.test/",
        "//10.0.0.7/",
        "http://127.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://news.test:22/",
        "https://news.test:6379/",
        "file:///etc/passwd",
        "ftp://news.test/",
        "http://a@news.test/",
        "http://[::1",
        "http://news.test:99999/",
        "/a b",
        " /next",
        "/next\n",
        "/ne\txt",
        "/\\10.0.0.7/",
        "/é",
    ):
        build(client, at_80={"/": moved("/second"), "/second": moved(location), "/next": page()})
        number = watch(client, "http://news.test/")
        is_answer(look(client, number), 422, {"error": "not allowed"}, f"a redirection to {location!r}")
        fetched(client, (NEWS, 80, "/"), (NEWS, 80, "/second"))


def check_number_of_redirections(client):
    """Three redirections are followed; a fourth one ends the check, wherever it leads."""
    way = {"/": moved("/1"), "/1": moved("/2"), "/2": moved("/3", 307)}
    steps = [(NEWS, 80, target) for target in ("/", "/1", "/2", "/3")]
    build(client, at_80=way | {"/3": page()})
    number = watch(client, "http://news.test/")
    expected = {"status": 200, "url": "http://news.test/3", "body": "hello"}
    is_answer(look(client, number), 200, expected, "three redirections")
    fetched(client, *steps)
    for location in ("/4", "/", "http://inside.test/", "http://[::1"):
        build(client, at_80=way | {"/3": moved(location), "/4": page()})
        is_answer(look(client, number), 502, {"error": "too many redirects"}, f"a fourth redirection, to {location}")
        fetched(client, *steps)


def check_unreachable_servers(client):
    """A server that cannot be reached ends the check; port and address are those of the URL."""
    for url, steps in (
        ("http://blog.news.test/", [(BLOG, 80, "/")]),
        ("https://news.test/", [(NEWS, 443, "/")]),
        ("HTTPS://blog.news.test/", [(BLOG, 443, "/")]),
        ("http://blog.news.test:8080/", [(BLOG, 8080, "/")]),
        ("http://six.test/", [(SIX, 80, "/")]),
        ("https://[2606:2800:021F:CB07:6820:80DA:AF6B:8B2C]:8443/", [(SIX, 8443, "/")]),
        ("http://[2606:0:0:0:0:0:0:1]/", [("2606::1", 80, "/")]),
        ("http://news.test/", [(NEWS, 80, "/"), (NEWS, 8080, "/")]),
    ):
        build(client, at_80={"/": moved("http://news.test:8080/")})
        is_answer(look(client, watch(client, url)), 502, {"error": "unreachable"}, f"check of {url}")
        fetched(client, *steps)
