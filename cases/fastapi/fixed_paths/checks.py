"""Hidden checks: fixed paths never reach the route with the parameter, whatever the method."""

FIXED = {"me": {"GET"}, "search": {"GET"}, "_bulk": {"PUT"}}
METHODS = ("GET", "PUT", "DELETE", "POST", "PATCH")


def status_is(response, status, what):
    assert response.status_code == status, f"{what} answered {response.status_code}, expected {status}: {response.text}"


def put(client, user_id, name, status=201):
    response = client.put(f"/users/{user_id}", json={"name": name})
    status_is(response, status, f"PUT /users/{user_id}")
    expected = {"id": user_id, "name": name}
    assert response.json() == expected, f"PUT /users/{user_id} answered {response.json()}, expected {expected}"


def user_is(client, user_id, name):
    response = client.get(f"/users/{user_id}")
    status_is(response, 200, f"GET /users/{user_id}")
    expected = {"id": user_id, "name": name}
    assert response.json() == expected, f"GET /users/{user_id} answered {response.json()}, expected {expected}"


def missing(client, user_id):
    status_is(client.get(f"/users/{user_id}"), 404, f"GET /users/{user_id}")


def bulk(client, items):
    return client.put("/users/_bulk", json=items)


def bulk_rejects(client, items, indexes):
    response = bulk(client, items)
    status_is(response, 422, f"PUT /users/_bulk with {items}")
    found = response.json()
    expected = {"detail": {"indexes": indexes}}
    assert found == expected, f"PUT /users/_bulk with {items} answered {found}, expected {expected}"


def check_create_read_replace_delete(client):
    """PUT is 201 for a new user and 200 for a known one, DELETE is 204 and then 404."""
    put(client, "ada", "Ada")
    put(client, "bo-2", "Bo")
    put(client, "ada", "Ada L.", 200)
    user_is(client, "ada", "Ada L.")
    user_is(client, "bo-2", "Bo")
    response = client.delete("/users/ada")
    status_is(response, 204, "DELETE /users/ada")
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    missing(client, "ada")
    status_is(client.delete("/users/ada"), 404, "the second DELETE /users/ada")
    user_is(client, "bo-2", "Bo")


def check_ids(client):
    """Ids have 1 to 20 letters, digits and hyphens; ids that only look like a fixed word are ordinary."""
    for user_id in ("a", "x" * 20, "0", "-", "A-1", "ME", "Search", "me-2", "meme", "some", "research", "search1"):
        put(client, user_id, "Somebody")
        user_is(client, user_id, "Somebody")
        status_is(client.delete(f"/users/{user_id}"), 204, f"DELETE /users/{user_id}")


def check_other_paths_are_404(client):
    """What is neither an id nor a fixed path is 404 for every method."""
    for wrong in ("_me", "_", "_bulk2", "a_b", "a.b", "x" * 21, "a%20b", "%C3%A9", "me.", "a@b", "ada/x"):
        for method in METHODS:
            response = client.request(method, f"/users/{wrong}", json={"name": "Ada"})
            status_is(response, 404, f"{method} /users/{wrong}")


def check_invalid_names(client):
    """A body without a name of 1 to 50 characters is 422 and stores nothing."""
    put(client, "ada", "Ada")
    for body in ({}, {"name": ""}, {"name": "n" * 51}, {"name": 7}, {"name": None}, ["Ada"]):
        for user_id in ("ada", "bo"):
            status_is(client.put(f"/users/{user_id}", json=body), 422, f"PUT /users/{user_id} with {body}")
    user_is(client, "ada", "Ada")
    missing(client, "bo")
    put(client, "bo", "n" * 50)


def check_me(client):
    """GET /users/me is the user of the header X-User, or 401."""
    put(client, "ada", "Ada")
    put(client, "bo", "Bo")
    for user_id, name in (("ada", "Ada"), ("bo", "Bo")):
        response = client.get("/users/me", headers={"X-User": user_id})
        status_is(response, 200, f"GET /users/me as {user_id}")
        assert response.json() == {"id": user_id, "name": name}, f"GET /users/me as {user_id}: {response.json()}"
    client.delete("/users/bo")
    for headers in ({}, {"X-User": "nobody"}, {"X-User": "bo"}, {"X-User": "me"}):
        status_is(client.get("/users/me", headers=headers), 401, f"GET /users/me with {headers}")


