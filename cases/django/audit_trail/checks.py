"""What is on record after changes of one article and of many, and after those that were refused."""

ADA, BO = {"Authorization": "Bearer key-ada-1"}, {"Authorization": "Bearer key-bo-2"}
INVALID = {"error": "invalid"}
NOT_FOUND = {"error": "not found"}


def expect(response, status, what, body=None):
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if body is not None:
        assert response.json() == body, f"{what}: body {response.text[:300]}, expected {body}"
    return response


def add(client, *articles, who=ADA):
    response = client.post("/articles/", json={"articles": list(articles)}, headers=who)
    return [made["id"] for made in expect(response, 201, f"new articles {articles}").json()["articles"]]


def patch(client, pk, who=ADA, **fields):
    return client.patch(f"/articles/{pk}/", json=fields, headers=who)


def patch_all(client, which, who=ADA, **fields):
    return client.patch(f"/articles/?status={which}", json=fields, headers=who)


def rename(client, tag, name, who=ADA):
    return client.put(f"/tags/{tag}/", json={"name": name}, headers=who)


def revert(client, pk, version, who=ADA):
    return client.post(f"/articles/{pk}/history/", json={"version": version}, headers=who)


def article(client, pk):
    found = expect(client.get(f"/articles/{pk}/"), 200, f"article {pk}").json()
    return {name: value for name, value in found.items() if name != "id"}


def history(client, pk):
    return expect(client.get(f"/articles/{pk}/history/"), 200, f"history of article {pk}").json()["history"]


def versions(client, *ids):
    """How many versions each article has."""
    return [len(history(client, pk)) for pk in ids]


def last_is(client, pk, version, kind, user, response, **changes):
    """The latest record tells this, with the request id of the response."""
    expected = {"version": version, "type": kind, "user": user, "request": response.headers.get("X-Request-Id")}
    expected["changes"] = {name: {"old": old, "new": new} for name, (old, new) in changes.items()}
    found = history(client, pk)
    assert len(found) == version, f"article {pk} has {len(found)} versions, expected {version}: {found}"
    assert found[-1] == expected, f"the latest record of article {pk} is {found[-1]}, expected {expected}"


def everything(client):
    found = expect(client.get("/articles/"), 200, "all articles").json()["articles"]
    return found, [history(client, one["id"]) for one in found]


def check_creation(client):
    """New articles are answered and recorded with all their values."""
    given = [{"title": "A", "tags": ["web", "db", "web"]}, {"title": "B", "status": "published"}]
    response = client.post("/articles/", json={"articles": given}, headers=ADA)
    made = expect(response, 201, "new articles").json()["articles"]
    first, second = (one.get("id") for one in made)
    assert type(first) is int and type(second) is int and first != second, f"the ids are {first!r} and {second!r}"
    expected = [
        {"id": first, "title": "A", "status": "draft", "tags": ["db", "web"]},
        {"id": second, "title": "B", "status": "published", "tags": []},
    ]
    assert made == expected, f"the new articles are {made}, expected {expected}"
    expect(client.get("/articles/"), 200, "all articles", {"articles": expected})
    expect(client.get(f"/articles/{second}/"), 200, "second article", expected[1])
    values = {"title": (None, "A"), "status": (None, "draft"), "tags": (None, ["db", "web"])}
    last_is(client, first, 1, "created", "ada", response, **values)
    values = {"title": (None, "B"), "status": (None, "published"), "tags": (None, [])}
    last_is(client, second, 1, "created", "ada", response, **values)


def check_changes_of_one_article(client):
    """A change is one record with just the fields that differ."""
    pk, other = add(client, {"title": "A", "tags": ["db"]}, {"title": "B"})
    response = expect(patch(client, pk, BO, title="A2", status="draft"), 200, "change")
    last_is(client, pk, 2, "changed", "bo", response, title=("A", "A2"))
    response = expect(patch(client, pk, {}, title="A3", status="published", tags=["web", "db"]), 200, "change")
    assert response.json() == {"id": pk} | article(client, pk), f"the change was answered with {response.text[:200]}"
    changes = {"title": ("A2", "A3"), "status": ("draft", "published"), "tags": (["db"], ["db", "web"])}
    last_is(client, pk, 3, "changed", None, response, **changes)
    response = expect(patch(client, pk, tags=[]), 200, "change")
    last_is(client, pk, 4, "changed", "ada", response, tags=(["db", "web"], []))
    assert article(client, pk) == {"title": "A3", "status": "published", "tags": []}, f"{article(client, pk)} is left"
    assert versions(client, other) == [1], "another article has got a record"


