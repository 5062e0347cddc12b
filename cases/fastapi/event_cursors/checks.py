"""Hidden checks: order, walks in both directions, changes during a walk, and which cursors are accepted."""

TIMES = (50, 20, 20, 70, 20, 90, 50, 20, 10, 70, 50)
KINDS = ("info", "error", "info", "warning", "error", "info", "error", "info", "error", "info", "warning")


def add(client, happened_at, kind="info", message="Something happened"):
    body = {"kind": kind, "happened_at": happened_at, "message": message}
    response = client.post("/events", json=body)
    assert response.status_code == 201, f"POST {body} gave {response.status_code}, expected 201"
    return response.json()


def delete(client, event):
    response = client.delete(f"/events/{event['id']}")
    assert response.status_code == 204, f"DELETE of event {event['id']} gave {response.status_code}"


def seed(client):
    return [add(client, time, kind) for time, kind in zip(TIMES, KINDS, strict=True)]


def page(client, **params):
    response = client.get("/events", params=params)
    assert response.status_code == 200, f"GET /events {params} gave {response.status_code}, expected 200"
    answer = response.json()
    assert set(answer) == {"items", "next", "previous"}, f"the answer has the fields {sorted(answer)}"
    return answer


def ids(items):
    return [item["id"] for item in items]


def in_order(events, order, kind=None):
    chosen = [event for event in events if kind in (None, event["kind"])]
    return sorted(chosen, key=lambda event: (event["happened_at"], event["id"]), reverse=order == "desc")


def walk(client, answer, direction, **params):
    """The pages that follow `answer` along next or previous."""
    pages = []
    while answer[direction] is not None:
        assert len(pages) < 30, f"the walk along {direction} does not end"
        answer = page(client, cursor=answer[direction], **params)
        pages.append(answer)
    return pages


def assert_ids(items, expected, what):
    assert ids(items) == ids(expected), f"{what}: got the ids {ids(items)}, expected {ids(expected)}"


def assert_refused(client, cursor, **params):
    response = client.get("/events", params={"cursor": cursor, **params})
    told = f"cursor {cursor!r} with {params}"
    assert response.status_code == 400, f"{told} gave {response.status_code}, expected 400"
    assert response.json() == {"detail": "Invalid cursor"}, f"{told} gave the body {response.text}"


def check_create_and_delete(client):
    """A created event is answered with its id; ids count up and are never used again."""
    first = add(client, 0, "warning", "m" * 200)
    expected = {"id": 1, "kind": "warning", "happened_at": 0, "message": "m" * 200}
    assert first == expected, f"POST answered {first}, expected {expected}"
    second = add(client, 5, message="m")
    delete(client, second)
    status = client.delete("/events/2").status_code
    assert status == 404, f"the second DELETE gave {status}, expected 404"
    assert add(client, 5)["id"] == 3, "the id of a deleted event was used again"
    assert ids(page(client, order="asc")["items"]) == [1, 3], "the deleted event is still listed"


def check_invalid_events(client):
    """An invalid body is 422."""
    valid = add(client, 1)
    del valid["id"]
    for field, value in (("kind", "debug"), ("happened_at", -1), ("message", ""), ("message", "m" * 201)):
        status = client.post("/events", json={**valid, field: value}).status_code
        assert status == 422, f"{field}={value!r} gave {status}, expected 422"
    for field in valid:
        body = {name: value for name, value in valid.items() if name != field}
        status = client.post("/events", json=body).status_code
        assert status == 422, f"a body without {field} gave {status}, expected 422"


def check_order(client):
    """Ascending is by happened_at and id; descending, the default, is the exact reverse."""
    events = seed(client)
    assert_ids(page(client, order="asc", limit=50)["items"], in_order(events, "asc"), "ascending")
    assert_ids(page(client, order="desc", limit=50)["items"], in_order(events, "desc"), "descending")
    assert_ids(page(client, limit=50)["items"], in_order(events, "desc"), "default order")


def check_limit_and_other_parameters(client):
    """The limit is 1 to 50, by default 10; any other kind, order or limit is 422."""
    events = [add(client, time) for time in range(52)]
    newest_first = in_order(events, "desc")
    assert_ids(page(client)["items"], newest_first[:10], "default limit")
    assert_ids(page(client, limit=1)["items"], newest_first[:1], "limit 1")
    assert_ids(page(client, limit=50)["items"], newest_first[:50], "limit 50")
    for name, value in (("kind", "debug"), ("order", "up"), ("limit", 0), ("limit", 51), ("limit", "x")):
        status = client.get("/events", params={name: value}).status_code
        assert status == 422, f"{name}={value} gave {status}, expected 422"


def check_walk_forward(client):
    """Following next shows each event once, in order, also where happened_at is equal."""
    events = seed(client)
    for order in ("asc", "desc"):
        expected = in_order(events, order)
        for limit in (1, 2, 3, 4, 11):
            first = page(client, order=order, limit=limit)
            pages = [first, *walk(client, first, "next", order=order, limit=limit)]
            cut = [expected[begin : begin + limit] for begin in range(0, len(events), limit)]
            found = [ids(answer["items"]) for answer in pages]
            assert found == [ids(part) for part in cut], f"{order} pages of {limit} have the ids {found}"


def check_walk_backward(client):
    """Following previous from the last page leads back over the same events in the same order."""
    events = seed(client)
    for order in ("asc", "desc"):
        for limit in (1, 2, 3, 5):
            params = {"order": order, "limit": limit}
            last = walk(client, page(client, **params), "next", **params)[-1]
            pages = [last, *walk(client, last, "previous", **params)]
            found = [item for answer in reversed(pages) for item in answer["items"]]
            assert_ids(found, in_order(events, order), f"{order} pages of {limit}, walked back")
            again = walk(client, pages[-1], "next", **params)
            assert again, f"the first page reached by previous has no next ({order}, limit {limit})"
            found = [item for answer in [pages[-1], *again] for item in answer["items"]]
            assert_ids(found, in_order(events, order), f"{order} pages of {limit}, forward again")


