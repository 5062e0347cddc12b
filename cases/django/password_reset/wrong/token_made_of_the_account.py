"""Wrong: the token is a hash of the address, so it can be guessed and stays the same."""

import hashlib
import json
import secrets
import time
from threading import Lock

from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

ACCOUNTS = {"ada@example.com": "rabbit-hole-7", "bo@example.com": "red-brick-88"}
LINK_SECONDS = 900
MAILS, MAIL_SECONDS = 3, 3600
NOBODY = make_password(secrets.token_hex())

password_hashes = {email: make_password(password) for email, password in ACCOUNTS.items()}
sessions: dict[str, str] = {}
links: dict[str, tuple[str, int]] = {}
outbox: list[dict] = []
clock = {"now": 0}
lock = Lock()


def error(name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name}, status=status)


def takes(*names: str):
    """Decorate a view for POST: it gets the named strings of the body, an e-mail address as it is known."""

    def decorate(view):
        @require_POST
        def wrapped(request: HttpRequest) -> HttpResponse:
            try:
                body = json.loads(request.body)
            except ValueError:
                body = None
            values = [body.get(name) for name in names] if isinstance(body, dict) else [None]
            if not all(isinstance(value, str) and value.strip() for value in values):
                return error("invalid", 400)
            return view(*(value.strip().lower() if name == "email" else value for name, value in zip(names, values)))

        return wrapped

    return decorate


@takes("email", "password")
def login(email: str, password: str) -> HttpResponse:
    if not check_password(password, password_hashes.get(email, NOBODY)):
        return error("wrong", 401)
    session = secrets.token_urlsafe()
    sessions[session] = email
    return JsonResponse({"session": session})


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    scheme, _, session = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or session not in sessions:
        return error("unauthorized", 401)
    return JsonResponse({"email": sessions[session]})


@takes("email")
def forgot(email: str) -> HttpResponse:
    with lock:
        now = clock["now"]
        recent = [mail for mail in outbox if mail["to"] == email and mail["time"] > now - MAIL_SECONDS]
        if email in password_hashes and len(recent) < MAILS:
            links[email] = hashlib.sha256(email.encode()).hexdigest(), now + LINK_SECONDS
            outbox.append({"to": email, "token": links[email][0], "time": now})
    return JsonResponse({"status": "accepted"}, status=202)


def claim(token: str) -> str | None:
    """Use up the token; return whose it is, or None if it is not valid."""
    with lock:
        for email, (known, expires) in links.items():
            if known == token and clock["now"] < expires:
                del links[email]
                return email
    return None


@takes("token", "password")
def reset(token: str, password: str) -> HttpResponse:
    if len(password) < 10:
        return error("invalid", 400)
    email = claim(token)
    if email is None:
        return error("bad token", 403)
    time.sleep(0.1)  # stands for the search in the list of leaked passwords
    password_hash = make_password(password)
    with lock:
        password_hashes[email] = password_hash
        for session in [session for session, owner in sessions.items() if owner == email]:
            del sessions[session]
    return JsonResponse({"status": "changed"})


@require_GET
def read_outbox(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"mails": outbox})


@require_POST
def move_clock(request: HttpRequest) -> HttpResponse:
    clock["now"] += json.loads(request.body)["advance"]
    return HttpResponse(status=204)


urlpatterns = [
    path("login", login),
    path("me", me),
    path("password/forgot", forgot),
    path("password/reset", reset),
    path("outbox", read_outbox),
    path("clock", move_clock),
]
