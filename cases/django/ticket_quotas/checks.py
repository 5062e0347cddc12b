"""Selling, changing and canceling, one after another and all at once."""


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:200]}, expected {body}"
    return response


def add_quota(client, name, size, *tickets):
    body = {"name": name, "size": size, "tickets": list(tickets)}
    return expect(client.post("/quotas/", json=body), 201, f"quota {name!r}").json()["id"]


def order(client, **positions):
    return client.post("/orders/", json={"positions": positions})


def bought(client, **positions):
    return expect(order(client, **positions), 201, f"order of {positions}").json()["code"]


def change(client, code, **positions):
    return client.patch(f"/orders/{code}/", json={"positions": positions})


def cancel(client, code):
    return client.post(f"/orders/{code}/cancel/")


def expect_sold(client, quota, sold, what):
    found = expect(client.get(f"/quotas/{quota}/"), 200, f"quota {what}").json()
    assert found["sold"] == sold, f"{what}: {found['sold']} sold, expected {sold}"
    assert found["available"] == found["size"] - sold, f"{what}: {found['available']} available of {found['size']}"


def count_statuses(responses, allowed, what):
    statuses = [response.status_code for response in responses]
    assert set(statuses) <= set(allowed), f"{what}: statuses {sorted(statuses)}, expected only {allowed}"
    return [statuses.count(status) for status in allowed]


def check_quota_is_described(client):
    """A quota is answered with all its fields; an unknown one is 404."""
    made = expect(
        client.post("/quotas/", json={"name": "hall", "size": 4, "tickets": ["adult", "child"]}), 201, "quota"
    ).json()
    expected = {
        "id": made.get("id"),
        "name": "hall",
        "size": 4,
        "tickets": ["adult", "child"],
        "sold": 0,
        "available": 4,
    }
    assert made == expected and type(made["id"]) is int, f"new quota {made}, expected {expected}"
    expect(client.get(f"/quotas/{made['id']}/"), 200, "quota", expected)
    expect(client.get("/quotas/9999/"), 404, "unknown quota", {"error": "not found"})


def check_order_is_described(client):
    """An order is answered with code, status and positions, and its tickets are sold."""
    hall = add_quota(client, "hall", 10, "adult", "child")
    made = expect(order(client, adult=2, child=3), 201, "order").json()
    assert isinstance(made.get("code"), str) and made["code"], f"the order has no code: {made}"
    assert made == {"code": made["code"], "status": "active", "positions": {"adult": 2, "child": 3}}, f"order {made}"
    expect(client.get(f"/orders/{made['code']}/"), 200, "order", made)
    expect_sold(client, hall, 5, "after an order of five")
    for response in (client.get("/orders/nope/"), change(client, "nope", adult=1), cancel(client, "nope")):
        expect(response, 404, f"{response.request.method} of an unknown order", {"error": "not found"})


def check_quota_can_be_filled_but_not_exceeded(client):
    """The last ticket is sold, the one after it is not; positions of one order are added up."""
    hall = add_quota(client, "hall", 5, "adult", "child")
    bought(client, adult=3)
    expect(order(client, child=3), 409, "order of three with two left", {"error": "sold out"})
    expect(order(client, adult=1, child=2), 409, "order of 1 + 2 with two left", {"error": "sold out"})
    bought(client, child=2)
    expect(order(client, adult=1), 409, "order in a full quota", {"error": "sold out"})
    expect_sold(client, hall, 5, "full quota")


def check_every_quota_of_a_type_counts(client):
    """A type in several quotas needs room in each and takes room from each."""
    hall, workshop = add_quota(client, "hall", 5, "adult", "pro"), add_quota(client, "workshop", 2, "pro")
    bought(client, pro=2)
    expect(order(client, pro=1), 409, "type whose smaller quota is full", {"error": "sold out"})
    bought(client, adult=3)
    expect_sold(client, hall, 5, "quota of both types")
    expect_sold(client, workshop, 2, "quota of one type")
    balcony = add_quota(client, "balcony", 0, "seat")
    expect(order(client, seat=1), 409, "quota of size 0", {"error": "sold out"})
    expect_sold(client, balcony, 0, "quota of size 0")


