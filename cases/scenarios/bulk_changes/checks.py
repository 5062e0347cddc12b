"""Hidden checks of the scenario bulk_changes: every error of a list is told, and nothing is done by halves."""

PATH = "/interfaces"


def send(client, method, objects):
    return client.request(method, PATH, json=objects)


def told(method, objects):
    text = repr(objects)
    return f"{method} {PATH} {text if len(text) <= 300 else text[:300] + '...'}"


def answered(client, method, objects, status, expected):
    """Send a list; the answer must have this status and this body."""
    response = send(client, method, objects)
    what = told(method, objects)
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}: {response.text}"
    assert response.json() == expected, f"{what} answered {response.json()}, expected {expected}"


def rejected(client, method, objects, errors):
    answered(client, method, objects, 400, {"error": "rejected", "errors": errors})


def stored(client):
    response = client.get(PATH)
    assert response.status_code == 200, f"GET {PATH} answered {response.status_code}, expected 200"
    return response.json()["interfaces"]


def stored_is(client, expected):
    found = stored(client)
    assert found == expected, f"GET {PATH} lists {found}, expected {expected}"


def new(count, start=0):
    """As many sound objects for POST."""
    return [{"name": f"port{number}", "speed": 100} for number in range(start, start + count)]


def add(client, *names):
    """Create interfaces with these names and return them."""
    response = send(client, "POST", [{"name": name, "speed": 1000} for name in names])
    assert response.status_code == 201, f"POST of {names} answered {response.status_code}, expected 201"
    return response.json()["interfaces"]


def fill(client, count):
    """Create interfaces until there are this many."""
    while have := len(stored(client)) - count:
        response = send(client, "POST", new(min(50, -have), count + have))
        assert response.status_code == 201, f"creating {min(50, -have)} interfaces answered {response.status_code}"


def check_create(client):
    """POST creates all objects in order and answers them with their ids."""
    stored_is(client, [])
    first = [{"name": "eth0", "speed": 1}, {"name": "n" * 20, "speed": 100_000}]
    expected = [{"id": number, **item} for number, item in enumerate(first, 1)]
    answered(client, "POST", first, 201, {"interfaces": expected})
    third = {"id": 3, "name": "e", "speed": 10}
    answered(client, "POST", [{"speed": 10, "name": "e"}], 201, {"interfaces": [third]})
    stored_is(client, [*expected, third])


def check_create_reports_every_error(client):
    """Each object of a rejected POST has its own errors, in order, and sound objects have none."""
    add(client, "eth0")
    objects = [
        {"name": "eth1", "speed": 10},
        {"name": "", "speed": 0},
        {},
        {"name": "eth0", "speed": "10"},
        {"speed": 10, "mtu": 1500},
        {"id": 7, "name": "eth2", "speed": 10},
    ]
    errors = [
        {},
        {"name": "invalid", "speed": "invalid"},
        {"name": "missing", "speed": "missing"},
        {"name": "taken", "speed": "invalid"},
        {"name": "missing", "mtu": "unknown"},
        {"id": "unknown"},
    ]
    rejected(client, "POST", objects, errors)


def check_rejected_create_leaves_nothing(client):
    """A rejected POST stores nothing and uses up no ids."""
    add(client, "eth0")
    for objects in ([*new(3), {"name": "x"}], [{"name": "x"}, *new(3)]):
        assert send(client, "POST", objects).status_code == 400, f"{told('POST', objects)} was not answered with 400"
    stored_is(client, [{"id": 1, "name": "eth0", "speed": 1000}])
    add(client, "eth1")
    assert [item["id"] for item in stored(client)] == [1, 2], "a rejected request used up an id"


def check_values(client):
    """Names have 1 to 20 characters, speeds are integers from 1 to 100000."""
    names = ("", "n" * 21, 7, None, ["eth0"], True, {})
    speeds = (0, -1, 100_001, "10", 10.0, 1.5, True, None, [10])
    objects = [{"name": name, "speed": 10} for name in names]
    objects += [{"name": f"s{number}", "speed": speed} for number, speed in enumerate(speeds)]
    errors = [{"name": "invalid"}] * len(names) + [{"speed": "invalid"}] * len(speeds)
    rejected(client, "POST", objects, errors)
    add(client, "eth0")
    objects = [{"id": 1, "name": "n" * 21, "speed": 0}]
    rejected(client, "PATCH", objects, [{"name": "invalid", "speed": "invalid"}])
    for item in ({"id": 1, "name": None}, {"id": 1, "speed": None}):
        rejected(client, "PATCH", [item], [{member: "invalid" for member in item if member != "id"}])


