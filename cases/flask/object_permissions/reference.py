"""Projects and tasks: what a user may not see does not exist for that user, on every route."""

from itertools import count

from flask import Flask, abort, g, request
from werkzeug.exceptions import HTTPException

KEYS = {"key-ann-31": "ann", "key-ben-42": "ben", "key-cat-53": "cat", "key-dan-64": "dan"}
WRITERS = ("owner", "writer")
GRANTS = [(user, role) for user in KEYS.values() for role in ("writer", "reader")]

app = Flask(__name__)
projects = {}
tasks = {}
project_ids = count(1)
task_ids = count(1)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


@app.before_request
def identify():
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or key not in KEYS:
        abort(401, "unauthorized")
    g.user = KEYS[key]


def role_in(project_id):
    project = projects.get(project_id)
    if project is None:
        return None
    return "owner" if project["owner"] == g.user else project["members"].get(g.user)


def find_project(project_id, roles=None):
    """Return a visible project in which the caller has one of the roles (None: any)."""
    role = role_in(project_id)
    if role is None:
        abort(404, "not found")
    if roles and role not in roles:
        abort(403, "forbidden")
    return projects[project_id]


def is_visible(task_id):
    return task_id in tasks and role_in(tasks[task_id]["project"]) is not None


def find_task(task_id, roles=None):
    if not is_visible(task_id):
        abort(404, "not found")
    find_project(tasks[task_id]["project"], roles)
    return tasks[task_id]


def show_task(task):
    return task | {"after": task["after"] if is_visible(task["after"]) else None}


def read_body(required, optional=()):
    """Return the body's fields; each known field has its own form."""
    data = request.get_json(silent=True)
    if not isinstance(data, dict) or any(name not in data for name in required):
        abort(400, "invalid")
    fields = {name: data[name] for name in (*required, *optional) if name in data}
    if not all(is_valid(name, value) for name, value in fields.items()):
        abort(400, "invalid")
    return fields


def is_valid(name, value):
    match name:
        case "members":
            return isinstance(value, dict) and all(pair in GRANTS for pair in value.items())
        case "ids":
            return isinstance(value, list) and len(value) > 0 and all(type(number) is int for number in value)
        case "after":
            return value is None or type(value) is int
        case "project":
            return type(value) is int
    return isinstance(value, str) and value != ""


@app.post("/projects")
def create_project():
    project = {"id": next(project_ids), "owner": g.user, "members": {}} | read_body(["name"])
    projects[project["id"]] = project
    return project, 201


@app.get("/projects")
def list_projects():
    return {"projects": [project for project in projects.values() if role_in(project["id"])]}


@app.put("/projects/<int:project_id>/members")
def put_members(project_id):
    project = find_project(project_id, ["owner"])
    project.update(read_body(["members"]))
    return project


@app.get("/projects/<int:project_id>/tasks")
def list_project_tasks(project_id):
    find_project(project_id)
    return {"tasks": [show_task(task) for task in tasks.values() if task["project"] == project_id]}


@app.post("/projects/<int:project_id>/tasks")
def create_task(project_id):
    find_project(project_id, WRITERS)
    fields = {"after": None} | read_body(["title"], ["after"])
    if fields["after"] is not None:
        find_task(fields["after"])
    task = {"id": next(task_ids), "project": project_id} | fields
    tasks[task["id"]] = task
    return show_task(task), 201


@app.get("/tasks")
def list_tasks():
    wanted = {int(text) for text in request.args.get("ids", "").split(",") if text.isdecimal()}
    return {"tasks": [show_task(task) for task in tasks.values() if task["id"] in wanted and is_visible(task["id"])]}


@app.post("/tasks/delete")
def delete_tasks():
    wanted = set(read_body(["ids"])["ids"])
    for task_id in wanted:
        find_task(task_id)
    for task_id in wanted:
        find_task(task_id, WRITERS)
    for task_id in wanted:
        del tasks[task_id]
    return "", 204


@app.get("/tasks/<int:task_id>")
def get_task(task_id):
    return show_task(find_task(task_id))


@app.patch("/tasks/<int:task_id>")
def change_task(task_id):
    task = find_task(task_id, WRITERS)
    fields = read_body([], ["title", "project", "after"])
    if fields.get("after") is not None:
        find_task(fields["after"])
    if "project" in fields:
        find_project(fields["project"], WRITERS)
    task.update(fields)
    return show_task(task)


@app.delete("/tasks/<int:task_id>")
def delete_task(task_id):
    find_task(task_id, WRITERS)
    del tasks[task_id]
    return "", 204
