"""Devices, changed one after another and at the same time."""

import time
from datetime import UTC, datetime, timedelta

FIELDS = {"id", "name", "enabled", "muted", "volume", "revision", "updated_at"}


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def add(client, name="hall"):
    return expect(client.post("/devices/", json={"name": name}), 201, "new device").json()["id"]


def patch(client, pk, /, **fields):
    return client.patch(f"/devices/{pk}/", json=fields)


def turn(client, pk, delta, **more):
    return client.post(f"/devices/{pk}/volume/", json={"delta": delta} | more)


def read(client, pk):
    return expect(client.get(f"/devices/{pk}/"), 200, "device").json()


def is_now(client, pk, **expected):
    found = read(client, pk)
    seen = {name: found[name] for name in expected}
    assert seen == expected, f"the device has {seen}, expected {expected}"


def invalid(response, what, *fields):
    expect(response, 422, what, {"error": "invalid", "fields": sorted(fields)})


def together(parallel, *calls, apart=0.1):
    """Make the calls overlap, each begun a little after the one before; return their answers."""

    def delayed(place, call):
        time.sleep(place * apart)
        return call()

    return parallel([lambda place=place, call=call: delayed(place, call) for place, call in enumerate(calls)])


def check_new_device(client):
    """A new device has the given name and the initial values."""
    before = datetime.now(UTC)
    response = expect(client.post("/devices/", json={"name": "hall"}), 201, "new device")
    made = response.json()
    assert made.keys() == FIELDS, f"the device has the fields {sorted(made)}, expected {sorted(FIELDS)}"
    assert type(made["id"]) is int, f"the id is {made['id']!r}, expected a whole number"
    rest = {name: value for name, value in made.items() if name not in ("id", "updated_at")}
    expected = {"name": "hall", "enabled": True, "muted": False, "volume": 50, "revision": 0}
    assert rest == expected, f"the device has {rest}, expected {expected}"
    moment = datetime.fromisoformat(made["updated_at"])
    assert moment.tzinfo, f"updated_at has no offset: {made['updated_at']}"
    limits = before - timedelta(seconds=1), datetime.now(UTC) + timedelta(seconds=1)
    assert limits[0] <= moment <= limits[1], f"updated_at is {moment}, which is not now"
    assert read(client, made["id"]) == made, f"the device is {read(client, made['id'])}, expected {made}"
    assert add(client) != made["id"], "two devices have the same id"


def check_partial_update(client):
    """The given fields change, the others stay, and the answer is the device after it."""
    pk, other = add(client), add(client, "attic")
    state = read(client, pk)
    for revision, fields in enumerate(
        (
            {"muted": True},
            {"volume": 0},
            {"name": "x" * 40, "enabled": False},
            {"enabled": False},
            {"volume": 100, "muted": False, "delay": 0.01},
            {"name": "y", "enabled": True, "muted": True, "volume": 7},
        ),
        1,
    ):
        found = expect(patch(client, pk, **fields), 200, f"PATCH {fields}").json()
        state |= {name: value for name, value in fields.items() if name != "delay"}
        state |= {"revision": revision, "updated_at": found["updated_at"]}
        assert found == state, f"PATCH {fields} answers {found}, expected {state}"
        assert read(client, pk) == state, f"after PATCH {fields} the device is {read(client, pk)}, expected {state}"
    is_now(client, other, name="attic", enabled=True, muted=False, volume=50, revision=0)


def check_updates_without_fields(client):
    """Without a field nothing changes, the revision neither."""
    pk = add(client)
    patch(client, pk, volume=60)
    state = read(client, pk)
    for fields in ({}, {"delay": 0}, {"delay": 0.05}):
        expect(patch(client, pk, **fields), 200, f"PATCH {fields}", state)
    assert read(client, pk) == state, f"the device is {read(client, pk)}, expected {state}"


def check_moment_of_the_update(client):
    """updated_at is the moment of the latest change, and stays where nothing changes."""
    pk = add(client)
    moments = [read(client, pk)["updated_at"]]
    for call in (
        lambda: patch(client, pk, muted=True),
        lambda: turn(client, pk, 1),
        lambda: patch(client, pk, name="x"),
    ):
        time.sleep(0.02)
        moments.append(expect(call(), 200, "change").json()["updated_at"])
        assert read(client, pk)["updated_at"] == moments[-1], "the device has another updated_at than the answer"
    parsed = [datetime.fromisoformat(moment) for moment in moments]
    assert all(a < b for a, b in zip(parsed, parsed[1:], strict=False)), f"updated_at does not rise: {moments}"
    assert parsed[-1] - parsed[0] < timedelta(minutes=1), f"updated_at jumps: {moments}"
    time.sleep(0.02)
    patch(client, pk, volume=101)
    turn(client, pk, 99)
    patch(client, pk)
    assert read(client, pk)["updated_at"] == moments[-1], "updated_at has moved without a change"


