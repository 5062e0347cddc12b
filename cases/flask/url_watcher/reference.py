"""A watcher of web pages that never lets itself be led to internal addresses."""

import re
import socket
from ipaddress import ip_address, ip_network
from itertools import count
from urllib.parse import urljoin

from flask import Flask, abort, jsonify, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)

world = {"names": {}, "servers": {}}
log = []


def resolve(host):
    """Return the addresses of a host. Like a real resolver, it may say something else the next time."""
    try:
        return [socket.inet_ntoa(socket.inet_aton(host))]
    except OSError:
        answers = world["names"].get(host) or [[]]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def fetch(address, port, target):
    """Connect and ask for `target`; return status, Location (or None) and body."""
    log.append({"address": address, "port": port, "target": target})
    if f"{address} {port}" not in world["servers"]:
        raise ConnectionRefusedError
    page = world["servers"][f"{address} {port}"].get(target, {"status": 404})
    return page["status"], page.get("location"), page.get("body", "")


@app.put("/world")
def set_world():
    world.update(request.get_json())
    log.clear()
    return "", 204


@app.get("/log")
def show_log():
    return jsonify(log)


CHARACTERS = re.compile(r"[!-\[\]-~]*")
URL = re.compile(
    r"(https?)://(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([a-z0-9.-]+))(?::([0-9]{1,5}))?(/[^?#]*)?(\?[^#]*)?(#.*)?",
    re.I,
)
NAME = re.compile(r"([a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62}")
DEFAULT_PORTS = {"http": 80, "https": 443}
PORTS = {80, 443, *range(8000, 9000)}
INTERNAL_V4 = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
"""
PUBLIC_V6 = ip_network("2000::/3")
INTERNAL_V6 = "2001::/23 2001:db8::/32 2002::/16"
INTERNAL = [ip_network(network) for network in (INTERNAL_V4 + INTERNAL_V6).split()]
REDIRECTIONS = {301, 302, 303, 307, 308}
MOST_REDIRECTIONS = 3
ERRORS = {400: "invalid", 404: "not found", 422: "not allowed"}

watches = {}
watch_ids = count(1)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": ERRORS.get(error.code, error.name)}, error.code


def is_public(address):
    if address.version == 6 and address not in PUBLIC_V6:
        return False
    return not any(address in network for network in INTERNAL)


def find_addresses(literal, host):
    """Return all addresses of a host; none where it is neither an address nor a name."""
    try:
        return [ip_address(literal or host)]
    except ValueError:
        name = (host or "").lower().removesuffix(".")
        return [ip_address(address) for address in resolve(name)] if NAME.fullmatch(name) else []


def locate(url):
    """Return address, port and target of an allowed URL; any other is the end of the request."""
    match = URL.fullmatch(url)
    if not match or not CHARACTERS.fullmatch(url):
        abort(422)
    scheme, literal, host, port, path, query, _ = match.groups()
    port = int(port) if port else DEFAULT_PORTS[scheme.lower()]
    if port not in PORTS:
        abort(422)
    addresses = find_addresses(literal, host)
    if not addresses or not all(is_public(address) for address in addresses):
        abort(422)
    return str(addresses[0]), port, (path or "/") + (query or "")


def follow(url, location):
    if not CHARACTERS.fullmatch(location):
        abort(422)
    try:
        return urljoin(url, location)
    except ValueError:
        abort(422)


@app.post("/watches")
def add_watch():
    given = request.get_json()
    if not isinstance(given, dict) or not isinstance(given.get("url"), str):
        abort(400)
    locate(given["url"])
    number = next(watch_ids)
    watches[number] = {"id": number, "url": given["url"]}
    return watches[number], 201


@app.get("/watches")
def list_watches():
    return jsonify(list(watches.values()))


@app.post("/watches/<int:number>/check")
def check_watch(number):
    if number not in watches:
        abort(404)
    url, location = watches[number]["url"], None
    for _ in range(1 + MOST_REDIRECTIONS):
        url = follow(url, location) if location is not None else url
        try:
            status, location, body = fetch(*locate(url))
        except OSError:
            return {"error": "unreachable"}, 502
        if status not in REDIRECTIONS or location is None:
            return {"status": status, "url": url, "body": body}
    return {"error": "too many redirects"}, 502
