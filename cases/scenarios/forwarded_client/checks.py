"""Hidden checks of the scenario forwarded_client: reading what proxies wrote, and who may do what."""

OLD, NEW = "X-Forwarded-For", "Forwarded"
ADMIN = {OLD: "192.0.2.10"}


def send(client, name, *lines, method="GET", path="/client"):
    """Send a request with each of `lines` as a header `name` of its own."""
    return client.request(method, path, headers=[(name, line) for line in lines])


def asked(response):
    headers = response.request.headers
    told = [f"{name}: {line}" for name in (OLD, NEW) for line in headers.get_list(name)]
    return " with ".join([f"{response.request.method} {response.request.url.path}", *told])


def is_answer(response, status, expected):
    assert response.status_code == status, f"{asked(response)}: status {response.status_code}, expected {status}"
    assert response.json() == expected, f"{asked(response)}: body {response.text[:200]}, expected {expected}"


def is_client(response, client, *proxies):
    is_answer(response, 200, {"client": client, "proxies": list(proxies)})


def is_malformed(response):
    is_answer(response, 400, {"error": "malformed"})


def vote(client, address):
    return send(client, OLD, address, method="POST", path="/votes")


def check_client_is_read_from_the_right(client):
    """What stands left of the client is not believed."""
    is_client(send(client, OLD, "198.51.100.7"), "198.51.100.7")
    is_client(send(client, OLD, "198.51.100.7, 172.16.0.9, 10.0.0.3"), "198.51.100.7", "172.16.0.9", "10.0.0.3")
    is_client(send(client, OLD, "203.0.113.1, 198.51.100.7, 10.0.0.3"), "198.51.100.7", "10.0.0.3")
    is_client(send(client, OLD, "203.0.113.1, 10.0.0.4, 198.51.100.7"), "198.51.100.7")
    is_client(send(client, OLD, "nonsense, 198.51.100.7, 10.0.0.3"), "198.51.100.7", "10.0.0.3")
    long = ["198.51.100.7", *(f"10.1.0.{number}" for number in range(12))]
    is_client(send(client, OLD, ",".join(long)), *long)


