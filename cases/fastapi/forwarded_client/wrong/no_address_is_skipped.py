"""Wrong: nodes that are no address are passed over as if they were proxies."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response

PROXIES = [ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "2001:db8:aa::/48")]
ADMINS = [ip_network(text) for text in ("192.0.2.0/24", "2001:db8:bb::/48")]
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
PAIR = re.compile(rf'[ \t]*(?:({TOKEN})=({TOKEN}|"(?:[^"\\]|\\.)*"))?[ \t]*([;,]|\Z)')
NODE = re.compile(r"(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")

app = FastAPI()
votes: dict[str, str] = {}


class Refused(Exception):
    """The request is answered with an error; carries its name and the status."""


@app.exception_handler(Refused)
async def refuse(_: Request, refusal: Refused) -> Response:
    name, status = refusal.args
    return JSONResponse({"error": name}, status)


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
    for place, node in reversed(list(enumerate(nodes))):
        found = address(node)
        if found is None:
            continue
        if place == 0 or not within(found, PROXIES):
            return found, proxies
        proxies.insert(0, str(found))
    return None, proxies


def voter(client: IPv4Address | IPv6Address) -> str:
    return str(client if client.version == 4 else ip_network((client, 64), strict=False))


class Visit:
    """A request, as far as its origin can be told."""

    def __init__(self, request: Request) -> None:
        old, new = request.headers.getlist("X-Forwarded-For"), request.headers.getlist("Forwarded")
        if old and new:
            raise Refused("ambiguous", 400)
        nodes = forwarded(",".join(new)) if new else x_forwarded_for(",".join(old))
        self.client, self.proxies = trace(nodes)


def admit_admin(visit: Annotated[Visit, Depends()]) -> None:
    if visit.client is None or not within(visit.client, ADMINS):
        raise Refused("forbidden", 403)


@app.get("/client")
async def show_client(visit: Annotated[Visit, Depends()]):
    return {"client": str(visit.client) if visit.client else None, "proxies": visit.proxies}


@app.get("/votes", dependencies=[Depends(Visit)])
async def count_votes():
    return {"votes": len(votes)}


@app.post("/votes", status_code=201)
async def vote(visit: Annotated[Visit, Depends()]):
    if visit.client is None:
        raise Refused("unknown client", 403)
    if voter(visit.client) in votes:
        raise Refused("voted", 409)
    votes[voter(visit.client)] = str(visit.client)
    return {"client": str(visit.client), "votes": len(votes)}


@app.get("/admin/votes", dependencies=[Depends(admit_admin)])
async def list_votes():
    return {"clients": list(votes.values())}


@app.delete("/admin/votes", status_code=204, dependencies=[Depends(admit_admin)])
async def delete_votes() -> None:
    votes.clear()