def check_refused_order_has_no_effect(client):
    """If one position does not fit, the others are not sold either."""
    hall, bus = add_quota(client, "hall", 10, "adult"), add_quota(client, "bus", 1, "ride")
    for positions in ({"adult": 2, "ride": 2}, {"ride": 2, "adult": 2}):
        expect(
            client.post("/orders/", json={"positions": positions}),
            409,
            f"order {positions}",
            {"error": "sold out"},
        )
        expect_sold(client, hall, 0, "hall after a refused order")
        expect_sold(client, bus, 0, "bus after a refused order")
    bought(client, adult=10, ride=1)


def check_invalid_positions(client):
    """Positions of another form, impossible counts and types that are not for sale are 422 without effect."""
    hall = add_quota(client, "hall", 100, "adult", "child")
    code = bought(client, adult=1)
    for positions in (
        {},
        [],
        None,
        "adult",
        ["adult"],
        {"adult": 0},
        {"adult": -1},
        {"adult": 51},
        {"adult": 1.5},
        {"adult": "1"},
        {"adult": True},
        {"adult": None},
        {"child": 2, "adult": -1},
        {"dog": 1},
        {"child": 1, "dog": 1},
    ):
        for method, path in (("POST", "/orders/"), ("PATCH", f"/orders/{code}/")):
            response = client.request(method, path, json={"positions": positions})
            expect(response, 422, f"{method} with positions {positions!r}", {"error": "invalid"})
    expect(client.post("/orders/", json={}), 422, "no positions", {"error": "invalid"})
    expect_sold(client, hall, 1, "after refused requests")
    bought(client, adult=50)


def check_change_replaces_positions(client):
    """A change adds, drops and resizes positions; what is given up can be sold again."""
    hall, bus = add_quota(client, "hall", 6, "adult", "child"), add_quota(client, "bus", 2, "ride")
    code = bought(client, adult=4, ride=2)
    expected = {"code": code, "status": "active", "positions": {"adult": 1, "child": 2}}
    expect(change(client, code, adult=1, child=2), 200, "change", expected)
    expect(client.get(f"/orders/{code}/"), 200, "changed order", expected)
    expect_sold(client, hall, 3, "hall after the change")
    expect_sold(client, bus, 0, "bus after the change")
    bought(client, child=3, ride=2)


def check_change_within_a_full_quota(client):
    """An order may move to another type of the same full quota, or stay as it is, but not grow."""
    hall = add_quota(client, "hall", 4, "adult", "child")
    code, _ = bought(client, adult=2), bought(client, child=2)
    expect(change(client, code, adult=2), 200, "change to the same positions")
    expect(change(client, code, child=2), 200, "move within a full quota")
    expect(change(client, code, child=2, adult=1), 409, "growth in a full quota", {"error": "sold out"})
    expect_sold(client, hall, 4, "full quota")


def check_refused_change_has_no_effect(client):
    """A change that does not fit leaves the order and all quotas as they were."""
    hall, bus = add_quota(client, "hall", 9, "adult"), add_quota(client, "bus", 3, "ride")
    code = bought(client, ride=1)
    bought(client, ride=2)
    before = client.get(f"/orders/{code}/").json()
    expect(change(client, code, adult=5, ride=2), 409, "change that does not fit", {"error": "sold out"})
    expect(client.get(f"/orders/{code}/"), 200, "order after a refused change", before)
    expect_sold(client, hall, 0, "hall after a refused change")
    expect_sold(client, bus, 3, "bus after a refused change")


def check_cancel(client):
    """Canceling frees the tickets once and for all; a canceled order cannot be changed."""
    hall = add_quota(client, "hall", 5, "adult")
    code, _ = bought(client, adult=2), bought(client, adult=3)
    canceled = {"code": code, "status": "canceled", "positions": {"adult": 2}}
    for time in ("first", "second", "third"):
        expect(cancel(client, code), 200, f"{time} cancel", canceled)
        expect_sold(client, hall, 3, f"after the {time} cancel")
    expect(change(client, code, adult=1), 409, "change of a canceled order", {"error": "canceled"})
    expect(client.get(f"/orders/{code}/"), 200, "canceled order", canceled)
    bought(client, adult=2)
    expect(order(client, adult=1), 409, "order in a full quota", {"error": "sold out"})


