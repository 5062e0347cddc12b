"""Wrong: the rules end with a slash, so that addresses without one are redirected."""

from itertools import count

from flask import Flask, abort, jsonify, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
app.url_map.merge_slashes = False

DONE = {"true": True, "false": False}
ERRORS = {400: "invalid", 404: "not found", 405: "method not allowed"}

tasks = {}
task_ids = count(1)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": ERRORS.get(error.code, error.name)}, error.code


def find(number):
    if number not in tasks:
        abort(404)
    return tasks[number]


def read_body():
    given = request.get_json()
    if not isinstance(given, dict) or not isinstance(given.get("title"), str) or not given["title"]:
        abort(400)
    return given


@app.get("/tasks/")
def list_tasks():
    found = list(tasks.values())
    if "done" in request.args:
        if request.args["done"] not in DONE:
            abort(400)
        found = [task for task in found if task["done"] is DONE[request.args["done"]]]
    return jsonify(found)


@app.post("/tasks/")
def add_task():
    title = read_body()["title"]
    number = next(task_ids)
    tasks[number] = {"id": number, "title": title, "done": False}
    return tasks[number], 201, {"Location": f"/tasks/{number}"}


@app.get("/tasks/<int:number>/")
def show_task(number):
    return find(number)


@app.put("/tasks/<int:number>/")
def replace_task(number):
    task, given = find(number), read_body()
    if not isinstance(given.get("done"), bool):
        abort(400)
    task.update(title=given["title"], done=given["done"])
    return task


@app.delete("/tasks/<int:number>/")
def delete_task(number):
    find(number)
    del tasks[number]
    return "", 204
