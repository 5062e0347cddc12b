"""Wrong: a deactivated user loses the access tokens only, and gets new ones for the refresh token."""

import json
import secrets

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db import models
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST

ADMIN_KEY = "key-adm-31"
BAD_TOKEN = {"error": "invalid token"}


class Token(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    kind = models.TextField()
    value = models.TextField(unique=True, default=secrets.token_urlsafe)


class Invalid(Exception):
    pass


def field(request: HttpRequest, name: str, kind: type) -> object:
    """The value that the body has under this name."""
    try:
        value = json.loads(request.body)[name]
    except (ValueError, KeyError, TypeError):
        raise Invalid from None
    if not isinstance(value, kind):
        raise Invalid
    return value


def answer_errors(view):
    def wrapped(request: HttpRequest, **values: int) -> HttpResponse:
        try:
            return view(request, **values)
        except Invalid:
            return JsonResponse({"error": "invalid"}, status=400)

    return wrapped


def for_admins(view):
    def wrapped(request: HttpRequest, **values: int) -> HttpResponse:
        if request.headers.get("X-Admin-Key") != ADMIN_KEY:
            return JsonResponse({"error": "forbidden"}, status=403)
        return view(request, **values)

    return wrapped


def as_json(user: User) -> dict:
    return {"id": user.pk, "username": user.username, "is_active": user.is_active}


def issue(user: User, kind: str) -> str:
    return Token.objects.create(user=user, kind=kind).value


@require_POST
@for_admins
@answer_errors
def users(request: HttpRequest) -> HttpResponse:
    made = User.objects.create_user(field(request, "username", str), password=field(request, "password", str))
    return JsonResponse(as_json(made), status=201)


@require_http_methods(["PATCH", "DELETE"])
@for_admins
@answer_errors
def user(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(User, pk=pk)
    if request.method == "DELETE":
        found.delete()
        return HttpResponse(status=204)
    found.is_active = field(request, "is_active", bool)
    found.save()
    if not found.is_active:
        found.token_set.filter(kind="access").delete()
    return JsonResponse(as_json(found))


@require_POST
@answer_errors
def token(request: HttpRequest) -> HttpResponse:
    name, password = field(request, "username", str), field(request, "password", str)
    found = authenticate(request, username=name, password=password)
    if found is None:
        return JsonResponse({"error": "invalid credentials"}, status=401)
    return JsonResponse({"access": issue(found, "access"), "refresh": issue(found, "refresh")})


@require_POST
@answer_errors
def refresh(request: HttpRequest) -> HttpResponse:
    found = Token.objects.filter(kind="refresh", value=field(request, "refresh", str)).first()
    if found is None:
        return JsonResponse(BAD_TOKEN, status=401)
    return JsonResponse({"access": issue(found.user, "access")})


@require_POST
@answer_errors
def verify(request: HttpRequest) -> HttpResponse:
    if not Token.objects.filter(value=field(request, "token", str)).exists():
        return JsonResponse(BAD_TOKEN, status=401)
    return JsonResponse({})


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    found = Token.objects.filter(kind="access", value=value).first()
    if scheme != "Bearer" or found is None:
        return JsonResponse(BAD_TOKEN, status=401)
    return JsonResponse({"id": found.user.pk, "username": found.user.username})


urlpatterns = [
    path("users/", users),
    path("users/<int:pk>/", user),
    path("token/", token),
    path("token/refresh/", refresh),
    path("token/verify/", verify),
    path("me/", me),
]
