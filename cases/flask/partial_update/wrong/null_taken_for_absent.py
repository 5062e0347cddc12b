"""Wrong: a field that is null is treated as if it were absent."""

import re
from itertools import count

from flask import Flask, abort, jsonify, make_response, request

DEFAULTS = {"name": None, "email": None, "nickname": None, "tags": [], "starred": False, "address": None}
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")

app = Flask(__name__)
contacts = {}
numbers = count(1)


def is_text(value):
    return isinstance(value, str)


def is_text_or_null(value):
    return value is None or is_text(value)


def is_name(value):
    return is_text(value) and 1 <= len(value) <= 50


def is_email(value):
    return value is None or (is_text(value) and EMAIL.fullmatch(value) is not None)


def is_tags(value):
    return isinstance(value, list) and all(map(is_text, value))


def is_flag(value):
    return isinstance(value, bool)


def is_address(value):
    if value is None:
        return True
    return isinstance(value, dict) and is_name(value.get("city")) and is_text_or_null(value.get("street"))


RULES = {
    "name": is_name,
    "email": is_email,
    "nickname": is_text_or_null,
    "tags": is_tags,
    "starred": is_flag,
    "address": is_address,
}


def refuse(fields=()):
    abort(make_response({"error": "invalid", "fields": sorted(fields)}, 400))


def given():
    """The known fields that the request's body holds."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        refuse()
    return {field: body[field] for field in DEFAULTS if body.get(field) is not None}


def checked(values):
    """Refuse invalid values; return the others in the form in which they are kept."""
    if invalid := [field for field, is_valid in RULES.items() if not is_valid(values[field])]:
        refuse(invalid)
    address = values["address"]
    if address is not None:
        address = {"street": address.get("street"), "city": address["city"]}
    return values | {"address": address}


def found(number):
    if number not in contacts:
        abort(make_response({"error": "not found"}, 404))
    return contacts[number]


def change(contact, values):
    changed = contact | checked(values)
    if changed != contact:
        changed["revision"] += 1
    contacts[contact["id"]] = changed
    return changed


@app.post("/contacts")
def create():
    values = checked(DEFAULTS | given())
    number = next(numbers)
    contacts[number] = {"id": number, "role": "guest", "revision": 1, **values}
    return jsonify(contacts[number]), 201


@app.get("/contacts/<int:number>")
def read(number):
    return jsonify(found(number))


@app.put("/contacts/<int:number>")
def replace(number):
    return jsonify(change(found(number), DEFAULTS | given()))


@app.patch("/contacts/<int:number>")
def update(number):
    contact, values = found(number), given()
    if isinstance(values.get("address"), dict):
        values["address"] = (contact["address"] or {}) | values["address"]
    return jsonify(change(contact, {field: contact[field] for field in DEFAULTS} | values))
