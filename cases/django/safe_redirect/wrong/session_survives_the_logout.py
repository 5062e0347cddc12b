"""Wrong: the logout only redirects."""

import json
import re
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path
from django.views import View
from django.views.decorators.http import require_GET, require_POST

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
HOME = "/home"
ABSOLUTE_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@/?#%-]*")


class SeeOther(HttpResponseRedirect):
    status_code = 303


def target(wanted: object) -> str:
    """Where to go: what was wanted if it is a path of this site, otherwise home."""
    return wanted if isinstance(wanted, str) and ABSOLUTE_PATH.fullmatch(wanted) else HOME


def body(request: HttpRequest) -> dict | None:
    try:
        found = json.loads(request.body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def needs_login(view):
    @require_GET
    def wrapped(request: HttpRequest, **values: int) -> HttpResponse:
        if "user" in request.session:
            return view(request, **values)
        return SeeOther("/login?" + urlencode({"next": request.get_full_path()}))

    return wrapped


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"page": "home"})


@needs_login
def account(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"user": request.session["user"]})


@needs_login
def report(request: HttpRequest, number: int) -> HttpResponse:
    return JsonResponse({"user": request.session["user"], "report": number})


class Login(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        following = target(request.GET.get("next"))
        return SeeOther(following) if "user" in request.session else JsonResponse({"next": following})

    def post(self, request: HttpRequest) -> HttpResponse:
        given = body(request)
        if given is None or not all(isinstance(given.get(name), str) for name in ("username", "password")):
            return JsonResponse({"error": "invalid"}, status=400)
        if USERS.get(given["username"]) != given["password"]:
            return JsonResponse({"error": "wrong"}, status=401)
        request.session.cycle_key()
        request.session["user"] = given["username"]
        return SeeOther(target(given.get("next")))


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    given = body(request)
    if given is None:
        return JsonResponse({"error": "invalid"}, status=400)
    return SeeOther(target(given.get("next")))


urlpatterns = [
    path("home", home),
    path("account", account),
    path("reports/<int:number>", report),
    path("login", Login.as_view()),
    path("logout", logout),
]
