"""Hidden checks: roles, and objects that do not exist for those who may not see them."""

ANN, BEN, CAT, DAN = (
    {"Authorization": f"Bearer {key}"} for key in ("key-ann-31", "key-ben-42", "key-cat-53", "key-dan-64")
)
ERRORS = {400: "invalid", 401: "unauthorized", 403: "forbidden", 404: "not found"}


def call(client, who, method, path, status, **options):
    """Send a request and expect the status, with the error's body where it is one."""
    response = client.request(method, path, headers=who, **options)
    what = f"{method} {path} {options.get('json', '')}"
    assert response.status_code == status, f"{what}: status {response.status_code}, expected {status}"
    if status in ERRORS:
        assert response.json() == {"error": ERRORS[status]}, f"{what}: body {response.text[:200]}"
    return response.json() if response.content else None


def add_project(client, who=ANN, name="Garden", **members):
    project = call(client, who, "POST", "/projects", 201, json={"name": name})["id"]
    if members:
        call(client, who, "PUT", f"/projects/{project}/members", 200, json={"members": members})
    return project


def add_task(client, project, who=ANN, title="Dig", **fields):
    return call(client, who, "POST", f"/projects/{project}/tasks", 201, json={"title": title, **fields})["id"]


def listed(client, who, path):
    return [item["id"] for item in call(client, who, "GET", path, 200)[path.split("?")[0].rsplit("/", 1)[-1]]]


def assert_task(client, who, task, **expected):
    found = call(client, who, "GET", f"/tasks/{task}", 200)
    assert found == {"id": task, **expected}, f"task {task} is {found}, expected {expected}"


def check_projects_and_tasks(client):
    """Projects and tasks are created with ids from 1 and read back."""
    made = call(client, ANN, "POST", "/projects", 201, json={"name": "Garden"})
    assert made == {"id": 1, "name": "Garden", "owner": "ann", "members": {}}, f"unexpected project {made}"
    assert add_project(client, BEN) == 2, "the second project has not the id 2"
    made = call(client, ANN, "POST", "/projects/1/tasks", 201, json={"title": "Dig"})
    assert made == {"id": 1, "project": 1, "title": "Dig", "after": None}, f"unexpected task {made}"
    made = call(client, ANN, "POST", "/projects/1/tasks", 201, json={"title": "Sow", "after": 1})
    assert made == {"id": 2, "project": 1, "title": "Sow", "after": 1}, f"unexpected task {made}"
    assert add_task(client, 1, after=None) == 3, "the third task has not the id 3"
    assert_task(client, ANN, 2, project=1, title="Sow", after=1)
    found = call(client, ANN, "GET", "/projects/1/tasks", 200)["tasks"]
    assert [task["title"] for task in found] == ["Dig", "Sow", "Dig"], f"tasks of the project: {found}"


def check_key_is_needed(client):
    """Without a known key every route is 401."""
    project = add_project(client)
    task = add_task(client, project)
    for method, path, body in (
        ("GET", "/projects", None),
        ("POST", "/projects", {"name": "x"}),
        ("PUT", f"/projects/{project}/members", {"members": {}}),
        ("GET", f"/projects/{project}/tasks", None),
        ("POST", f"/projects/{project}/tasks", {"title": "x"}),
        ("GET", f"/tasks?ids={task}", None),
        ("POST", "/tasks/delete", {"ids": [task]}),
        ("GET", f"/tasks/{task}", None),
        ("PATCH", f"/tasks/{task}", {"title": "x"}),
        ("DELETE", f"/tasks/{task}", None),
    ):
        for headers in ({}, {"Authorization": "Bearer ann"}, {"Authorization": "Basic key-ann-31"}):
            call(client, headers, method, path, 401, json=body)


