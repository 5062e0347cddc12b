"""Hidden checks of flask/todo_crud."""


def answer(response, status):
    """Return the JSON body of a response that must have this status."""
    request = response.request
    asked = f"{request.method} {request.url.path} with body {request.content!r}"
    assert response.status_code == status, f"{asked} answered {response.status_code} instead of {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked} answered {kind!r} instead of JSON"
    return response.json()


def refusal(response, status):
    """Check an error answer: this status and a JSON object with the key `error`."""
    body = answer(response, status)
    assert isinstance(body, dict) and "error" in body, f"the {status} answer lacks the key 'error': {body!r}"


def add(client, title):
    return answer(client.post("/todos", json={"title": title}), 201)


def check_create_answers_the_new_todo(client):
    """POST /todos answers 201 and the to-do, which is not done; ids count up from 1."""
    for number, title in enumerate(["Buy milk", "Call Ann"], start=1):
        todo = add(client, title)
        assert todo == {"id": number, "title": title, "done": False}, f"to-do number {number} came back as {todo!r}"
        assert todo["done"] is False, f"'done' must be the JSON value false, not {todo['done']!r}"


def check_list_is_in_order_of_creation(client):
    """GET /todos answers all to-dos in the order of creation; at first there are none."""
    assert answer(client.get("/todos"), 200) == [], "a fresh list must be an empty JSON array"
    for title in ("c", "a", "b"):
        add(client, title)
    titles = [todo["title"] for todo in answer(client.get("/todos"), 200)]
    assert titles == ["c", "a", "b"], f"created c, a, b; the list shows {titles}"


def check_one_todo_is_found_by_its_id(client):
    """GET /todos/<id> answers the to-do with that id."""
    add(client, "first")
    second = add(client, "second")
    found = answer(client.get("/todos/2"), 200)
    assert found == second, f"GET /todos/2 answered {found!r} instead of {second!r}"


def check_patch_changes_only_the_given_fields(client):
    """PATCH changes the fields that it holds and leaves the other one alone."""
    add(client, "Buy milk")
    add(client, "Call Ann")
    steps = [
        ({"done": True}, {"id": 1, "title": "Buy milk", "done": True}),
        ({"title": "Buy tea"}, {"id": 1, "title": "Buy tea", "done": True}),
        ({"title": "Buy rice", "done": False}, {"id": 1, "title": "Buy rice", "done": False}),
    ]
    for change, expected in steps:
        todo = answer(client.patch("/todos/1", json=change), 200)
        assert todo == expected, f"PATCH {change} answered {todo!r} instead of {expected!r}"
        kept = answer(client.get("/todos/1"), 200)
        assert kept == expected, f"after PATCH {change} the to-do is {kept!r} instead of {expected!r}"
    other = answer(client.get("/todos/2"), 200)
    assert other == {"id": 2, "title": "Call Ann", "done": False}, f"PATCH /todos/1 changed to-do 2: {other!r}"


def check_create_refuses_invalid_titles(client):
    """POST without a valid title answers 400 with an error and creates nothing."""
    for body in ({}, {"title": ""}, {"title": 7}, {"title": None}, {"title": ["Buy milk"]}):
        refusal(client.post("/todos", json=body), 400)
    todos = answer(client.get("/todos"), 200)
    assert todos == [], f"refused requests left to-dos behind: {todos!r}"


def check_patch_refuses_invalid_values(client):
    """PATCH with an invalid title or done answers 400 with an error and changes nothing."""
    before = add(client, "Buy milk")
    for change in ({"title": ""}, {"title": 7}, {"done": "false"}, {"done": 1}, {"done": None}):
        refusal(client.patch("/todos/1", json=change), 400)
    refusal(client.patch("/todos/1", json={"title": "Buy tea", "done": "yes"}), 400)
    refusal(client.patch("/todos/1", json={"title": "", "done": True}), 400)
    after = answer(client.get("/todos/1"), 200)
    assert after == before, f"a refused PATCH changed the to-do to {after!r}"


def check_bodies_that_are_no_objects_are_refused(client):
    """Malformed JSON and JSON that is no object answer 400 with an error and change nothing."""
    before = add(client, "Buy milk")
    for content in (b"{", b"", b"[]", b"null", b'"Buy tea"', b'["title"]'):
        for method, path in (("POST", "/todos"), ("PATCH", "/todos/1")):
            headers = {"Content-Type": "application/json"}
            refusal(client.request(method, path, content=content, headers=headers), 400)
    todos = answer(client.get("/todos"), 200)
    assert todos == [before], f"refused bodies changed the list to {todos!r}"


def check_delete_removes_one_todo(client):
    """DELETE answers 204 without a body and removes this to-do only."""
    for title in ("a", "b", "c"):
        add(client, title)
    response = client.delete("/todos/2")
    assert response.status_code == 204, f"DELETE /todos/2 answered {response.status_code} instead of 204"
    assert response.content == b"", f"a 204 answer has no body, got {response.content!r}"
    refusal(client.get("/todos/2"), 404)
    titles = [todo["title"] for todo in answer(client.get("/todos"), 200)]
    assert titles == ["a", "c"], f"after the deletion of b the list shows {titles}"


def check_ids_are_not_given_out_again(client):
    """The id of a deleted to-do, in the middle or at the end, is never given out again."""
    for title in ("a", "b", "c"):
        add(client, title)
    client.delete("/todos/1")
    todo = add(client, "d")
    assert todo["id"] == 4, f"after 3 to-dos, one of them deleted, the next id is 4, got {todo['id']}"
    client.delete("/todos/4")
    todo = add(client, "e")
    assert todo["id"] == 5, f"id 4 was given out and deleted, so the next is 5, got {todo['id']}"


def check_unknown_ids_are_not_found(client):
    """GET, PATCH and DELETE of an id that does not exist answer 404 with an error."""
    add(client, "Buy milk")
    refusal(client.get("/todos/2"), 404)
    refusal(client.patch("/todos/2", json={"done": True}), 404)
    refusal(client.delete("/todos/2"), 404)
    assert len(answer(client.get("/todos"), 200)) == 1, "requests for an unknown id changed the list"