def check_changes_without_effect(client):
    """What changes nothing is answered with 200 and not recorded."""
    pk, other = add(client, {"title": "A", "tags": ["db", "web"]}, {"title": "B"})
    for fields in (
        {},
        {"title": "A"},
        {"status": "draft"},
        {"tags": ["web", "db", "db"]},
        {"title": "A", "status": "draft"},
    ):
        response = expect(patch(client, pk, BO, **fields), 200, f"PATCH {fields}")
        assert response.json()["tags"] == ["db", "web"], f"PATCH {fields} was answered with {response.text[:200]}"
        assert versions(client, pk) == [1], f"PATCH {fields} is on record: {history(client, pk)}"
    expect(patch_all(client, "draft", status="draft"), 200, "bulk change", {"changed": 0})
    expect(rename(client, "db", "db"), 200, "renaming to the same name", {"changed": 0})
    expect(revert(client, pk, 1), 200, "revert to what is there", {"id": pk} | article(client, pk))
    assert versions(client, pk, other) == [1, 1], "something without effect is on record"


def check_bulk_changes(client):
    """A bulk change is on record for each article that it changes, under one request id, and for no other."""
    ids = add(
        client,
        {"title": "A"},
        {"title": "B", "tags": ["db"]},
        {"title": "C", "status": "published"},
        {"title": "D", "tags": ["web", "db"]},
    )
    response = expect(patch_all(client, "draft", BO, tags=["db"]), 200, "bulk change of tags", {"changed": 2})
    last_is(client, ids[0], 2, "changed", "bo", response, tags=([], ["db"]))
    last_is(client, ids[3], 2, "changed", "bo", response, tags=(["db", "web"], ["db"]))
    assert versions(client, *ids) == [2, 1, 1, 2], f"the articles have {versions(client, *ids)} versions"
    response = expect(patch_all(client, "draft", status="published"), 200, "bulk change of status", {"changed": 3})
    for pk, version in ((ids[0], 3), (ids[1], 2), (ids[3], 3)):
        last_is(client, pk, version, "changed", "ada", response, status=("draft", "published"))
    assert versions(client, *ids) == [3, 2, 1, 3], f"the articles have {versions(client, *ids)} versions"
    expect(patch_all(client, "draft", tags=["x"]), 200, "bulk change of nothing", {"changed": 0})
    expect(patch_all(client, "published", title="E"), 409, "bulk change to one title", {"error": "conflict"})
    assert versions(client, *ids) == [3, 2, 1, 3], "a refused bulk change is on record"


def check_bulk_deletion(client):
    """A bulk deletion is on record for each article, and the history stays."""
    one, two, kept = add(client, {"title": "A", "tags": ["db"]}, {"title": "B"}, {"title": "C", "status": "published"})
    response = client.delete("/articles/?status=draft", headers=BO)
    expect(response, 200, "bulk deletion", {"changed": 2})
    last_is(client, one, 2, "deleted", "bo", response, title=("A", None), status=("draft", None), tags=(["db"], None))
    last_is(client, two, 2, "deleted", "bo", response, title=("B", None), status=("draft", None), tags=([], None))
    assert versions(client, kept) == [1], "an article that is not deleted has got a record"
    expect(client.get(f"/articles/{one}/"), 404, "deleted article", NOT_FOUND)
    expect(client.delete("/articles/?status=draft"), 200, "second bulk deletion", {"changed": 0})
    assert versions(client, one, two) == [2, 2], "a deletion without effect is on record"