def check_owner_manages_members(client):
    """The owner alone replaces the members; others get 403, or 404 where the project is hidden."""
    project = add_project(client, ben="writer", cat="reader")
    path = f"/projects/{project}/members"
    for who, status in ((BEN, 403), (CAT, 403), (DAN, 404)):
        call(client, who, "PUT", path, status, json={"members": {"dan": "writer"}})
    found = call(client, ANN, "GET", "/projects", 200)["projects"]
    expected = {"id": project, "name": "Garden", "owner": "ann", "members": {"ben": "writer", "cat": "reader"}}
    assert found == [expected], f"after refused changes the projects are {found}"
    made = call(client, ANN, "PUT", path, 200, json={"members": {"dan": "reader"}})
    assert made == expected | {"members": {"dan": "reader"}}, f"PUT of the members answered {made}"
    for members in ({"ben": "owner"}, {"eve": "reader"}, {"ben": None}, ["ben"], "ben", None):
        call(client, ANN, "PUT", path, 400, json={"members": members})
    call(client, ANN, "PUT", path, 400, json={})


def check_lists_show_visible_objects(client):
    """Projects and tasks are listed for those who may see them, by id."""
    first, second = add_project(client, ben="reader"), add_project(client, BEN, cat="writer")
    third = add_project(client, CAT)
    tasks = [add_task(client, first), add_task(client, second, BEN), add_task(client, third, CAT)]
    for who, projects, seen in (
        (ANN, [first], tasks[:1]),
        (BEN, [first, second], tasks[:2]),
        (CAT, [second, third], tasks[1:]),
        (DAN, [], []),
    ):
        assert listed(client, who, "/projects") == projects, f"{who}: projects {listed(client, who, '/projects')}"
        found = listed(client, who, f"/tasks?ids={tasks[2]},{tasks[0]},999,{tasks[1]},{tasks[0]}")
        assert found == seen, f"{who}: of all tasks {found} are listed, expected {seen}"
    assert listed(client, ANN, f"/tasks?ids={tasks[2]}") == [], "ann asks for a hidden task alone and gets it"
    assert listed(client, BEN, f"/tasks?ids={tasks[1]}") == [tasks[1]], "ben does not get the one task he asks for"


def check_readers_read(client):
    """A reader sees the tasks of a project, and is refused to change anything there with 403."""
    project = add_project(client, ben="reader")
    task = add_task(client, project)
    assert_task(client, BEN, task, project=project, title="Dig", after=None)
    assert listed(client, BEN, f"/projects/{project}/tasks") == [task], "the reader does not see the project's task"
    call(client, BEN, "POST", f"/projects/{project}/tasks", 403, json={"title": "x"})
    call(client, BEN, "PATCH", f"/tasks/{task}", 403, json={"title": "x"})
    call(client, BEN, "DELETE", f"/tasks/{task}", 403)
    call(client, BEN, "POST", "/tasks/delete", 403, json={"ids": [task]})
    assert_task(client, ANN, task, project=project, title="Dig", after=None)


def check_writers_write(client):
    """A writer creates, changes and deletes tasks as the owner does."""
    project = add_project(client, ben="writer")
    for who in (ANN, BEN):
        tasks = [add_task(client, project, who) for _ in range(4)]
        changed = call(client, who, "PATCH", f"/tasks/{tasks[0]}", 200, json={"title": "Sow", "after": tasks[1]})
        expected = {"id": tasks[0], "project": project, "title": "Sow", "after": tasks[1]}
        assert changed == expected, f"PATCH answered {changed}, expected {expected}"
        call(client, who, "PATCH", f"/tasks/{tasks[0]}", 200, json={"title": "Reap"})
        assert_task(client, who, tasks[0], project=project, title="Reap", after=tasks[1])
        call(client, who, "PATCH", f"/tasks/{tasks[0]}", 200, json={"after": None})
        assert_task(client, who, tasks[0], project=project, title="Reap", after=None)
        call(client, who, "DELETE", f"/tasks/{tasks[0]}", 204)
        call(client, who, "GET", f"/tasks/{tasks[0]}", 404)
        call(client, who, "POST", "/tasks/delete", 204, json={"ids": [tasks[2], tasks[1], tasks[2]]})
        assert listed(client, who, f"/projects/{project}/tasks") == tasks[3:], "other tasks than the chosen ones went"
        call(client, who, "DELETE", f"/tasks/{tasks[3]}", 204)


