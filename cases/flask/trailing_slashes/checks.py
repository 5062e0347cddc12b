"""Hidden checks of flask/trailing_slashes."""

from urllib.parse import urlsplit

SITE = "http://127.0.0.1:5000"
NOT_FOUND, INVALID = {"error": "not found"}, {"error": "invalid"}


def is_answer(response, status, expected):
    request = response.request
    asked = f"{request.method} {request.url.raw_path.decode()} with {request.content.decode()!r}"
    assert response.status_code == status, f"{asked}: status {response.status_code}, expected {status}"
    kind = response.headers.get("content-type", "")
    assert kind.startswith("application/json"), f"{asked}: answered {kind!r} instead of JSON"
    assert response.json() == expected, f"{asked}: answered {response.json()}, expected {expected}"


def task(number, title="Water the plants", done=False):
    return {"id": number, "title": title, "done": done}


def add(client, *titles):
    for title in titles:
        response = client.post("/tasks", json={"title": title})
        assert response.status_code == 201, f"POST /tasks answered {response.status_code}, expected 201"


def check_list_with_and_without_slash(client):
    """Both addresses of the list give the same answer, at first an empty one."""
    for path in ("/tasks", "/tasks/"):
        is_answer(client.get(path), 200, [])
    add(client, "c", "a", "b")
    for path in ("/tasks", "/tasks/"):
        is_answer(client.get(path), 200, [task(1, "c"), task(2, "a"), task(3, "b")])


def check_add_with_and_without_slash(client):
    """POST to either address adds exactly one task."""
    for number, path in enumerate(("/tasks/", "/tasks", "/tasks/"), 1):
        is_answer(client.post(path, json={"title": f"Task {number}"}), 201, task(number, f"Task {number}"))
        is_answer(client.get("/tasks"), 200, [task(n, f"Task {n}") for n in range(1, number + 1)])


def check_location_of_a_new_task(client):
    """Location leads to the new task, without a slash at the end."""
    for number, path in enumerate(("/tasks/", "/tasks"), 1):
        location = client.post(path, json={"title": "Water the plants"}).headers.get("location", "")
        assert urlsplit(location).path == f"/tasks/{number}", f"POST {path} answered the Location {location!r}"
        is_answer(client.get(location), 200, task(number))


def check_show_with_and_without_slash(client):
    """Both addresses of a task give the same answer."""
    add(client, "one", "two")
    for number, title in ((1, "one"), (2, "two")):
        is_answer(client.get(f"/tasks/{number}"), 200, task(number, title))
        is_answer(client.get(f"/tasks/{number}/"), 200, task(number, title))


def check_replace_with_and_without_slash(client):
    """PUT to either address replaces title and done of this task."""
    add(client, "one", "two")
    for path, title, done in (("/tasks/2/", "b", True), ("/tasks/2", "c", True), ("/tasks/2/", "c", False)):
        is_answer(client.put(path, json={"title": title, "done": done}), 200, task(2, title, done))
        is_answer(client.get("/tasks"), 200, [task(1, "one"), task(2, title, done)])


def check_delete_with_and_without_slash(client):
    """DELETE of either address removes one task; its id is not given out again."""
    add(client, "a", "b", "c")
    for path in ("/tasks/1/", "/tasks/3"):
        response = client.delete(path)
        assert response.status_code == 204, f"DELETE {path} answered {response.status_code}, expected 204"
        assert response.content == b"", f"DELETE {path} answered with a body: {response.content!r}"
        for address in (path.rstrip("/"), path.rstrip("/") + "/"):
            is_answer(client.get(address), 404, NOT_FOUND)
    is_answer(client.get("/tasks/"), 200, [task(2, "b")])
    is_answer(client.post("/tasks/", json={"title": "d"}), 201, task(4, "d"))


def check_filter_with_and_without_slash(client):
    """The list is filtered by done under both addresses."""
    add(client, "a", "b", "c")
    client.put("/tasks/2", json={"title": "b", "done": True})
    for path in ("/tasks", "/tasks/"):
        is_answer(client.get(f"{path}?done=true"), 200, [task(2, "b", True)])
        is_answer(client.get(f"{path}?done=false"), 200, [task(1, "a"), task(3, "c")])
        for value in ("yes", "", "True", "1"):
            is_answer(client.get(f"{path}?done={value}"), 400, INVALID)


def check_slashes_in_succession(client):
    """An address with two slashes in succession is not found, for every method, and does nothing."""
    add(client, "Water the plants")
    for path in ("/tasks//", "/tasks///", "/tasks//1", "/tasks/1//", "/tasks//1/", "/tasks///1", "/tasks/1/////"):
        for method in ("GET", "POST", "PUT", "DELETE"):
            body = None if method in ("GET", "DELETE") else {"title": "x", "done": True}
            is_answer(client.request(method, SITE + path, json=body), 404, NOT_FOUND)
    is_answer(client.get("/tasks"), 200, [task(1)])


def check_ids_are_digits(client):
    """What is not a number of a task is not found, under both addresses."""
    add(client, "Water the plants")
    for number in ("2", "0", "-1", "abc", "1.5", "1a", "+1", "1.0", "%201", "1/x", "1/1", "٢"):
        for path in (f"/tasks/{number}", f"/tasks/{number}/"):
            is_answer(client.get(path), 404, NOT_FOUND)
            is_answer(client.put(path, json={"title": "x", "done": True}), 404, NOT_FOUND)
            is_answer(client.delete(path), 404, NOT_FOUND)
    is_answer(client.get("/tasks"), 200, [task(1)])


def check_other_addresses(client):
    """Other addresses are not found."""
    for path in ("/", "/task", "/Tasks", "/tasksx/", "/tasks.json", "/x/tasks"):
        is_answer(client.get(path), 404, NOT_FOUND)
        is_answer(client.post(path, json={"title": "x"}), 404, NOT_FOUND)


def check_other_methods(client):
    """Other methods are not allowed, under both addresses."""
    add(client, "Water the plants")
    for path, methods in (("/tasks", ("PUT", "DELETE", "PATCH")), ("/tasks/1", ("POST", "PATCH"))):
        for method in methods:
            for address in (path, f"{path}/"):
                is_answer(client.request(method, address, json={"title": "x"}), 405, {"error": "method not allowed"})


def check_invalid_bodies(client):
    """Bodies without a valid title, or for PUT without a valid done, are invalid and change nothing."""
    add(client, "Water the plants")
    titles = [{}, [], "x", {"title": ""}, {"title": 7}, {"title": None}, {"title": ["x"]}]
    for path in ("/tasks", "/tasks/"):
        for body in titles:
            is_answer(client.post(path, json=body), 400, INVALID)
    titles += [{"title": "x"}, {"done": True}, *({"title": "x", "done": done} for done in ("true", 1, None))]
    for path in ("/tasks/1", "/tasks/1/"):
        for body in [*titles, {"title": "", "done": True}]:
            is_answer(client.put(path, json=body), 400, INVALID)
        for content in (b"", b"{"):
            is_answer(client.put(path, content=content, headers={"Content-Type": "application/json"}), 400, INVALID)
    is_answer(client.get("/tasks"), 200, [task(1)])