def check_other_methods_are_refused(client):
    """Methods that a route does not name are 405."""
    hall = add_quota(client, "hall", 9, "adult")
    code = bought(client, adult=1)
    for method, path in (
        ("GET", "/quotas/"),
        ("DELETE", f"/quotas/{hall}/"),
        ("PUT", "/orders/"),
        ("DELETE", f"/orders/{code}/"),
        ("GET", f"/orders/{code}/cancel/"),
    ):
        body = {"name": "bus", "size": 1, "tickets": ["ride"], "positions": {"adult": 2}}
        expect(client.request(method, path, json=body), 405, f"{method} {path}")
    assert client.get(f"/orders/{code}/").json()["status"] == "active", "a refused method canceled the order"


def check_parallel_orders(client, parallel):
    """Of many orders at once exactly as many succeed as there are tickets."""
    for size in (1, 4, 9):
        ticket = f"row{size}"
        quota = add_quota(client, ticket, size, ticket)
        responses = parallel([lambda: order(client, **{ticket: 1})] * 12)
        sold, refused = count_statuses(responses, [201, 409], f"12 orders for {size} tickets")
        assert sold == size, f"12 orders for {size} tickets: {sold} succeeded, {refused} were refused"
        expect_sold(client, quota, size, f"after 12 orders for {size} tickets")
        codes = {response.json()["code"] for response in responses if response.status_code == 201}
        assert len(codes) == size, "orders made at the same time share a code"


def check_parallel_orders_over_two_quotas(client, parallel):
    """Orders that need two quotas, named in either order, neither block each other nor pass a limit."""
    left, right = add_quota(client, "left", 6, "a"), add_quota(client, "right", 4, "b")
    calls = [lambda: order(client, a=1, b=1), lambda: order(client, b=1, a=1)] * 6
    sold, _ = count_statuses(parallel(calls), [201, 409], "12 orders over two quotas")
    assert sold == 4, f"12 orders over quotas of 6 and 4: {sold} succeeded, expected 4"
    expect_sold(client, left, 4, "quota of 6")
    expect_sold(client, right, 4, "quota of 4")


def check_parallel_changes(client, parallel):
    """Orders that grow at the same time stay within the quota; those refused keep what they had."""
    hall = add_quota(client, "hall", 11, "adult")
    codes = [bought(client, adult=1) for _ in range(8)]
    responses = parallel([lambda code=code: change(client, code, adult=2) for code in codes])
    grown, _ = count_statuses(responses, [200, 409], "8 orders growing by one with three left")
    assert grown == 3, f"8 orders growing by one with three left: {grown} succeeded, expected 3"
    counts = sorted(client.get(f"/orders/{code}/").json()["positions"]["adult"] for code in codes)
    assert counts == [1] * 5 + [2] * 3, f"the orders now hold {counts}"
    expect_sold(client, hall, 11, "after the changes")


def check_parallel_cancel_and_change(client, parallel):
    """Canceling and changing one order at the same time leaves it canceled, with nothing sold."""
    hall = add_quota(client, "hall", 20, "adult")
    for _ in range(3):
        code = bought(client, adult=3)
        calls = [lambda: cancel(client, code), lambda: change(client, code, adult=5)] * 4
        responses = parallel(calls)
        count_statuses(responses[::2], [200], "cancel")
        count_statuses(responses[1::2], [200, 409], "change during cancels")
        status = client.get(f"/orders/{code}/").json()["status"]
        assert status == "canceled", f"after four cancels the order is {status}"
        expect_sold(client, hall, 0, "after the cancels")


def check_data_survives_a_restart(client, restart):
    """Quotas and orders are still there after a restart."""
    hall = add_quota(client, "hall", 3, "adult")
    code = bought(client, adult=2)
    before = client.get(f"/orders/{code}/").json()
    restart()
    expect(client.get(f"/orders/{code}/"), 200, "order after a restart", before)
    expect_sold(client, hall, 2, "after a restart")
    expect(order(client, adult=2), 409, "order of two with one left", {"error": "sold out"})
