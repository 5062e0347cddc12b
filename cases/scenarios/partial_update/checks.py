"""Hidden checks of the scenario partial_update: absent, null and empty are three different inputs."""

FULL = {
    "name": "Ada Wong",
    "email": "ada@example.com",
    "nickname": "Ace",
    "tags": ["work", "chess"],
    "starred": True,
    "address": {"street": "Elm Road 7", "city": "Ulm"},
}
EMPTY = {"email": None, "nickname": None, "tags": [], "starred": False, "address": None}
INVALID = {
    "name": [None, "", "x" * 51, 7, ["Ada"]],
    "email": ["", "ada", "ada@", "@example.com", "a@b@example.com", "ada @example.com", "ada@example.com\n", 7, {}],
    "nickname": [7, False, ["Ace"], {}],
    "tags": [None, "work", {}, ["work", None], ["work", 7], [["work"]], 0],
    "starred": [None, 0, 1, "true", "", []],
    "address": ["", [], False, "Ulm", {"city": None}, {"city": ""}, {"city": 7}, {"city": "x" * 51}, {"street": 7}],
}


def body_of(response, status):
    """Return the JSON body of an answer that must have this status."""
    request = response.request
    asked = f"{request.method} {request.url.path} with {request.content.decode()}"
    assert response.status_code == status, f"{asked} answered {response.status_code}, expected {status}"
    return response.json()


def add(client, **fields):
    return body_of(client.post("/contacts", json=fields), 201)


def stored(client, number=1):
    return body_of(client.get(f"/contacts/{number}"), 200)


def patch(client, change, **expected):
    """Send a PATCH to contact 1; answer and stored contact must be as before except for `expected`."""
    wanted = stored(client) | expected
    wanted.pop("revision")
    for found in (body_of(client.patch("/contacts/1", json=change), 200), stored(client)):
        found.pop("revision")
        assert found == wanted, f"after PATCH with {change} expected\n{wanted}\nfound\n{found}"


def refused(response, *fields):
    found = body_of(response, 400)
    expected = {"error": "invalid", "fields": list(fields)}
    request = response.request
    assert found == expected, f"{request.method} with {request.content.decode()}: expected {expected}, found {found}"


def check_create(client):
    """POST answers 201 and the contact; absent fields have their defaults; ids count up."""
    first = add(client, **FULL)
    assert first == {"id": 1, "role": "guest", "revision": 1} | FULL, f"a full contact came back as {first}"
    second = add(client, name="Bo")
    expected = {"id": 2, "role": "guest", "revision": 1, "name": "Bo"} | EMPTY
    assert second == expected, f"a contact with a name only came back as {second}, expected {expected}"
    third = add(client, name="Cy", nickname="", address={"city": "Bonn"}, tags=["", "a"])
    assert third["nickname"] == "", f"the empty nickname came back as {third['nickname']!r}"
    assert third["address"] == {"street": None, "city": "Bonn"}, f"a city alone came back as {third['address']}"
    for contact in (first, second, third):
        assert stored(client, contact["id"]) == contact, f"GET /contacts/{contact['id']} is not what POST answered"


def check_absent_fields_stay(client):
    """A PATCH leaves alone what it does not mention."""
    add(client, **FULL)
    patch(client, {})
    patch(client, {"name": "Ada Li"}, name="Ada Li")
    patch(client, {"starred": False, "email": "li@example.com"}, starred=False, email="li@example.com")
    patch(client, {"tags": ["one"]}, tags=["one"])
    patch(client, {"nickname": "Li"}, nickname="Li")
    add(client, name="Bo")
    patch(client, {"starred": True}, starred=True)
    assert stored(client, 2) == {"id": 2, "role": "guest", "revision": 1, "name": "Bo"} | EMPTY, "contact 2 changed"


def check_null_clears(client):
    """null in a PATCH empties the fields that may be null."""
    add(client, **FULL)
    for field in ("email", "nickname", "address"):
        patch(client, {field: None}, **{field: None})
    patch(client, {"email": "new@example.com", "nickname": None}, email="new@example.com")


def check_empty_and_false_are_values(client):
    """The empty string, the empty list and false are stored as they are."""
    add(client, **FULL)
    patch(client, {"nickname": ""}, nickname="")
    patch(client, {"tags": []}, tags=[])
    patch(client, {"starred": False}, starred=False)
    patch(client, {"nickname": None}, nickname=None)


def check_address_is_merged(client):
    """A PATCH with an address changes the members that it mentions."""
    add(client, **FULL)
    patch(client, {"address": {"city": "Bonn"}}, address={"street": "Elm Road 7", "city": "Bonn"})
    patch(client, {"address": {"street": "Oak Lane 1"}}, address={"street": "Oak Lane 1", "city": "Bonn"})
    patch(client, {"address": {}})
    patch(client, {"address": {"street": ""}}, address={"street": "", "city": "Bonn"})
    patch(client, {"address": {"street": None}}, address={"street": None, "city": "Bonn"})
    patch(client, {"address": {"planet": "Mars", "city": "Kiel"}}, address={"street": None, "city": "Kiel"})