def check_names_within_the_list(client):
    """A name that several objects of the list give is an error of each of them."""
    objects = [{"name": name, "speed": 10} for name in ("a", "b", "a", "A", "a")]
    taken = {"name": "taken"}
    rejected(client, "POST", objects, [taken, {}, taken, {}, taken])
    objects[0]["speed"] = 0
    rejected(client, "POST", objects[:3], [{"name": "taken", "speed": "invalid"}, {}, taken])
    add(client, "x", "y", "z")
    changes = [{"id": 1, "name": "new"}, {"id": 2, "speed": 1}, {"id": 3, "name": "new"}]
    rejected(client, "PATCH", changes, [taken, {}, taken])


def check_names_that_are_stored(client):
    """A name of a stored interface is taken, unless it is the changed object's own; old names are free."""
    add(client, "x", "y")
    taken = {"name": "taken"}
    rejected(client, "POST", [{"name": "z", "speed": 1}, {"name": "y", "speed": 1}], [{}, taken])
    rejected(client, "PATCH", [{"id": 1, "name": "y"}], [taken])
    rejected(client, "PATCH", [{"id": 1, "name": "y"}, {"id": 2, "name": "x"}], [taken, taken])
    rejected(client, "PATCH", [{"id": 9, "name": "y"}], [{"id": "not found", "name": "taken"}])
    rejected(client, "PATCH", [{"id": 1, "name": "x"}, {"id": 1, "speed": 1}], [{"id": "repeated"}] * 2)
    changed = [{"id": 1, "name": "x", "speed": 5}, {"id": 2, "name": "w", "speed": 1000}]
    answered(client, "PATCH", [changed[0], {"id": 2, "name": "w"}], 200, {"interfaces": changed})
    assert add(client, "y") == [{"id": 3, "name": "y", "speed": 1000}], "a name that was given up is not free"


def check_change(client):
    """PATCH changes what is given, and answers the changed interfaces in the order of the request."""
    one, two, three = add(client, "x", "y", "z")
    two["speed"], three["name"] = 10, "n" * 20
    objects = [{"id": 3, "name": "n" * 20}, {"id": 2, "speed": 10}, {"id": 1}]
    answered(client, "PATCH", objects, 200, {"interfaces": [three, two, one]})
    stored_is(client, [one, two, three])
    one = {"id": 1, "name": "new", "speed": 100_000}
    answered(client, "PATCH", [one], 200, {"interfaces": [one]})
    stored_is(client, [one, two, three])


def check_change_reports_every_error(client):
    """Ids of a PATCH that are missing, invalid, repeated or unknown are told together with other errors."""
    add(client, "x", "y", "z")
    objects = [
        {"id": 1, "speed": 10},
        {"speed": 10},
        {"id": "2", "name": ""},
        {"id": 4, "speed": 10},
        {"id": 2, "mtu": 1500},
        {"id": 3, "speed": 1},
        {"id": 3, "speed": True},
        {"id": 9},
        {"id": 9},
        {"id": None},
        {"id": 2.0},
        {"id": True},
        {"id": -1},
    ]
    errors = [
        {},
        {"id": "missing"},
        {"id": "invalid", "name": "invalid"},
        {"id": "not found"},
        {"mtu": "unknown"},
        {"id": "repeated"},
        {"id": "repeated", "speed": "invalid"},
        {"id": "repeated"},
        {"id": "repeated"},
        {"id": "invalid"},
        {"id": "invalid"},
        {"id": "invalid"},
        {"id": "not found"},
    ]
    rejected(client, "PATCH", objects, errors)