def check_hidden_objects_do_not_exist(client):
    """Whatever an outsider does with a hidden project or task is answered as for an unknown one."""
    project = add_project(client, ben="writer")
    task = add_task(client, project)
    for number in (project, 999):
        call(client, DAN, "GET", f"/projects/{number}/tasks", 404)
        call(client, DAN, "POST", f"/projects/{number}/tasks", 404, json={"title": "x"})
        call(client, DAN, "PUT", f"/projects/{number}/members", 404, json={"members": {"dan": "writer"}})
    for number in (task, 999):
        call(client, DAN, "GET", f"/tasks/{number}", 404)
        call(client, DAN, "PATCH", f"/tasks/{number}", 404, json={"title": "x"})
        call(client, DAN, "DELETE", f"/tasks/{number}", 404)
        call(client, DAN, "POST", "/tasks/delete", 404, json={"ids": [number]})
    assert_task(client, ANN, task, project=project, title="Dig", after=None)


def check_hidden_objects_cannot_be_named(client):
    """A hidden task or project in a body is 404, as an unknown one, and nothing is changed."""
    hidden = add_project(client, CAT)
    hidden_task = add_task(client, hidden, CAT)
    project = add_project(client)
    task = add_task(client, project)
    for number in (hidden_task, 999):
        call(client, ANN, "POST", f"/projects/{project}/tasks", 404, json={"title": "x", "after": number})
        call(client, ANN, "PATCH", f"/tasks/{task}", 404, json={"title": "x", "after": number})
    for number in (hidden, 999):
        call(client, ANN, "PATCH", f"/tasks/{task}", 404, json={"title": "x", "project": number})
    call(client, ANN, "PATCH", f"/tasks/{task}", 404, json={"title": "x", "project": hidden, "after": None})
    assert_task(client, ANN, task, project=project, title="Dig", after=None)
    assert listed(client, ANN, f"/projects/{project}/tasks") == [task], "a refused task was created"
    assert listed(client, CAT, f"/projects/{hidden}/tasks") == [hidden_task], "a task got into the hidden project"


def check_deletion_of_several_is_all_or_nothing(client):
    """One unknown, hidden or read-only task among several, and none is deleted; 404 goes before 403."""
    own, shared = add_project(client), add_project(client, BEN, ann="reader")
    hidden = add_task(client, add_project(client, CAT), CAT)
    tasks, readable = [add_task(client, own), add_task(client, own)], add_task(client, shared, BEN)
    for other, status in ((999, 404), (hidden, 404), (readable, 403)):
        for ids in ([*tasks, other], [other, *tasks]):
            call(client, ANN, "POST", "/tasks/delete", status, json={"ids": ids})
    for ids in ([readable, hidden], [hidden, readable], [tasks[0], readable, 999]):
        call(client, ANN, "POST", "/tasks/delete", 404, json={"ids": ids})
    assert listed(client, ANN, f"/tasks?ids={tasks[0]},{tasks[1]},{readable}") == [*tasks, readable], "a task is gone"


