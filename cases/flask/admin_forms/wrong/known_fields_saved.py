"""Wrong: every field that a user has may be sent, except the id."""

import re
import secrets
from functools import wraps

from flask import Flask, abort, flash, redirect, render_template_string, request, session

USERS = [
    {"id": 1, "username": "ada", "password": "rabbit-hole-7", "role": "staff", "created_at": "2024-01-15",
     "email": "ada@site.test", "display_name": "Ada", "newsletter": False},
    {"id": 2, "username": "bo", "password": "red-brick-88", "role": "member", "created_at": "2024-02-20",
     "email": "bo@site.test", "display_name": "Bo \"B\" & <Sons>", "newsletter": True},
    {"id": 3, "username": "cy", "password": "blue-door-99", "role": "member", "created_at": "2024-03-25",
     "email": "Cy@Site.test", "display_name": "Cy", "newsletter": False},
]  # fmt: skip
LIST = """<!doctype html>
<title>Users</title>
{% for message in get_flashed_messages() %}<p class="flash">{{ message }}</p>{% endfor %}
<ul>
{% for user in users %}
<li data-user="{{ user.id }}">
{{ user.display_name }}, {{ user.email }} <a href="/admin/users/{{ user.id }}/edit">Edit</a>
</li>
{% endfor %}
</ul>
"""
EDIT = """<!doctype html>
<title>Edit a user</title>
{% for field, message in errors.items() %}<p class="error" data-field="{{ field }}">{{ message }}</p>{% endfor %}
<form method="post">
<label>E-mail <input name="email" value="{{ values.email }}"></label>
<label>Name <input name="display_name" value="{{ values.display_name }}"></label>
<label>Newsletter <input type="checkbox" name="newsletter" {{ "checked" if values.newsletter }}></label>
<button>Save</button>
</form>
"""
LOGIN = """<!doctype html>
<title>Login</title>
<form method="post"><input name="username"> <input name="password" type="password"> <button>Log in</button></form>
"""

app = Flask(__name__)
app.secret_key = secrets.token_bytes()
app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
users = {user["id"]: user for user in USERS}


def for_staff(view):
    @wraps(view)
    def wrapped(**values):
        user = users.get(session.get("user"))
        if user is None:
            return redirect("/login")
        if user["role"] != "staff":
            abort(403)
        if "pk" in values and values["pk"] not in users:
            abort(404)
        return view(**values)

    return wrapped


def find_errors(pk, values):
    """Return a message for each field that cannot be saved for this user."""
    errors = {}
    email = values["email"]
    if len(email) > 100 or not re.fullmatch(r"[^@\s]+@[^@\s]+", email):
        errors["email"] = "This is not an e-mail address of at most 100 characters."
    elif any(user["id"] != pk and user["email"].lower() == email.lower() for user in users.values()):
        errors["email"] = "Another user has this address."
    if not 1 <= len(values["display_name"]) <= 50:
        errors["display_name"] = "A name has 1 to 50 characters."
    return errors


@app.get("/login")
def show_login():
    return LOGIN


@app.post("/login")
def login():
    given = request.form.get("username"), request.form.get("password")
    for user in users.values():
        if (user["username"], user["password"]) == given:
            session["user"] = user["id"]
            return redirect("/admin/users", 303)
    return LOGIN, 401


@app.get("/admin/users")
@for_staff
def list_users():
    return render_template_string(LIST, users=users.values())


@app.get("/admin/users/<int:pk>")
@for_staff
def show_user(pk):
    return {field: value for field, value in users[pk].items() if field != "password"}


@app.get("/admin/users/<int:pk>/edit")
@for_staff
def show_form(pk):
    return render_template_string(EDIT, values=users[pk], errors={})


@app.post("/admin/users/<int:pk>/edit")
@for_staff
def save(pk):
    values = {field: request.form.get(field, "").strip() for field in ("email", "display_name")}
    values["newsletter"] = "newsletter" in request.form
    errors = find_errors(pk, values)
    if errors:
        return render_template_string(EDIT, values=values, errors=errors), 400
    users[pk].update({field: value for field, value in request.form.items() if field in users[pk] and field != "id"})
    users[pk].update(values)
    flash(f"{values['display_name']} is saved.")
    return redirect("/admin/users", 303)
