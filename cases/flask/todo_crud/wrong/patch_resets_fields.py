"""Wrong: PATCH replaces the to-do, so a field that is not given falls back to its default."""

from itertools import count

from flask import Flask, abort, jsonify, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
todos = {}
next_id = count(1)


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


def find(todo_id):
    if todo_id not in todos:
        abort(404, f"There is no to-do {todo_id}.")
    return todos[todo_id]


def read_fields():
    fields = request.get_json()
    if not isinstance(fields, dict):
        abort(400, "The body must be a JSON object.")
    title = fields.get("title", "unchanged")
    if not isinstance(title, str) or not title:
        abort(400, "The title must be a string of at least one character.")
    if not isinstance(fields.get("done", False), bool):
        abort(400, "The field done must be true or false.")
    return fields


@app.post("/todos")
def create_todo():
    fields = read_fields()
    if "title" not in fields:
        abort(400, "The title is missing.")
    todo = {"id": next(next_id), "title": fields["title"], "done": False}
    todos[todo["id"]] = todo
    return todo, 201


@app.get("/todos")
def list_todos():
    return jsonify(list(todos.values()))


@app.get("/todos/<int:todo_id>")
def show_todo(todo_id):
    return find(todo_id)


@app.patch("/todos/<int:todo_id>")
def change_todo(todo_id):
    todo = find(todo_id)
    fields = read_fields()
    todo.update({"title": fields.get("title", todo["title"]), "done": fields.get("done", False)})
    return todo


@app.delete("/todos/<int:todo_id>")
def delete_todo(todo_id):
    find(todo_id)
    del todos[todo_id]
    return "", 204
