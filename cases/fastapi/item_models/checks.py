"""Hidden checks: what POST /items accepts and stores, and how items are read back."""

MUG = {"name": "Mug", "price": 9.5, "cost": 2.25, "quantity": 12, "tags": ["kitchen", "blue"]}


def changed(**fields):
    return {**MUG, **fields}


def without(field):
    return {name: value for name, value in MUG.items() if name != field}


def create(client, body):
    response = client.post("/items", json=body)
    assert response.status_code == 201, f"POST {body} gave {response.status_code}, expected 201: {response.text}"
    return response.json()


def assert_shows(item, expected):
    for field, value in expected.items():
        assert item.get(field) == value, f"{field} is {item.get(field)!r}, expected {value!r} in {item}"


def assert_refused(client, *bodies):
    create(client, MUG)
    for body in bodies:
        status = client.post("/items", json=body).status_code
        assert status == 422, f"POST {body} gave {status}, expected 422"


def check_create_returns_the_item(client):
    """It stores the item and answers 201 with id, name, price, quantity and tags."""
    item = create(client, MUG)
    assert_shows(item, {"name": "Mug", "price": 9.5, "quantity": 12, "tags": ["kitchen", "blue"]})
    assert type(item.get("id")) is int, f"id is {item.get('id')!r}, expected an integer"


def check_ids_count_up_from_one(client):
    """The server numbers the items 1, 2, 3 and so on."""
    ids = [create(client, changed(name=name)).get("id") for name in ("Mug", "Cup", "Jug")]
    assert ids == [1, 2, 3], f"the first three items have the ids {ids}, expected [1, 2, 3]"


def check_defaults(client):
    """A quantity that is left out is 0, tags that are left out are an empty list."""
    create(client, MUG)
    item = create(client, {"name": "Cup", "price": 4, "cost": 1})
    assert_shows(item, {"quantity": 0, "tags": []})


def check_limits_are_inclusive(client):
    """Values exactly at the allowed limits are accepted."""
    smallest = create(client, {"name": "x", "price": 0.01, "cost": 0, "quantity": 0, "tags": []})
    assert_shows(smallest, {"name": "x", "price": 0.01, "quantity": 0, "tags": []})
    assert_shows(create(client, changed(name="n" * 50)), {"name": "n" * 50})


def check_name_length(client):
    """The name has 1 to 50 characters."""
    assert_refused(client, changed(name=""), changed(name="n" * 51))


def check_numbers_out_of_range(client):
    """The price is greater than 0; cost and quantity are 0 or more."""
    assert_refused(client, changed(price=0), changed(price=-1), changed(cost=-0.01), changed(quantity=-1))


def check_wrong_types(client):
    """Fields of another type than the one named are invalid."""
    assert_refused(
        client,
        changed(name=None),
        changed(name=["Mug"]),
        changed(price="cheap"),
        changed(cost=None),
        changed(quantity=1.5),
        changed(tags="kitchen"),
        changed(tags=["kitchen", {"colour": "blue"}]),
    )


def check_required_fields(client):
    """Name, price and cost are required."""
    assert_refused(client, without("name"), without("price"), without("cost"), {})


def check_refused_items_are_not_stored(client):
    """A refused request stores nothing."""
    assert_refused(client, changed(price=-1), without("cost"))
    create(client, changed(name="Cup"))
    names = [item.get("name") for item in client.get("/items").json()]
    assert names == ["Mug", "Cup"], f"after two accepted and two refused items the list has {names}"


def check_list_in_order_of_creation(client):
    """GET /items answers 200 with all items, oldest first."""
    created = [create(client, changed(name=name)) for name in ("Zinc tub", "Apron", "Mug")]
    response = client.get("/items")
    assert response.status_code == 200, f"GET /items gave {response.status_code}, expected 200"
    assert response.json() == created, f"GET /items gave {response.json()}, expected {created}"


def check_read_one_item(client):
    """GET /items/{item_id} answers 200 with the item in the same form."""
    created = [create(client, MUG), create(client, changed(name="Cup", price=4.5, tags=[]))]
    for item in created:
        response = client.get(f"/items/{item.get('id')}")
        assert response.status_code == 200, f"GET of item {item.get('id')} gave {response.status_code}"
        assert response.json() == item, f"GET gave {response.json()}, POST had given {item}"


def check_unknown_id(client):
    """An unknown id is answered with 404 and a fixed body."""
    create(client, MUG)
    for number in (0, 2):
        response = client.get(f"/items/{number}")
        assert response.status_code == 404, f"unknown item {number} gave {response.status_code}, expected 404"
        assert response.json() == {"detail": "Item not found"}, f"the 404 body is {response.text}"


def check_id_must_be_an_integer(client):
    """An id that is not an integer is answered with 422."""
    create(client, MUG)
    for text in ("mug", "1.5"):
        status = client.get(f"/items/{text}").status_code
        assert status == 422, f"GET /items/{text} gave {status}, expected 422"