def check_volume_steps(client):
    """The volume is turned up and down between 0 and 100, and not beyond."""
    pk = add(client)
    for revision, (delta, volume) in enumerate(((50, 100), (-100, 0), (30, 30), (0, 30), (-1, 29)), 1):
        found = expect(turn(client, pk, delta, delay=0.01), 200, f"delta {delta}").json()
        assert found == read(client, pk), f"delta {delta} answers {found}, then the device is {read(client, pk)}"
        is_now(client, pk, volume=volume, revision=revision)
    for delta in (72, 100, -30, -100):
        expect(turn(client, pk, delta), 409, f"delta {delta} at 29", {"error": "out of range"})
    is_now(client, pk, volume=29, revision=5, name="hall", enabled=True, muted=False)
    expect(turn(client, pk, 71), 200, "delta 71 at 29")
    expect(turn(client, pk, 1), 409, "delta 1 at 100", {"error": "out of range"})


def check_invalid_fields(client):
    """Unknown fields and wrong values are 422, named in order, and nothing of the request is done."""
    pk = add(client)
    for name, values in {
        "name": ("", "x" * 41, None, 7, ["x"]),
        "enabled": (0, 1, "true", None),
        "muted": (0, 1, "false", None, []),
        "volume": (-1, 101, 50.0, "50", True, None, 10**30),
        "delay": (-0.1, 1.1, "0", True, None),
        "revision": (5,),
        "id": (pk,),
        "updated_at": ("2020-01-01T00:00:00+00:00",),
        "delta": (1,),
        "pk": (pk,),
        "colour": ("red",),
    }.items():
        for value in values:
            invalid(patch(client, pk, **{name: value}), f"PATCH {name}={value!r}", name)
    invalid(patch(client, pk, volume=10, muted=1, colour=1, enabled=False), "PATCH with two faults", "colour", "muted")
    invalid(patch(client, pk, delay=1, colour=1), "PATCH with delay 1 and an unknown field", "colour")
    for body in ({}, {"delta": None}, {"delta": 1.0}, {"delta": "1"}, {"delta": True}, {"delta": 101}, {"delta": -101}):
        invalid(client.post(f"/devices/{pk}/volume/", json=body), f"volume {body}", "delta")
    invalid(turn(client, pk, 1, delay=2), "volume with delay 2", "delay")
    invalid(turn(client, pk, 1, volume=5), "volume with another field", "volume")
    for body in ({}, {"name": ""}, {"name": None}, {"name": "x" * 41}):
        invalid(client.post("/devices/", json=body), f"new device {body}", "name")
    invalid(client.post("/devices/", json={"name": "x", "volume": 5}), "new device with a volume", "volume")
    is_now(client, pk, name="hall", enabled=True, muted=False, volume=50, revision=0)


def check_bodies_that_are_no_objects(client):
    """Other bodies than JSON objects are 422."""
    pk = add(client)
    for method, path in (("POST", "/devices/"), ("PATCH", f"/devices/{pk}/"), ("POST", f"/devices/{pk}/volume/")):
        for content in (b"", b"{", b"[]", b"null", b'"name"', b"\xff"):
            headers = {"Content-Type": "application/json"}
            invalid(client.request(method, path, content=content, headers=headers), f"{method} {path} {content!r}")


def check_unknown_devices(client):
    """Unknown devices are 404 on each route, whatever the body."""
    pk = add(client)
    expect(client.delete(f"/devices/{pk}/"), 204, "deletion")
    for device in (pk, pk + 100):
        for response in (
            client.get(f"/devices/{device}/"),
            client.delete(f"/devices/{device}/"),
            patch(client, device, muted=True),
            patch(client, device, colour="red"),
            patch(client, device),
            turn(client, device, 1),
            turn(client, device, "x"),
        ):
            what = f"{response.request.method} {response.request.url.path}"
            expect(response, 404, what, {"error": "not found"})


def check_other_methods(client):
    """Methods that a route does not name are 405."""
    pk = add(client)
    for method, path in (("GET", "/devices/"), ("PUT", f"/devices/{pk}/"), ("GET", f"/devices/{pk}/volume/")):
        expect(client.request(method, path, json={}), 405, f"{method} {path}")