def check_deletion_of_one_article(client):
    """A deletion is on record once; the id is not used again."""
    pk = add(client, {"title": "A", "tags": ["db"]})[0]
    response = expect(client.delete(f"/articles/{pk}/"), 204, "deletion")
    last_is(client, pk, 2, "deleted", None, response, title=("A", None), status=("draft", None), tags=(["db"], None))
    expect(client.delete(f"/articles/{pk}/", headers=ADA), 404, "second deletion", NOT_FOUND)
    expect(patch(client, pk, title="B"), 404, "change of a deleted article", NOT_FOUND)
    again = add(client, {"title": "A"})[0]
    assert again != pk, f"the id {pk} of a deleted article is given to another one"
    assert versions(client, pk, again) == [2, 1], f"the versions are {versions(client, pk, again)}, expected [2, 1]"


def check_renamed_tags(client):
    """Renaming a tag is on record for each article that has it."""
    a, b, c, d = add(
        client,
        {"title": "A", "tags": ["db", "web"]},
        {"title": "B", "tags": ["db"], "status": "published"},
        {"title": "C", "tags": ["db2"]},
        {"title": "D", "tags": ["db", "sql"]},
    )
    response = expect(rename(client, "db", "sql", BO), 200, "renaming", {"changed": 3})
    last_is(client, a, 2, "changed", "bo", response, tags=(["db", "web"], ["sql", "web"]))
    last_is(client, b, 2, "changed", "bo", response, tags=(["db"], ["sql"]))
    last_is(client, d, 2, "changed", "bo", response, tags=(["db", "sql"], ["sql"]))
    assert versions(client, c) == [1], "an article with another tag has got a record"
    assert article(client, d)["tags"] == ["sql"], f"the tags are {article(client, d)['tags']}, expected sql once"
    expect(rename(client, "db", "x"), 200, "renaming of a tag that is no more", {"changed": 0})
    expect(rename(client, "sql", "zzz"), 200, "renaming", {"changed": 3})
    assert article(client, a)["tags"] == ["web", "zzz"], f"the tags are {article(client, a)['tags']}, not in order"


def check_refused_requests_leave_no_trace(client):
    """If a part of a request is refused, nothing of it is done, and nothing is on record."""
    add(client, {"title": "A"}, {"title": "B"}, {"title": "C", "status": "published"})
    before = everything(client)
    for articles in (
        [{"title": "N"}, {"title": "B"}],
        [{"title": "N"}, {"title": "M"}, {"title": "N"}],
        [{"title": "A"}],
    ):
        response = client.post("/articles/", json={"articles": articles}, headers=ADA)
        expect(response, 409, f"new articles {articles}", {"error": "conflict"})
    for response in (patch(client, before[0][0]["id"], title="B", tags=["x"]), patch_all(client, "draft", title="X")):
        expect(response, 409, "change to a title that there is twice then", {"error": "conflict"})
    for articles in ([{"title": "N"}, {"title": ""}], [{"title": "N"}, {"status": "draft"}], [{"title": "N"}, "M"]):
        response = client.post("/articles/", json={"articles": articles}, headers=ADA)
        expect(response, 422, f"new articles {articles}", INVALID)
    assert everything(client) == before, f"after refused requests there is {everything(client)}, expected {before}"
    made = add(client, {"title": "N"})[0]
    assert versions(client, made) == [1], f"a new article has the records {history(client, made)}"
    expect(patch_all(client, "published", title="P"), 200, "title of a single published article", {"changed": 1})


def check_revert(client):
    """A revert brings back all values of that version, and is on record itself."""
    pk = add(client, {"title": "A", "tags": ["db"]})[0]
    patch(client, pk, title="B")
    patch(client, pk, status="published", tags=["web"])
    patch(client, pk, title="C")
    response = expect(revert(client, pk, 2, BO), 200, "revert to version 2")
    expected = {"title": "B", "status": "draft", "tags": ["db"]}
    assert response.json() == {"id": pk} | expected, f"the revert was answered with {response.text[:200]}"
    assert article(client, pk) == expected, f"after the revert the article is {article(client, pk)}"
    changes = {"title": ("C", "B"), "status": ("published", "draft"), "tags": (["web"], ["db"])}
    last_is(client, pk, 5, "changed", "bo", response, **changes)
    response = expect(revert(client, pk, 4), 200, "revert to version 4")
    assert article(client, pk) == {"title": "C", "status": "published", "tags": ["web"]}, "version 4 is not restored"
    expect(revert(client, pk, 5), 200, "revert to a revert")
    assert article(client, pk) == expected, f"after the revert to version 5 the article is {article(client, pk)}"