def check_previous_gives_the_nearest_events(client):
    """The previous page has the last events before the page, not the first ones of the order."""
    events = in_order(seed(client), "asc")
    first = page(client, order="asc", limit=6)
    second = page(client, order="asc", limit=4, cursor=first["next"])
    back = page(client, order="asc", limit=2, cursor=second["previous"])
    assert_ids(back["items"], events[4:6], "two events before the second page")
    assert back["previous"] is not None, "previous is null although four events lie before the page"


def check_kind_applies_to_pages_and_cursors(client):
    """With a kind, only its events are shown, and only they decide whether next and previous are null."""
    events = seed(client)
    for kind, count in (("info", 5), ("error", 4), ("warning", 2)):
        params = {"kind": kind, "order": "asc", "limit": 2}
        first = page(client, **params)
        pages = [first, *walk(client, first, "next", **params)]
        found = [item for answer in pages for item in answer["items"]]
        assert_ids(found, in_order(events, "asc", kind), f"pages of kind {kind}")
        assert len(pages) == (count + 1) // 2, f"{count} events of kind {kind} came in {len(pages)} pages of 2"
        assert first["previous"] is None, f"the first page of kind {kind} has a previous page"


def check_ends_are_null(client):
    """next is null if nothing lies after the page, previous if nothing lies before it."""
    nothing = {"items": [], "next": None, "previous": None}
    assert page(client) == nothing, f"an empty log gave {page(client)}"
    seed(client)
    first = page(client, limit=10)
    assert first["previous"] is None, "the first page has a previous page"
    assert first["next"] is not None, "one event lies after the first page, but next is null"
    last = page(client, limit=10, cursor=first["next"])
    assert last["next"] is None, "the last page has a next page"
    assert last["previous"] is not None, "ten events lie before the last page, but previous is null"
    everything = page(client, limit=11)
    assert everything["next"] is None, "a page that is just full and the last one has a next page"


def check_events_added_during_the_walk(client):
    """Events added before the place shift nothing, events added after it are shown."""
    events = in_order(seed(client), "asc")
    first = page(client, order="asc", limit=4)
    add(client, 0)
    add(client, 5)
    latest = add(client, 60)
    second = page(client, order="asc", limit=50, cursor=first["next"])
    assert_ids(second["items"], in_order([*events[4:], latest], "asc"), "after two early and one late event")
    back = page(client, order="asc", limit=50, cursor=second["previous"])
    assert ids(back["items"])[:2] == [12, 13], f"the early events are not before the page: {ids(back['items'])}"
    assert_ids(back["items"][2:], events[:4], "previous after two early events")


def check_events_deleted_at_the_place(client):
    """A cursor stays valid when the events it came from are deleted."""
    events = in_order(seed(client), "desc")
    first = page(client, limit=3)
    second = page(client, limit=3, cursor=first["next"])
    for event in (*events[1:4], events[5]):
        delete(client, event)
    third = page(client, limit=3, cursor=second["next"])
    assert_ids(third["items"], events[6:9], "next after the last event of the page was deleted")
    back = page(client, limit=3, cursor=second["previous"])
    assert_ids(back["items"], events[:1], "previous after the first event of the page was deleted")
    again = page(client, limit=3, cursor=first["next"])
    assert_ids(again["items"], [events[4], *events[6:8]], "the first page's next after deletions on both sides")


def check_nothing_left_at_the_place(client):
    """If nothing lies at the place any more, the page is empty and next and previous are null."""
    events = in_order(seed(client), "asc")
    first = page(client, order="asc", limit=9)
    for event in events[9:]:
        delete(client, event)
    rest = page(client, order="asc", cursor=first["next"])
    expected = {"items": [], "next": None, "previous": None}
    assert rest == expected, f"after everything behind the place was deleted: {rest}"


def check_limit_may_change(client):
    """A cursor is valid with another limit than that of the page it came from."""
    events = in_order(seed(client), "desc")
    first = page(client, limit=2)
    for limit in (1, 5, 50):
        found = page(client, limit=limit, cursor=first["next"])
        assert_ids(found["items"], events[2 : 2 + limit], f"limit {limit} after a page of 2")


def check_cursor_belongs_to_kind_and_order(client):
    """A cursor with another kind or another order than it was issued for is 400."""
    seed(client)
    for direction in ("next", "previous"):
        of_all = page(client, order="asc", limit=2)
        of_kind = page(client, order="asc", limit=2, kind="error")
        if direction == "previous":
            of_all = page(client, order="asc", limit=2, cursor=of_all["next"])
            of_kind = page(client, order="asc", limit=2, kind="error", cursor=of_kind["next"])
        assert_refused(client, of_all[direction])
        assert_refused(client, of_all[direction], order="desc")
        assert_refused(client, of_all[direction], order="asc", kind="error")
        assert_refused(client, of_kind[direction], order="asc")
        assert_refused(client, of_kind[direction], order="asc", kind="info")
        assert_refused(client, of_kind[direction], order="desc", kind="error")


def check_unknown_cursors(client):
    """A text that is not a cursor of the application is 400 with a fixed body."""
    seed(client)
    issued = page(client, limit=2)["next"]
    assert ids(page(client, limit=2, cursor=issued)["items"]), "the issued cursor leads nowhere"
    for text in ("abc", "3", "None", "a.b", "e30=", "no such cursor"):
        assert_refused(client, text, limit=2)
