"""Wrong: every single IPv6 address has a vote."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_network

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View
from django.views.decorators.http import require_GET

PROXIES = [ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "2001:db8:aa::/48")]
ADMINS = [ip_network(text) for text in ("192.0.2.0/24", "2001:db8:bb::/48")]
TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
PAIR = re.compile(rf'[ \t]*(?:({TOKEN})=({TOKEN}|"(?:[^"\\]|\\.)*"))?[ \t]*([;,]|\Z)')
NODE = re.compile(r"(?:([0-9.]+)|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")

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
    for place, node in reversed(list(enumerate(nodes))):
        found = address(node)
        if found is None or place == 0 or not within(found, PROXIES):
            return found, proxies
        proxies.insert(0, str(found))
    return None, proxies


def voter(client: IPv4Address | IPv6Address) -> str:
    return str(client)


def examine(request: HttpRequest) -> tuple[IPv4Address | IPv6Address | None, list[str]]:
    old, new = (request.headers.get(name) for name in ("X-Forwarded-For", "Forwarded"))
    if old is not None and new is not None:
        raise Refused("ambiguous", 400)
    return trace(x_forwarded_for(old or "") if new is None else forwarded(new))


def answer_errors(view):
    def wrapped(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except Refused as refusal:
            name, status = refusal.args
            return JsonResponse({"error": name}, status=status)

    return wrapped


@require_GET
@answer_errors
def show_client(request: HttpRequest) -> HttpResponse:
    client, proxies = examine(request)
    return JsonResponse({"client": str(client) if client else None, "proxies": proxies})


class Votes(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        examine(request)
        return JsonResponse({"votes": len(votes)})

    def post(self, request: HttpRequest) -> HttpResponse:
        client, _ = examine(request)
        if client is None:
            raise Refused("unknown client", 403)
        if voter(client) in votes:
            raise Refused("voted", 409)
        votes[voter(client)] = str(client)
        return JsonResponse({"client": str(client), "votes": len(votes)}, status=201)


class AdminVotes(View):
    def dispatch(self, request: HttpRequest) -> HttpResponse:
        client, _ = examine(request)
        if client is None or not within(client, ADMINS):
            raise Refused("forbidden", 403)
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"clients": list(votes.values())})

    def delete(self, request: HttpRequest) -> HttpResponse:
        votes.clear()
        return HttpResponse(status=204)


urlpatterns = [
    path("client", show_client),
    path("votes", answer_errors(Votes.as_view())),
    path("admin/votes", answer_errors(AdminVotes.as_view())),
]
