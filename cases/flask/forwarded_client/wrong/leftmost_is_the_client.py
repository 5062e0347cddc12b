"""Wrong: the leftmost address that is no proxy is the client."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_network

from flask import Flask, request

PROXIES = [ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "2001:db8:aa::/48")]
ADMINS = [ip_network(text) for text in ("192.0.2.0/24", "2001:db8:bb::/48")]
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
PAIR = re.compile(rf'[ \t]*(?:({TOKEN})=({TOKEN}|"(?:[^"\\]|\\.)*"))?[ \t]*([;,]|\Z)')
NODE = re.compile(r"(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")

app = Flask(__name__)
votes: dict[str, str] = {}


class Refused(Exception):
    """The request is answered with an error; carries its name and the status."""


def forwarded(header: str) -> list[str]:
    """The nodes that the elements of a Forwarded header name, empty where an element names none."""
    nodes, pairs, place = [], {}, 0
    while True:
        match = PAIR.match(header, place)
        name = match and match[1] and match[1].lower()
        if not match or name in pairs:
            raise Refused("malformed", 400)
        if name:
            value = match[2]
            pairs[name] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        if match[3] != ";":
            nodes += [pairs.get("for", "")] if pairs else []
            pairs = {}
        if not match[3]:
            return nodes
        place = match.end()


def x_forwarded_for(header: str) -> list[str]:
    items = [item.strip(" \t") for item in header.split(",")]
    return [f"[{item}]" if item.count(":") > 1 and "[" not in item else item for item in items if item]


def address(node: str) -> IPv4Address | IPv6Address | None:
    match = NODE.fullmatch(node)
    try:
        if match and match[2]:
            found = IPv6Address(match[2])
            return found.ipv4_mapped or found
        return IPv4Address(match[1]) if match else None
    except ValueError:
        return None


def within(found: IPv4Address | IPv6Address, networks: list) -> bool:
    return any(found in network for network in networks)


def trace(nodes: list[str]) -> tuple[IPv4Address | IPv6Address | None, list[str]]:
    """Who made the request, where that is known, and the proxies that it passed."""
    proxies: list[str] = []
    known = [address(node) for node in nodes]
    for place, found in enumerate(known):
        if found is None or place == len(known) - 1 or not within(found, PROXIES):
            return found, [str(proxy) for proxy in known[place + 1 :] if proxy and within(proxy, PROXIES)]
    return None, proxies


def voter(client: IPv4Address | IPv6Address) -> str:
    return str(client if client.version == 4 else ip_network((client, 64), strict=False))


def examine():
    old, new = "X-Forwarded-For" in request.headers, "Forwarded" in request.headers
    if old and new:
        raise Refused("ambiguous", 400)
    if new:
        return trace(forwarded(",".join(request.headers.getlist("Forwarded"))))
    return trace(x_forwarded_for(",".join(request.headers.getlist("X-Forwarded-For"))))


def admit_admin():
    client, _ = examine()
    if client is None or not within(client, ADMINS):
        raise Refused("forbidden", 403)


@app.errorhandler(Refused)
def refuse(refusal):
    name, status = refusal.args
    return {"error": name}, status


@app.get("/client")
def show_client():
    client, proxies = examine()
    return {"client": str(client) if client else None, "proxies": proxies}


@app.get("/votes")
def count_votes():
    examine()
    return {"votes": len(votes)}


@app.post("/votes")
def vote():
    client, _ = examine()
    if client is None:
        raise Refused("unknown client", 403)
    if voter(client) in votes:
        raise Refused("voted", 409)
    votes[voter(client)] = str(client)
    return {"client": str(client), "votes": len(votes)}, 201


@app.get("/admin/votes")
def list_votes():
    admit_admin()
    return {"clients": list(votes.values())}


@app.delete("/admin/votes")
def delete_votes():
    admit_admin()
    votes.clear()
    return "", 204