def check_moving_needs_both_projects(client):
    """A task is moved by those who may write in the old and in the new project."""
    source, target = add_project(client, ben="writer", cat="reader"), add_project(client, BEN, ann="reader")
    own = add_project(client, CAT)
    task = add_task(client, source)
    call(client, ANN, "PATCH", f"/tasks/{task}", 403, json={"project": target})
    call(client, CAT, "PATCH", f"/tasks/{task}", 403, json={"project": own})
    call(client, DAN, "PATCH", f"/tasks/{task}", 404, json={"project": target})
    moved = call(client, BEN, "PATCH", f"/tasks/{task}", 200, json={"project": target})
    assert moved == {"id": task, "project": target, "title": "Dig", "after": None}, f"moving answered {moved}"
    call(client, CAT, "GET", f"/tasks/{task}", 404)
    assert listed(client, ANN, f"/projects/{source}/tasks") == [], "the moved task is still in the old project"
    assert listed(client, ANN, f"/projects/{target}/tasks") == [task], "the moved task is not in the new project"


def check_after_is_shown_to_those_who_see_it(client):
    """`after` is null for callers who may not see the task it names, and when that task is gone."""
    secret, shared = add_project(client), add_project(client, ben="writer")
    first = add_task(client, secret)
    task = add_task(client, shared, after=first)
    assert_task(client, ANN, task, project=shared, title="Dig", after=first)
    assert_task(client, BEN, task, project=shared, title="Dig", after=None)
    for path in (f"/projects/{shared}/tasks", f"/tasks?ids={task}"):
        found = call(client, BEN, "GET", path, 200)["tasks"]
        assert [item["after"] for item in found] == [None], f"GET {path} names a hidden task: {found}"
    changed = call(client, BEN, "PATCH", f"/tasks/{task}", 200, json={"title": "Sow"})
    assert changed["after"] is None, f"PATCH names a hidden task: {changed}"
    assert_task(client, ANN, task, project=shared, title="Sow", after=first)
    call(client, ANN, "DELETE", f"/tasks/{first}", 204)
    assert_task(client, ANN, task, project=shared, title="Sow", after=None)


def check_rights_end_at_once(client):
    """Who is no member any more sees nothing of the project, own tasks included."""
    project = add_project(client, ben="writer")
    task = add_task(client, project, BEN)
    call(client, ANN, "PUT", f"/projects/{project}/members", 200, json={"members": {"ben": "reader"}})
    call(client, BEN, "PATCH", f"/tasks/{task}", 403, json={"title": "x"})
    call(client, ANN, "PUT", f"/projects/{project}/members", 200, json={"members": {}})
    call(client, BEN, "GET", f"/tasks/{task}", 404)
    call(client, BEN, "DELETE", f"/tasks/{task}", 404)
    assert listed(client, BEN, "/projects") == [], "the former member still sees the project"
    assert listed(client, BEN, f"/tasks?ids={task}") == [], "the former member still sees the task"


def check_invalid_bodies(client):
    """Missing fields and fields of another form are 400 and change nothing."""
    project = add_project(client)
    task = add_task(client, project)
    for body in ({}, {"name": ""}, {"name": 5}, {"name": None}, ["name"]):
        call(client, ANN, "POST", "/projects", 400, json=body)
    for body in ({}, {"title": ""}, {"title": 5}, {"title": "x", "after": str(task)}, {"title": "x", "after": True}):
        call(client, ANN, "POST", f"/projects/{project}/tasks", 400, json=body)
    for fields in ({"title": ""}, {"title": None}, {"project": None}, {"project": "1"}, {"project": True}):
        call(client, ANN, "PATCH", f"/tasks/{task}", 400, json={"after": None} | fields)
    call(client, ANN, "PATCH", f"/tasks/{task}", 400, json={"title": "x", "after": "1"})
    for body in ({}, {"ids": []}, {"ids": task}, {"ids": [str(task)]}, {"ids": [task, None]}, {"ids": [True]}):
        call(client, ANN, "POST", "/tasks/delete", 400, json=body)
    call(client, ANN, "POST", "/projects", 400, content=b"{")
    assert listed(client, ANN, "/projects") == [project], "an invalid project was created"
    assert listed(client, ANN, f"/projects/{project}/tasks") == [task], "an invalid task was created"
    assert_task(client, ANN, task, project=project, title="Dig", after=None)
