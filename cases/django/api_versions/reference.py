"""Users in two versions of an API; the Accept header names the version."""

import json

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.cache import patch_vary_headers
from django.views import View
from django.views.decorators.http import require_GET

VERSIONS = ["1.0", "2.0"]
DEFAULT = "2.0"
RANGES = {"application/json", "application/*", "*/*"}

users = {1: ("Ada", "Lovelace"), 2: ("Alan", "Turing")}


def find_version(accept: str) -> str | None:
    """Return the version that is asked for, or None where there is no such version."""
    media_range, *parameters = (part.strip() for part in accept.split(";"))
    if media_range.lower() not in RANGES:
        return None
    pairs = [parameter.partition("=") for parameter in parameters]
    asked = [value.strip('"') for name, _, value in pairs if name.lower() == "version"]
    if not asked:
        return DEFAULT
    return asked[0] if len(asked) == 1 and asked[0] in VERSIONS else None


class Versioned(View):
    """A view whose handlers get the version as an argument, and whose answers tell it."""

    def dispatch(self, request: HttpRequest, **kwargs: int) -> HttpResponse:
        version = find_version(request.headers.get("Accept", "*/*"))
        if version is None:
            response = JsonResponse({"error": "not acceptable", "versions": VERSIONS}, status=406)
        else:
            response = super().dispatch(request, version=version, **kwargs)
            response["Content-Type"] = f"application/json; version={version}"
        if version == "1.0":
            response["Deprecation"] = "@1767225600"
        patch_vary_headers(response, ["Accept"])
        return response


def show(number: int, version: str) -> dict:
    first, last = users[number]
    if version == "1.0":
        return {"id": number, "full_name": f"{first} {last}"}
    return {"id": number, "first_name": first, "last_name": last}


def read_names(body: bytes, version: str) -> tuple[str, ...]:
    """Return first and last name from a body in this version.

    Raises ValueError where it is not as described.
    """
    given = json.loads(body)
    if not isinstance(given, dict):
        raise ValueError
    names = given.get("full_name") if version == "1.0" else [given.get("first_name"), given.get("last_name")]
    if isinstance(names, str):
        names = names.split(" ")
    if not isinstance(names, list) or len(names) != 2:
        raise ValueError
    if not all(isinstance(name, str) and name and " " not in name for name in names):
        raise ValueError
    return tuple(names)


@require_GET
def about(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"versions": VERSIONS, "default": DEFAULT})


class Users(Versioned):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return JsonResponse([show(number, version) for number in users], safe=False)

    def post(self, request: HttpRequest, version: str) -> HttpResponse:
        try:
            names = read_names(request.body, version)
        except ValueError:
            return JsonResponse({"error": "invalid"}, status=400)
        number = len(users) + 1
        users[number] = names
        return JsonResponse(show(number, version), status=201)


class User(Versioned):
    def get(self, request: HttpRequest, version: str, number: int) -> HttpResponse:
        if number not in users:
            return JsonResponse({"error": "not found"}, status=404)
        return JsonResponse(show(number, version))


urlpatterns = [path("", about), path("users", Users.as_view()), path("users/<int:number>", User.as_view())]