def check_networks_of_the_proxies(client):
    """A proxy is whoever is in one of the networks, up to their very ends."""
    for proxy in ("10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "2001:db8:aa::", "2001:db8:aa:ffff::1"):
        is_client(send(client, OLD, f"198.51.100.7, {proxy}"), "198.51.100.7", proxy)
    for other in (
        "9.255.255.255",
        "11.0.0.0",
        "172.15.0.1",
        "172.32.0.0",
        "2001:db8:ab::",
        "2001:db8:a9::1",
        "127.0.0.1",
    ):
        is_client(send(client, OLD, f"198.51.100.7, {other}, 10.0.0.3"), other, "10.0.0.3")


def check_proxies_only(client):
    """If all nodes are proxies, the leftmost is the client."""
    is_client(send(client, OLD, "10.0.0.3"), "10.0.0.3")
    is_client(send(client, OLD, "10.0.0.5, 172.16.0.9, 10.0.0.3"), "10.0.0.5", "172.16.0.9", "10.0.0.3")
    is_client(send(client, NEW, "for=10.0.0.5, for=10.0.0.3"), "10.0.0.5", "10.0.0.3")
    is_client(send(client, OLD, ", 10.0.0.5, 10.0.0.3"), "10.0.0.5", "10.0.0.3")


def check_unknown_clients(client):
    """Without a node, or where the walk meets something else than an address, the client is unknown."""
    is_client(client.get("/client"), None)
    is_client(send(client, OLD, ""), None)
    is_client(send(client, OLD, ", ,"), None)
    is_client(send(client, NEW, ""), None)
    for node in (
        "unknown",
        "_hidden",
        "198.51.100",
        "198.51.100.256",
        "198.51.100.7:port",
        "198.51.100.7:",
        "app.test",
    ):
        is_client(send(client, OLD, f"203.0.113.1, {node}, 10.0.0.3"), None, "10.0.0.3")
    for node in (
        "2001:db8::g",
        "[2001:db8::7",
        "2001:db8::7]",
        "[198.51.100.7]",
        "[2001:db8::7]:123456",
        "[]",
        "198.51.100.7/32",
    ):
        is_client(send(client, OLD, f"203.0.113.1, {node}"), None)
    for node in (
        "fe80::1%eth0",
        "[fe80::1%eth0]",
        "1:2:3:4:5:6:7:8:9",
        "198.51.100.7 203.0.113.1",
        "[2001:db8::7]4711",
    ):
        is_client(send(client, OLD, f"203.0.113.1, {node}, 10.0.0.3"), None, "10.0.0.3")


def check_ports_and_brackets(client):
    """Ports and brackets do not belong to the address."""
    for node in ("198.51.100.7:4711", "198.51.100.7:1", "198.51.100.7:65535"):
        is_client(send(client, OLD, node), "198.51.100.7")
    for node in ("2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:4711"):
        is_client(send(client, OLD, node), "2001:db8::7")
        is_client(
            send(client, OLD, f"{node}, 10.0.0.3:80, [2001:db8:aa::1]:443"), "2001:db8::7", "10.0.0.3", "2001:db8:aa::1"
        )


def check_addresses_have_one_form(client):
    """IPv6 addresses are short and in lower case; mapped IPv4 addresses are IPv4 addresses."""
    is_client(send(client, OLD, "2001:0DB8:0:0:0::0007"), "2001:db8::7")
    is_client(send(client, NEW, 'for="[2001:DB8:0:0:1::]"'), "2001:db8:0:0:1::")
    is_client(send(client, OLD, "0::1, 10.0.0.3"), "::1", "10.0.0.3")
    is_client(send(client, OLD, "::1"), "::1")
    is_client(send(client, OLD, "::ffff:198.51.100.7"), "198.51.100.7")
    is_client(send(client, NEW, 'for="[::FFFF:c633:6407]:80"'), "198.51.100.7")
    is_client(
        send(client, OLD, "198.51.100.7, ::ffff:10.0.0.3, ::ffff:172.16.0.9"), "198.51.100.7", "10.0.0.3", "172.16.0.9"
    )


def check_blanks_empty_items_and_lines(client):
    """Blanks and empty items have no meaning, and several lines are one list."""
    is_client(send(client, OLD, "203.0.113.1,198.51.100.7 ,\t10.0.0.3,,"), "198.51.100.7", "10.0.0.3")
    is_client(
        send(client, OLD, "203.0.113.1", "198.51.100.7, 172.16.0.9", "10.0.0.3"),
        "198.51.100.7",
        "172.16.0.9",
        "10.0.0.3",
    )
    is_client(send(client, NEW, "for=203.0.113.1", "for=198.51.100.7", "for=10.0.0.3"), "198.51.100.7", "10.0.0.3")
    is_client(send(client, NEW, ", for=198.51.100.7;,\t;for=10.0.0.3;;proto=http , ,"), "198.51.100.7", "10.0.0.3")


def check_forwarded(client):
    """The standard header is read with its pairs, names in any case, tokens and quoted strings."""
    is_client(send(client, NEW, "for=198.51.100.7"), "198.51.100.7")
    is_client(
        send(
            client,
            NEW,
            'For="[2001:db8::7]:4711";proto=https;by=_edge, FOR=172.16.0.9;host=app.test, by=_a;for="10.0.0.3:80"',
        ),
        "2001:db8::7",
        "172.16.0.9",
        "10.0.0.3",
    )
    is_client(
        send(client, NEW, "for=203.0.113.1, by=10.0.0.9;for=198.51.100.7;x-id=a~b!c, for=10.0.0.3"),
        "198.51.100.7",
        "10.0.0.3",
    )
    is_client(send(client, NEW, r'for="198.51.\100.7";ext="a\"b\\", for="\10.0.0.3"'), "198.51.100.7", "10.0.0.3")
    is_client(send(client, NEW, "before=203.0.113.1;for=198.51.100.7;fork=203.0.113.2"), "198.51.100.7")


def check_separators_in_quoted_strings(client):
    """Commas, semicolons and quotes in a quoted string separate nothing."""
    for host in (
        "a,b",
        "a;b",
        "a, for=192.0.2.10",
        "a;for=192.0.2.10",
        r"a\", for=192.0.2.10",
        r"\\",
        "for=192.0.2.10,",
        "",
        "=",
        ";;,,",
    ):
        is_client(send(client, NEW, f'for=198.51.100.7;host="{host}"'), "198.51.100.7")
        is_client(
            send(client, NEW, f'host="{host}";for=198.51.100.7, host="{host}";for=10.0.0.3'), "198.51.100.7", "10.0.0.3"
        )


def check_elements_without_an_address(client):
    """Elements without for, or with another node than an address, make the client unknown."""
    for element in (
        "proto=https",
        "for=unknown",
        "for=_hidden",
        'for=""',
        'for="2001:db8::7"',
        'for="[unknown]"',
        "by=198.51.100.7",
    ):
        is_client(send(client, NEW, f"for=203.0.113.1, {element}, for=10.0.0.3"), None, "10.0.0.3")
        is_client(send(client, NEW, f"{element}, for=198.51.100.7"), "198.51.100.7")
    is_client(send(client, NEW, 'for=203.0.113.1, for=" 198.51.100.7", for=10.0.0.3'), None, "10.0.0.3")


def check_malformed_headers(client):
    """A fault anywhere in a Forwarded header makes the request malformed, on each route."""
    for fault in (
        "for",
        "for=",
        "=198.51.100.7",
        "198.51.100.7",
        "for=2001:db8::7",
        "for=[2001:db8::7]",
        "for=198.51.100.7:80",
        'for="198.51.100.7',
        'for=198.51.100.7"',
        r'for="198.51.100.7\"',
        'for="198.51.100.7"80',
        "for =198.51.100.7",
        "for= 198.51.100.7",
        "for=198.51.100.7 proto=http",
        "for=198.51.100.7;for=198.51.100.7",
        "for=198.51.100.7;proto=http;For=203.0.113.1",
        "proto=http;for=198.51.100.7;PROTO=http",
        "for=198.51.100.7;a(b)=1",
        "for=198.51.100.7;host=a/b",
    ):
        is_malformed(send(client, NEW, fault))
        is_malformed(send(client, NEW, f"{fault}, for=10.0.0.3"))
        is_malformed(send(client, NEW, "for=198.51.100.7, for=10.0.0.3", fault))
    for method, path in (("GET", "/votes"), ("POST", "/votes"), ("GET", "/admin/votes"), ("DELETE", "/admin/votes")):
        is_malformed(send(client, NEW, "for, for=192.0.2.10", method=method, path=path))
    is_answer(client.get("/votes"), 200, {"votes": 0})


def check_both_headers(client):
    """A request with both headers is refused on each route, malformed or empty as they may be."""
    vote(client, "198.51.100.7")
    for old, new in (
        ("192.0.2.10", "for=192.0.2.10"),
        ("", "for=192.0.2.10"),
        ("192.0.2.10", ""),
        ("", ""),
        ("x", "x"),
    ):
        headers = {OLD: old, NEW: new}
        for method, path in (
            ("GET", "/client"),
            ("GET", "/votes"),
            ("POST", "/votes"),
            ("GET", "/admin/votes"),
            ("DELETE", "/admin/votes"),
        ):
            is_answer(client.request(method, path, headers=headers), 400, {"error": "ambiguous"})
    is_answer(client.get("/votes"), 200, {"votes": 1})


def check_one_vote_for_each_client(client):
    """Each client has one vote, and unknown clients have none."""
    is_answer(client.get("/votes"), 200, {"votes": 0})
    is_answer(vote(client, "198.51.100.7"), 201, {"client": "198.51.100.7", "votes": 1})
    is_answer(vote(client, "198.51.100.8, 10.0.0.3"), 201, {"client": "198.51.100.8", "votes": 2})
    is_answer(
        send(client, NEW, "for=10.0.0.5, for=10.0.0.3", method="POST", path="/votes"),
        201,
        {"client": "10.0.0.5", "votes": 3},
    )
    for again in ("198.51.100.7", "203.0.113.1, 198.51.100.7:99, 10.0.0.9", "::ffff:198.51.100.7", "10.0.0.5"):
        is_answer(vote(client, again), 409, {"error": "voted"})
    is_answer(send(client, NEW, "for=198.51.100.8", method="POST", path="/votes"), 409, {"error": "voted"})
    is_answer(client.post("/votes"), 403, {"error": "unknown client"})
    is_answer(vote(client, "203.0.113.1, unknown, 10.0.0.3"), 403, {"error": "unknown client"})
    is_answer(client.get("/votes"), 200, {"votes": 3})


def check_votes_of_ipv6_clients(client):
    """The first 64 bits of an IPv6 address have one vote."""
    is_answer(vote(client, "2001:db8:1:2::7"), 201, {"client": "2001:db8:1:2::7", "votes": 1})
    for again in ("2001:db8:1:2::7", "2001:db8:1:2::8", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"):
        is_answer(vote(client, again), 409, {"error": "voted"})
    is_answer(vote(client, "2001:db8:1:3::7"), 201, {"client": "2001:db8:1:3::7", "votes": 2})
    is_answer(vote(client, "2001:db8:1:1:ffff::"), 201, {"client": "2001:db8:1:1:ffff::", "votes": 3})


def check_administrators(client):
    """Administrators, and nobody else, see the votes and undo them."""
    for address in ("198.51.100.9", "198.51.100.7", "2001:DB8:1:2::7"):
        vote(client, address)
    clients = {"clients": ["198.51.100.9", "198.51.100.7", "2001:db8:1:2::7"]}
    for admin in (
        "192.0.2.0",
        "192.0.2.255, 10.0.0.3",
        "[2001:db8:bb::1]:80",
        "2001:db8:bb:ffff::",
        "::ffff:192.0.2.1",
    ):
        is_answer(send(client, OLD, admin, path="/admin/votes"), 200, clients)
    is_answer(send(client, NEW, 'for="[2001:db8:bb::1]"', path="/admin/votes"), 200, clients)
    for other in (
        "192.0.1.255",
        "192.0.3.0",
        "2001:db8:bc::",
        "192.0.2.10, 198.51.100.7",
        "192.0.2.10, x",
        "10.0.0.3",
        "",
    ):
        for method in ("GET", "DELETE"):
            is_answer(send(client, OLD, other, method=method, path="/admin/votes"), 403, {"error": "forbidden"})
    is_answer(client.get("/votes"), 200, {"votes": 3})
    status = client.delete("/admin/votes", headers=ADMIN).status_code
    assert status == 204, f"DELETE /admin/votes by an administrator: status {status}, expected 204"
    is_answer(client.get("/admin/votes", headers=ADMIN), 200, {"clients": []})
    is_answer(vote(client, "198.51.100.7"), 201, {"client": "198.51.100.7", "votes": 1})


def check_other_methods(client):
    """PUT is 405."""
    for path in ("/client", "/votes"):
        status = send(client, OLD, "192.0.2.10", method="PUT", path=path).status_code
        assert status == 405, f"PUT {path}: status {status}, expected 405"