def check_overlapping_updates_of_different_fields(client, parallel):
    """A slow update does not undo what others changed meanwhile, and counts once."""
    pk = add(client)
    answers = together(
        parallel,
        lambda: patch(client, pk, name="slow", delay=0.5),
        lambda: patch(client, pk, enabled=False, volume=20),
        lambda: turn(client, pk, 5),
    )
    for answer in answers:
        expect(answer, 200, "overlapping change")
    is_now(client, pk, name="slow", enabled=False, muted=False, volume=25, revision=3)
    assert read(client, pk) == answers[0].json(), f"the last change answered {answers[0].json()}, not what is there now"


def check_waiting_updates_do_not_hold_up_others(client, parallel):
    """Who comes while another update waits is served first, and the later write of a field counts."""
    pk, other = add(client), add(client, "attic")
    slow, fast, third = together(
        parallel,
        lambda: patch(client, pk, volume=10, delay=0.5),
        lambda: patch(client, pk, volume=20),
        lambda: patch(client, other, volume=30),
    )
    revisions = [expect(answer, 200, "overlapping change").json()["revision"] for answer in (slow, fast)]
    assert revisions == [2, 1], f"the slow and the fast update have the revisions {revisions}, expected [2, 1]"
    assert fast.json()["volume"] == 20, f"the fast update was answered with {fast.json()}"
    is_now(client, pk, volume=10, revision=2)
    expect(third, 200, "change of another device")


def check_overlapping_volume_steps(client, parallel):
    """The volume as it is after the wait counts, for the sum and for its limits."""
    pk = add(client)
    answers = together(
        parallel,
        lambda: turn(client, pk, 30, delay=0.3),
        lambda: turn(client, pk, 15),
        lambda: turn(client, pk, 10, delay=0.4),
    )
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200, 200, 409], f"three steps from 50 by 30, 15 and 10 were answered with {statuses}"
    is_now(client, pk, volume=95, revision=2)
    slow, fast = together(parallel, lambda: turn(client, pk, 30, delay=0.3), lambda: patch(client, pk, volume=70))
    assert (slow.status_code, fast.status_code) == (200, 200), "a step that fits after the wait is refused"
    is_now(client, pk, volume=100, revision=4)


def check_deletion_during_an_update(client, parallel):
    """A device that is deleted while an update waits is gone, and the update is 404."""
    pk, other = add(client), add(client, "attic")
    slow, gone, step = together(
        parallel,
        lambda: patch(client, pk, name="ghost", delay=0.4),
        lambda: client.delete(f"/devices/{pk}/"),
        lambda: turn(client, other, 1),
    )
    expect(gone, 204, "deletion")
    expect(slow, 404, "update of a device that is deleted meanwhile", {"error": "not found"})
    expect(client.get(f"/devices/{pk}/"), 404, "deleted device")
    expect(step, 200, "change of another device")
    slow, _ = together(parallel, lambda: turn(client, other, 1, delay=0.3), lambda: client.delete(f"/devices/{other}/"))
    expect(slow, 404, "volume step of a device that is deleted meanwhile", {"error": "not found"})


def check_many_updates_at_once(client, parallel):
    """Twenty updates at once are all made; each answer tells the revision that it made."""
    pk = add(client)
    changes = [{"muted": bool(n % 2)} if n % 4 else {"name": f"n{n}", "delay": 0.05} for n in range(20)]
    answers = parallel([lambda fields=fields: patch(client, pk, **fields) for fields in changes])
    statuses = {answer.status_code for answer in answers}
    assert statuses == {200}, f"twenty updates at once were answered with {sorted(statuses)}"
    revisions = sorted(answer.json()["revision"] for answer in answers)
    assert revisions == list(range(1, 21)), f"the answers have the revisions {revisions}, expected 1 to 20"
    for answer, fields in zip(answers, changes, strict=True):
        found = answer.json()
        wanted = {name: value for name, value in fields.items() if name != "delay"}
        assert wanted.items() <= found.items(), f"PATCH {fields} was answered with {found}"
    is_now(client, pk, revision=20)


def check_many_volume_steps_at_once(client, parallel):
    """Of steps at once exactly those are made that fit, and none is lost."""
    pk = add(client)
    patch(client, pk, volume=0)
    answers = parallel([lambda: turn(client, pk, 4, delay=0.05)] * 20)
    assert [answer.status_code for answer in answers] == [200] * 20, "a step that fits was not made"
    is_now(client, pk, volume=80, revision=21)
    volumes = sorted(answer.json()["volume"] for answer in answers)
    assert volumes == list(range(4, 81, 4)), f"the answers have the volumes {volumes}, expected 4, 8 ... 80"
    statuses = sorted(answer.status_code for answer in parallel([lambda: turn(client, pk, 7, delay=0.05)] * 10))
    assert statuses == [200] * 2 + [409] * 8, f"ten steps by 7 from 80 were answered with {statuses}"
    is_now(client, pk, volume=94, revision=23)
