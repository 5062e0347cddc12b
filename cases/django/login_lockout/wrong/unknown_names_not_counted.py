"""Wrong: only existing users are counted."""

import hmac
import json
from collections import Counter

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_POST

USERS = {"alice": "rabbit-hole-7", "bob": "red-brick-8"}
ADMIN_KEY = "let-me-in-9"
MAX_FAILURES = 3

failures: Counter[str] = Counter()


def same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())


def fields(request: HttpRequest, *names: str) -> list[str] | None:
    """The named strings of the JSON body, or None if one is missing."""
    try:
        data = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    values = [data.get(name) for name in names]
    return values if all(isinstance(value, str) for value in values) else None


def error(name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name}, status=status)


@require_POST
def login(request: HttpRequest) -> HttpResponse:
    given = fields(request, "username", "password")
    if given is None or not (name := given[0].strip().lower()):
        return error("invalid", 400)
    if failures[name] >= MAX_FAILURES:
        return error("locked", 429)
    if name in USERS and same(given[1], USERS[name]):
        del failures[name]
        return JsonResponse({"user": name})
    if name in USERS:
        failures[name] += 1
    return error("wrong", 401)


@require_POST
def unlock(request: HttpRequest) -> HttpResponse:
    if not same(request.headers.get("X-Admin-Key", ""), ADMIN_KEY):
        return error("forbidden", 403)
    given = fields(request, "username")
    if given is None:
        return error("invalid", 400)
    del failures[given[0].strip().lower()]
    return HttpResponse(status=204)


urlpatterns = [path("login/", login), path("unlock/", unlock)]
