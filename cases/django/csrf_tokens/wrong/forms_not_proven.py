"""Wrong: only JSON is protected, since forms were added later."""

import json
import secrets
from functools import wraps
from itertools import count

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_GET, require_http_methods, require_POST

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
API_KEYS = {"key-ada-17": "ada", "key-bo-28": "bo"}

notes: dict[str, dict[int, str]] = {user: {} for user in USERS}
numbers = count(1)


class Refused(Exception):
    def __init__(self, error: str, status: int) -> None:
        self.error, self.status = error, status


def answer_refusals(view):
    @wraps(view)
    def wrapped(request: HttpRequest, **values: int) -> HttpResponse:
        try:
            return view(request, **values)
        except Refused as refused:
            return JsonResponse({"error": refused.error}, status=refused.status)

    return wrapped


def prove_own_page(request: HttpRequest) -> None:
    """Refuse a request that may have been made by another site's page."""
    if request.content_type == "application/x-www-form-urlencoded":
        return
    origin, host = request.headers.get("Origin"), request.get_host()
    if origin not in (None, f"http://{host}", f"https://{host}"):
        raise Refused("csrf_origin", 403)
    token = request.headers.get("X-CSRF-Token") or request.POST.get("csrf_token")
    if not token:
        raise Refused("csrf_missing", 403)
    if not constant_time_compare(token, request.session.get("csrf", "")):
        raise Refused("csrf_invalid", 403)


def caller(request: HttpRequest) -> str:
    """The user who calls, by key or by session; calls by session that change something need proof."""
    if "Authorization" in request.headers:
        scheme, _, key = request.headers["Authorization"].partition(" ")
        user = API_KEYS.get(key) if scheme == "Bearer" else None
    else:
        if request.method not in ("GET", "HEAD"):
            prove_own_page(request)
        user = request.session.get("user")
    if user is None:
        raise Refused("unauthorized", 401)
    return user


def field(request: HttpRequest, name: str) -> str:
    if request.content_type == "application/x-www-form-urlencoded":
        given = request.POST
    else:
        try:
            given = json.loads(request.body) if request.content_type == "application/json" else None
        except ValueError:
            given = None
    value = given.get(name) if isinstance(given, dict) else None
    if not isinstance(value, str) or not value:
        raise Refused("invalid", 400)
    return value


@require_GET
def csrf(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"token": request.session.setdefault("csrf", secrets.token_urlsafe())})


@require_POST
@answer_refusals
def login(request: HttpRequest) -> HttpResponse:
    prove_own_page(request)
    user, password = field(request, "username"), field(request, "password")
    if USERS.get(user) != password:
        raise Refused("wrong", 401)
    request.session.flush()
    request.session["user"] = user
    return JsonResponse({"user": user})


@require_POST
@answer_refusals
def logout(request: HttpRequest) -> HttpResponse:
    prove_own_page(request)
    request.session.flush()
    return HttpResponse(status=204)


@require_http_methods(["GET", "POST"])
@answer_refusals
def all_notes(request: HttpRequest) -> HttpResponse:
    user = caller(request)
    if request.method == "GET":
        return JsonResponse({"notes": [{"id": number, "text": text} for number, text in notes[user].items()]})
    text, number = field(request, "text"), next(numbers)
    notes[user][number] = text
    return JsonResponse({"id": number, "text": text}, status=201)


@require_http_methods(["DELETE"])
@answer_refusals
def one_note(request: HttpRequest, number: int) -> HttpResponse:
    if notes[caller(request)].pop(number, None) is None:
        raise Refused("not found", 404)
    return HttpResponse(status=204)


@require_POST
def ping(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"pong": True})


urlpatterns = [
    path("csrf", csrf),
    path("login", login),
    path("logout", logout),
    path("notes", all_notes),
    path("notes/<int:number>", one_note),
    path("hooks/ping", ping),
]