def check_revert_of_a_deletion(client):
    """A deleted article comes back under its id, with its history."""
    pk, other = add(client, {"title": "A", "tags": ["db"]}, {"title": "B"})
    patch(client, pk, tags=["web"])
    client.delete(f"/articles/{pk}/", headers=ADA)
    expect(revert(client, pk, 3), 422, "revert to a deletion", INVALID)
    response = expect(revert(client, pk, 1, BO), 200, "revert of a deletion")
    assert response.json() == {"id": pk, "title": "A", "status": "draft", "tags": ["db"]}, (
        f"it is {response.text[:200]}"
    )
    last_is(client, pk, 4, "created", "bo", response, title=(None, "A"), status=(None, "draft"), tags=(None, ["db"]))
    expect(revert(client, pk, 3), 422, "revert of an article to a deletion", INVALID)
    client.delete(f"/articles/{pk}/", headers=ADA)
    expect(patch(client, other, title="A"), 200, "another article takes the title")
    expect(revert(client, pk, 2), 409, "revert to a title that is taken", {"error": "conflict"})
    expect(client.get(f"/articles/{pk}/"), 404, "article after a refused revert", NOT_FOUND)
    assert versions(client, pk, other) == [5, 2], f"the versions are {versions(client, pk, other)}, expected [5, 2]"


def check_request_ids(client):
    """Each answer has a new id, whatever the client sends and however it is answered."""
    pk = add(client, {"title": "A"})[0]
    headers = ADA | {"X-Request-Id": "mine"}
    responses = [
        client.get("/articles/", headers=headers),
        client.get(f"/articles/{pk}/history/", headers=headers),
        client.patch(f"/articles/{pk}/", json={"title": "B"}, headers=headers),
        client.patch(f"/articles/{pk}/", json={"title": "C"}, headers=headers),
        client.patch(f"/articles/{pk}/", json={"title": 5}, headers=headers),
        client.get(f"/articles/{pk + 9}/", headers=headers),
        client.get("/articles/", headers={"Authorization": "Bearer x", "X-Request-Id": "mine"}),
    ]
    ids = [response.headers.get("X-Request-Id") for response in responses]
    assert all(ids) and "mine" not in ids, f"the request ids are {ids}"
    assert len(set(ids)) == len(ids), f"request ids repeat: {ids}"
    assert [record["request"] for record in history(client, pk)[1:]] == ids[2:4], "the history has other request ids"


def check_invalid_requests(client):
    """Wrong values, unknown fields and bodies that are no objects are 422."""
    pk = add(client, {"title": "A", "tags": ["db"]})[0]
    bad = [{"title": ""}, {"title": "x" * 81}, {"title": None}, {"title": 5}, {"status": "open"}, {"status": None}]
    bad += [
        {"tags": "db"},
        {"tags": [""]},
        {"tags": ["x" * 21]},
        {"tags": [5]},
        {"tags": None},
        {"id": 5},
        {"user": "bo"},
    ]
    for fields in bad:
        expect(patch(client, pk, **fields), 422, f"PATCH {fields}", INVALID)
        expect(patch_all(client, "draft", **fields), 422, f"bulk PATCH {fields}", INVALID)
        response = client.post("/articles/", json={"articles": [{"title": "N"} | fields]}, headers=ADA)
        expect(response, 422, f"new article {fields}", INVALID)
    for body in ({}, {"articles": []}, {"articles": {"title": "N"}}, {"articles": None}, {"articles": [None]}):
        expect(client.post("/articles/", json=body, headers=ADA), 422, f"new articles {body}", INVALID)
    for query in ("", "?status=", "?status=open", "?title=A"):
        expect(client.patch(f"/articles/{query}", json={"tags": []}, headers=ADA), 422, f"PATCH {query}", INVALID)
        expect(client.delete(f"/articles/{query}", headers=ADA), 422, f"DELETE {query}", INVALID)
    for version in (0, 2, -1, "1", 1.0, True, None, [1]):
        expect(revert(client, pk, version), 422, f"revert to {version!r}", INVALID)
    for name in ("", "x" * 21, None, 5):
        expect(rename(client, "db", name), 422, f"renaming to {name!r}", INVALID)
        expect(rename(client, "unknown", name), 422, f"renaming of an unknown tag to {name!r}", INVALID)
    routes = [("POST", "/articles/"), ("PATCH", f"/articles/{pk}/"), ("PATCH", "/articles/?status=draft")]
    for method, path in [*routes, ("POST", f"/articles/{pk}/history/"), ("PUT", "/tags/db/")]:
        for content in (b"", b"{", b"[]", b"null", b'"x"'):
            headers = ADA | {"Content-Type": "application/json"}
            expect(client.request(method, path, content=content, headers=headers), 422, f"{path} {content!r}", INVALID)
    assert versions(client, pk) == [1], "a refused request is on record"
    add(client, {"title": "x" * 80, "tags": ["x" * 20]})