def check_address_from_nothing(client):
    """Where there is no address yet, the PATCH must bring the city."""
    add(client, name="Bo")
    before = stored(client)
    for address in ({}, {"street": "Oak Lane 1"}, {"street": None}):
        refused(client.patch("/contacts/1", json={"address": address, "starred": True}), "address")
    assert stored(client) == before, f"a refused PATCH changed the contact to {stored(client)}"
    patch(client, {"address": {"city": "Bonn"}}, address={"street": None, "city": "Bonn"})
    patch(client, {"address": None}, address=None)
    refused(client.patch("/contacts/1", json={"address": {"street": "Oak Lane 1"}}), "address")


def check_put_replaces(client):
    """PUT takes a whole contact: absent fields get their defaults, an address is not merged."""
    add(client, **FULL)
    found = body_of(client.put("/contacts/1", json={"name": "Bo", "address": {"city": "Bonn"}}), 200)
    expected = {"id": 1, "role": "guest", "revision": 2, "name": "Bo"} | EMPTY
    expected |= {"address": {"street": None, "city": "Bonn"}}
    assert found == expected, f"PUT answered {found}, expected {expected}"
    assert stored(client) == expected, f"after the PUT the contact is {stored(client)}"
    refused(client.put("/contacts/1", json={"email": "bo@example.com"}), "name")
    refused(client.put("/contacts/1", json={"name": "Bo", "address": {"street": "Oak Lane 1"}}), "address")
    assert stored(client) == expected, f"a refused PUT changed the contact to {stored(client)}"


def check_patch_refuses_invalid_values(client):
    """An invalid value is 400 and names the field."""
    before = add(client, **FULL)
    for field, values in INVALID.items():
        for value in values:
            refused(client.patch("/contacts/1", json={field: value}), field)
    assert stored(client) == before, f"refused changes left {stored(client)}, before it was {before}"
    patch(client, {"name": "x" * 50, "email": "a@b"}, name="x" * 50, email="a@b")
    patch(client, {"name": "y"}, name="y")


def check_a_refused_patch_changes_nothing(client):
    """If one field is invalid, the valid ones are not stored either; all invalid ones are named."""
    before = add(client, **FULL)
    changes = [
        ({"name": "Bo", "nickname": None, "starred": None}, ["starred"]),
        ({"address": {"city": ""}, "name": "Bo", "tags": []}, ["address"]),
        ({"tags": None, "starred": False, "email": "", "address": None}, ["email", "tags"]),
        ({"starred": 1, "address": [], "name": "", "nickname": 1}, ["address", "name", "nickname", "starred"]),
    ]
    for change, fields in changes:
        refused(client.patch("/contacts/1", json=change), *fields)
        assert stored(client) == before, f"the refused PATCH with {change} left {stored(client)}"


def check_create_refuses_invalid_values(client):
    """POST is 400 for a missing name, an invalid field and everything that is not an object."""
    refused(client.post("/contacts", json={}), "name")
    refused(client.post("/contacts", json={"email": "", "tags": None}), "email", "name", "tags")
    for field, values in INVALID.items():
        for value in values:
            refused(client.post("/contacts", json={"name": "Bo", field: value}), field)
    for body in (b"[]", b"null", b'"name"', b"7", b"{", b'{"name": "Bo"'):
        refused(client.post("/contacts", content=body, headers={"Content-Type": "application/json"}))
    assert add(client, name="Bo")["id"] == 1, "a refused contact has used up an id"
    for body in (b"[]", b"null", b"{"):
        refused(client.patch("/contacts/1", content=body, headers={"Content-Type": "application/json"}))


def check_revision_counts_changes(client):
    """The revision grows by one with each PATCH or PUT that changes something, otherwise it stays."""
    add(client, **FULL)
    steps = [
        ("PATCH", {"name": "Bo", "starred": False}, 2),
        ("PATCH", {"name": "Bo"}, 2),
        ("PATCH", {}, 2),
        ("PATCH", {"address": {"city": "Ulm"}}, 2),
        ("PATCH", {"nickname": ""}, 3),
        ("PATCH", {"nickname": None}, 4),
        ("PATCH", {"nickname": None}, 4),
        ("PATCH", {"starred": 0}, 4),
        ("PUT", {"name": "Bo"}, 5),
        ("PUT", {"name": "Bo"}, 5),
        ("PUT", FULL, 6),
        ("PUT", FULL, 6),
    ]
    for number, (method, change, revision) in enumerate(steps, start=1):
        client.request(method, "/contacts/1", json=change)
        found = stored(client)["revision"]
        assert found == revision, f"step {number}, {method} with {change}: revision {found}, expected {revision}"


def check_unknown_contacts(client):
    """GET, PUT and PATCH of an id that does not exist are 404."""
    add(client, name="Bo")
    for response in (
        client.get("/contacts/2"),
        client.put("/contacts/2", json={"name": "Cy"}),
        client.patch("/contacts/2", json={"name": "Cy"}),
    ):
        found = body_of(response, 404)
        assert found == {"error": "not found"}, f"{response.request.method} of an unknown contact answered {found}"
    assert stored(client)["name"] == "Bo", "a request for contact 2 changed contact 1"