def check_rejected_change_changes_nothing(client):
    """A rejected PATCH changes none of the interfaces."""
    before = add(client, "x", "y", "z")
    good = [{"id": 1, "speed": 1}, {"id": 2, "name": "new"}]
    for bad, errors in (({"id": 7}, {"id": "not found"}), ({"id": 3, "speed": 0}, {"speed": "invalid"})):
        rejected(client, "PATCH", [*good, bad], [{}, {}, errors])
        rejected(client, "PATCH", [bad, *good], [errors, {}, {}])
    stored_is(client, before)


def check_remove(client):
    """DELETE removes exactly the named interfaces; their names are free, their ids are not used again."""
    add(client, "x", "y", "z")
    response = send(client, "DELETE", [{"id": 3}, {"id": 1}])
    assert response.status_code == 204, f"DELETE answered {response.status_code}, expected 204"
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    stored_is(client, [{"id": 2, "name": "y", "speed": 1000}])
    assert [item["id"] for item in add(client, "z", "x")] == [4, 5], "ids of removed interfaces were used again"


def check_rejected_removal_removes_nothing(client):
    """A DELETE with a wrong object is rejected with the errors of each object and removes nothing."""
    before = add(client, "x", "y", "z")
    objects = [{"id": 1}, {"id": 4}, {"id": 2}, {"id": 2}, {}, {"id": "3"}, {"id": 3, "name": "z"}]
    errors = [{}, {"id": "not found"}, {"id": "repeated"}, {"id": "repeated"}, {"id": "missing"}, {"id": "invalid"}]
    rejected(client, "DELETE", objects, [*errors, {"name": "unknown"}])
    stored_is(client, before)
    send(client, "DELETE", [{"id": 1}])
    rejected(client, "DELETE", [{"id": 1}, {"id": 2}], [{"id": "not found"}, {}])


def check_things_that_are_not_objects(client):
    """What is not an object in a list is an error of its own, told with the others."""
    before = add(client, "x")
    wrong = {"object": "invalid"}
    odd = [None, 1, "x", [], True, 1.5]
    for method, good in (("POST", {"name": "y", "speed": 1}), ("PATCH", {"id": 1, "speed": 1}), ("DELETE", {"id": 1})):
        rejected(client, method, [good, *odd], [{}, *[wrong] * len(odd)])
        rejected(client, method, [None, {"mtu": 1} | good], [wrong, {"mtu": "unknown"}])
    stored_is(client, before)


def check_bodies_that_are_no_lists(client):
    """A body that is not a JSON list, or an empty one, is 400 for all three methods."""
    before = add(client, "x")
    for body in (b"[]", b"{}", b'{"id": 1}', b'{"name": "y", "speed": 1}', b'"x"', b"null", b"1", b"[", b""):
        for method in ("POST", "PATCH", "DELETE"):
            response = client.request(method, PATH, content=body, headers={"Content-Type": "application/json"})
            what = f"{method} with the body {body!r}"
            assert response.status_code == 400, f"{what} answered {response.status_code}, expected 400"
            assert response.json() == {"error": "invalid"}, f"{what} answered {response.text}"
    stored_is(client, before)


def check_length_of_the_list(client):
    """A list may have 50 objects; with 51 it is 413."""
    answered(client, "POST", new(51), 413, {"error": "too many"})
    answered(client, "POST", [*new(50), None], 413, {"error": "too many"})
    stored_is(client, [])
    fill(client, 50)
    numbers = [{"id": number} for number in range(1, 51)]
    for method, status in (("PATCH", 200), ("DELETE", 204)):
        found = send(client, method, numbers).status_code
        assert found == status, f"{method} of 50 objects answered {found}, expected {status}"
    stored_is(client, [])


def check_number_of_interfaces(client):
    """There may be 120 interfaces, then POST is 409 until one is removed."""
    fill(client, 119)
    rejected(client, "POST", [{"name": "x", "speed": 0}, {"name": "y", "speed": 1}], [{"speed": "invalid"}, {}])
    add(client, "last")
    answered(client, "POST", [{"name": "x", "speed": 1}], 409, {"error": "full"})
    assert len(stored(client)) == 120, f"there are {len(stored(client))} interfaces, expected 120"
    send(client, "DELETE", [{"id": 1}])
    assert add(client, "x")[0]["id"] == 121, "the POST that was refused with 409 used up an id"