def check_unknown_callers_and_articles(client):
    """Unknown keys are 401 everywhere, unknown articles 404 whatever the body."""
    pk = add(client, {"title": "A", "tags": ["db"]})[0]
    for value in ("Bearer key-eve-3", "key-ada-1", "Bearer"):
        headers = {"Authorization": value}
        for response in (
            client.get("/articles/", headers=headers),
            client.post("/articles/", json={"articles": [{"title": "N"}]}, headers=headers),
            client.delete("/articles/?status=draft", headers=headers),
            patch(client, pk, headers, title="B"),
            patch(client, pk + 9, headers, title="B"),
            rename(client, "db", "sql", headers),
            revert(client, pk, 1, headers),
        ):
            what = f"{response.request.method} {response.request.url.path} with {value!r}"
            expect(response, 401, what, {"error": "unauthorized"})
    assert versions(client, pk) == [1], "an unknown caller has changed something"
    none = pk + 9
    for response in (
        client.get(f"/articles/{none}/"),
        client.get(f"/articles/{none}/history/"),
        client.delete(f"/articles/{none}/"),
        patch(client, none, title=""),
        revert(client, none, "x"),
    ):
        expect(response, 404, f"{response.request.method} {response.request.url.path}", NOT_FOUND)


def check_changes_at_the_same_time(client, parallel):
    """Changes at once are all made and recorded, each with its own user and request."""
    pk, other = add(client, {"title": "A"}, {"title": "B", "tags": ["db"]})
    calls = [lambda n=n: patch(client, pk, (ADA, BO, {})[n % 3], title=f"T{n}") for n in range(9)]
    answers = parallel([*calls, lambda: rename(client, "db", "sql", BO)])
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200] * 10, f"ten changes at once were answered with {statuses}"
    records = history(client, pk)
    assert [record["version"] for record in records] == list(range(1, 11)), f"the versions are {records}"
    titles = [record["changes"]["title"] for record in records]
    assert all(a["new"] == b["old"] for a, b in zip(titles, titles[1:], strict=False)), f"old and new differ: {titles}"
    made = {record["changes"]["title"]["new"]: (record["user"], record["request"]) for record in records[1:]}
    ids = [answer.headers.get("X-Request-Id") for answer in answers]
    expected = {f"T{n}": (("ada", "bo", None)[n % 3], ids[n]) for n in range(9)}
    assert made == expected, f"the changes are on record as {made}, expected {expected}"
    last_is(client, other, 2, "changed", "bo", answers[9], tags=(["db"], ["sql"]))


def check_history_survives_a_restart(client, restart):
    """Articles and their history are still there after a restart."""
    pk, other = add(client, {"title": "A"}, {"title": "B"})
    client.delete(f"/articles/{other}/", headers=BO)
    before = history(client, pk), history(client, other)
    restart()
    found = history(client, pk), history(client, other)
    assert found == before, f"after a restart the histories are {found}, expected {before}"


def check_other_methods(client):
    """Methods that a route does not name are 405."""
    pk = add(client, {"title": "A", "tags": ["db"]})[0]
    for method, path in (
        ("PUT", "/articles/"),
        ("POST", f"/articles/{pk}/"),
        ("DELETE", f"/articles/{pk}/history/"),
        ("PATCH", f"/articles/{pk}/history/"),
        ("GET", "/tags/db/"),
    ):
        expect(client.request(method, path, json={}, headers=ADA), 405, f"{method} {path}")
    assert versions(client, pk) == [1], "a refused method is on record"