def check_search(client):
    """GET /users/search finds parts of names in any case, in the order of ids; without q it is 422."""
    for user_id, name in (("c", "Grace Hopper"), ("a", "Hopper, G."), ("b", "Ada Lovelace"), ("D", "shopping")):
        put(client, user_id, name)
    for q, expected in (("HOPP", ["D", "a", "c"]), ("ada", ["b"]), (" G", ["a"]), ("zzz", []), ("a", ["b", "c"])):
        response = client.get("/users/search", params={"q": q})
        status_is(response, 200, f"GET /users/search?q={q}")
        found = [user["id"] for user in response.json()]
        assert found == expected, f"GET /users/search?q={q} found {found}, expected {expected}"
    assert client.get("/users/search?q=ada").json() == [{"id": "b", "name": "Ada Lovelace"}]
    for query in ("", "?q="):
        status_is(client.get(f"/users/search{query}"), 422, f"GET /users/search{query}")


def check_other_methods_on_fixed_paths(client):
    """Another method on a fixed path is 405 and has no effect on a user."""
    for word, methods in FIXED.items():
        for method in METHODS:
            if method not in methods:
                response = client.request(method, f"/users/{word}", json={"name": "Thief"})
                status_is(response, 405, f"{method} /users/{word}")
    assert client.get("/users/search?q=thief").json() == [], "a user was stored under a fixed path"


def check_allow_of_fixed_paths(client):
    """The header Allow of a 405 names exactly the methods of the fixed path."""
    for word, methods in FIXED.items():
        for method in set(METHODS) - methods:
            response = client.request(method, f"/users/{word}", json={"name": "Ada"})
            status_is(response, 405, f"{method} /users/{word}")
            found = {name.strip() for name in response.headers.get("allow", "").split(",")}
            assert found == methods, f"{method} /users/{word}: Allow names {sorted(found)}, expected {sorted(methods)}"


def check_allow_of_users(client):
    """The header Allow of a 405 on a user's path names GET, PUT and DELETE."""
    for method in ("POST", "PATCH"):
        response = client.request(method, "/users/ada", json={"name": "Ada"})
        status_is(response, 405, f"{method} /users/ada")
        found = {name.strip() for name in response.headers.get("allow", "").split(",")}
        assert found == {"GET", "PUT", "DELETE"}, f"{method} /users/ada: Allow names {sorted(found)}"


def check_bulk(client):
    """PUT /users/_bulk stores all users and tells for each, in order, whether it is new."""
    put(client, "bo", "Bo")
    items = [{"id": "ada", "name": "Ada"}, {"id": "bo", "name": "Bob"}, {"id": "ada", "name": "A."}]
    response = bulk(client, items)
    status_is(response, 200, "PUT /users/_bulk")
    expected = [{"id": "ada", "result": "created"}, {"id": "bo", "result": "replaced"}]
    expected += [{"id": "ada", "result": "replaced"}]
    assert response.json() == expected, f"PUT /users/_bulk answered {response.json()}, expected {expected}"
    user_is(client, "ada", "A.")
    user_is(client, "bo", "Bob")
    response = bulk(client, [])
    status_is(response, 200, "PUT /users/_bulk with an empty list")
    assert response.json() == [], f"PUT /users/_bulk with an empty list answered {response.json()}"


def check_bulk_names_the_wrong_items(client):
    """Wrong items are named by their indexes, and nothing is stored."""
    put(client, "bo", "Bo")
    good = [{"id": "ada", "name": "Ada"}, {"id": "bo", "name": "Bob"}]
    bulk_rejects(client, [{"id": "ada"}, *good, {"id": "c", "name": ""}, None], [0, 3, 4])
    bulk_rejects(client, [*good, {"name": "C"}, {"id": "c", "name": "n" * 51}, {"id": 7, "name": "C"}], [2, 3, 4])
    missing(client, "ada")
    user_is(client, "bo", "Bo")


def check_bulk_follows_the_rules_for_ids(client):
    """Fixed words and other texts that are no ids are wrong items."""
    for wrong in ("me", "search", "_bulk", "", "a b", "a_b", "x" * 21, "a/b"):
        bulk_rejects(client, [{"id": "ada", "name": "Ada"}, {"id": wrong, "name": "X"}], [1])
    missing(client, "ada")
    items = [{"id": user_id, "name": "X"} for user_id in ("ME", "me-2", "research", "x" * 20)]
    status_is(bulk(client, items), 200, f"PUT /users/_bulk with {items}")


def check_bulk_takes_a_list_only(client):
    """A body that is not a list is 422."""
    for body in ({"id": "ada", "name": "Ada"}, "ada", None, 7):
        status_is(bulk(client, body), 422, f"PUT /users/_bulk with {body!r}")
    missing(client, "ada")
