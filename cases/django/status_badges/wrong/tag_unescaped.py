"""Wrong: the picture is put together from strings, the tag included."""

import json
import secrets

from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import path, re_path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

KEY = "Bearer key-mon-17"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="20">'
    '<text x="5" y="15">{}</text><text x="170" y="15">{}</text></svg>'
)


class Check(models.Model):
    name = models.SlugField(unique=True)
    tags = models.JSONField()
    state = models.TextField()


class Badge(models.Model):
    tag = models.TextField(unique=True)
    code = models.TextField(unique=True, default=secrets.token_hex)


def needs_key(view):
    def wrapped(request: HttpRequest, **values: str) -> HttpResponse:
        if request.headers.get("Authorization") != KEY:
            return JsonResponse({"error": "unauthorized"}, status=401)
        return view(request, **values)

    return wrapped


@require_http_methods(["PUT", "DELETE"])
@needs_key
def check(request: HttpRequest, name: str) -> HttpResponse:
    if request.method == "PUT":
        given = json.loads(request.body)
        fields = {"tags": given["tags"], "state": given["state"]}
        Check.objects.update_or_create(fields, name=name)
        return JsonResponse({"name": name} | fields)
    get_object_or_404(Check, name=name).delete()
    return HttpResponse(status=204)


@require_POST
@needs_key
def badges(request: HttpRequest) -> HttpResponse:
    try:
        tag = json.loads(request.body)["tag"]
        valid = 1 <= len(tag) <= 50 and tag.isprintable()
    except (ValueError, KeyError, TypeError, AttributeError):
        valid = False
    if not valid:
        return JsonResponse({"error": "invalid"}, status=400)
    found, created = Badge.objects.get_or_create(tag=tag)
    return JsonResponse({"tag": tag, "badge": found.code}, status=201 if created else 200)


def worst(states: list[str], three: bool) -> str:
    if "down" in states:
        return "down"
    return "late" if three and "late" in states else "up"


@require_safe
def status(request: HttpRequest, code: str, three: str, form: str) -> HttpResponse:
    tag = get_object_or_404(Badge, code=code).tag
    states = [found.state for found in Check.objects.all() if tag in found.tags]
    told = worst(states, bool(three))
    if form == "json":
        counts = {"total": len(states), "late": states.count("late"), "down": states.count("down")}
        response = JsonResponse({"tag": tag, "status": told} | counts)
        response["Access-Control-Allow-Origin"] = "*"
    elif form == "svg":
        response = HttpResponse(SVG.format(tag, told), content_type="image/svg+xml")
    elif form == "txt":
        response = HttpResponse(told.upper(), content_type="text/plain")
    else:
        raise Http404
    response["Cache-Control"] = "no-cache"
    return response


urlpatterns = [
    path("checks/<slug:name>/", check),
    path("badges/", badges),
    re_path(r"^status/(?P<code>[0-9a-f]+)(?P<three>(?:-3)?)\.(?P<form>[a-z]+)$", status),
]
