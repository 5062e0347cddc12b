"""Wrong: the answer tells the errors up to the first wrong object only."""

from collections import Counter
from itertools import count

from flask import Flask, abort, make_response, request

MOST_AT_ONCE = 50
MOST_STORED = 120

app = Flask(__name__)
interfaces = {}
numbers = count(1)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


RULES = {
    "id": is_integer,
    "name": lambda value: isinstance(value, str) and 1 <= len(value) <= 20,
    "speed": lambda value: is_integer(value) and 1 <= value <= 100_000,
}


def refuse(status, **answer):
    abort(make_response(answer, status))


def own_errors(item, required, optional):
    """What is wrong with an object by itself, by member."""
    if not isinstance(item, dict):
        return {"object": "invalid"}
    errors = {member: "missing" for member in required if member not in item}
    for member, value in item.items():
        if member not in required + optional:
            errors[member] = "unknown"
        elif not RULES[member](value):
            errors[member] = "invalid"
    return errors


def sound(member, items, errors):
    """The objects in which this member is given and in order, with their errors."""
    pairs = zip(items, errors)
    return [(item, found) for item, found in pairs if "object" not in found and member in item.keys() - found]


def add_name_errors(items, errors, by_id):
    uses = Counter(item["name"] for item, _ in sound("name", items, errors))
    owners = {interface["name"]: number for number, interface in interfaces.items()}
    for item, found in sound("name", items, errors):
        own = item["id"] if by_id and "id" not in found else None
        if uses[item["name"]] > 1 or owners.get(item["name"], own) != own:
            found["name"] = "taken"


def add_id_errors(items, errors):
    uses = Counter(item["id"] for item, _ in sound("id", items, errors))
    for item, found in sound("id", items, errors):
        if uses[item["id"]] > 1:
            found["id"] = "repeated"
        elif item["id"] not in interfaces:
            found["id"] = "not found"


def valid_list(required, optional=()):
    """The objects of the request's body; refuses them all if one is wrong."""
    items = request.get_json(silent=True)
    if not isinstance(items, list) or not items:
        refuse(400, error="invalid")
    if len(items) > MOST_AT_ONCE:
        refuse(413, error="too many")
    errors = [own_errors(item, required, optional) for item in items]
    by_id = "id" in required
    add_name_errors(items, errors, by_id)
    if by_id:
        add_id_errors(items, errors)
    for position, found in enumerate(errors):
        if found:
            errors = errors[: position + 1] + [{} for _ in errors[position + 1 :]]
            break
    if any(errors):
        refuse(400, error="rejected", errors=errors)
    return items


@app.get("/interfaces")
def listing():
    return {"interfaces": list(interfaces.values())}


@app.post("/interfaces")
def create():
    items = valid_list(("name", "speed"))
    if len(interfaces) + len(items) > MOST_STORED:
        refuse(409, error="full")
    created = [{"id": next(numbers), **item} for item in items]
    interfaces.update((interface["id"], interface) for interface in created)
    return {"interfaces": created}, 201


@app.patch("/interfaces")
def change():
    items = valid_list(("id",), ("name", "speed"))
    for item in items:
        interfaces[item["id"]].update(item)
    return {"interfaces": [interfaces[item["id"]] for item in items]}


@app.delete("/interfaces")
def remove():
    for item in valid_list(("id",)):
        del interfaces[item["id"]]
    return "", 204
