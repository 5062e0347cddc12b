"""Wrong: a target only has to be a string without blanks and line ends."""

import json
import re
from urllib.parse import quote

from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, re_path
from django.views import View
from django.views.decorators.http import require_http_methods, require_safe

PAGES = {"/docs/guide/": "Guide", "/docs/guide/install/": "Installation", "/docs/api/": "API"}
KEY = "Bearer key-maint-41"
ADDRESS = re.compile(r"(?=.{1,200}\Z)/(?:[A-Za-z0-9._~-]+/)*[A-Za-z0-9._~-]*")
MOST_RULES = 5


class Redirect(models.Model):
    position = models.IntegerField()
    source = models.TextField()
    target = models.TextField()
    type = models.TextField()
    status = models.IntegerField()
    force = models.BooleanField()

    def as_json(self) -> dict:
        fields = {name: getattr(self, name) for name in ("type", "status", "force")}
        return {"id": self.pk, "from": self.source, "to": self.target} | fields

    def applies(self, asked: str) -> bool:
        matches = asked.startswith(self.source) if self.type == "prefix" else asked == self.source
        return matches and (self.force or asked not in PAGES)

    def leads_to(self, asked: str) -> str:
        return self.target + asked.removeprefix(self.source) if self.type == "prefix" else self.target


def error(name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name}, status=status)


def needs_key(view):
    def wrapped(request: HttpRequest, **values: int) -> HttpResponse:
        if request.headers.get("Authorization") != KEY:
            return error("unauthorized", 401)
        return view(request, **values)

    return wrapped


def body(request: HttpRequest) -> dict:
    try:
        given = json.loads(request.body)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def valid(given: dict) -> bool:
    source, target = given.get("from"), given.get("to")
    if not isinstance(source, str) or not ADDRESS.fullmatch(source):
        return False
    if not isinstance(target, str) or not re.fullmatch(r"[!-~]+", target):
        return False
    if not source.startswith("/docs/") or type(given.get("force")) is not bool:
        return False
    if given.get("type") == "prefix" and not (source.endswith("/") and target.endswith("/")):
        return False
    return given.get("type") in ("exact", "prefix") and given.get("status") in (301, 302)


def in_order() -> models.QuerySet[Redirect]:
    return Redirect.objects.order_by("position", "pk")


def listed() -> JsonResponse:
    return JsonResponse({"redirects": [rule.as_json() for rule in in_order()]})


class Redirects(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return listed()

    def post(self, request: HttpRequest) -> HttpResponse:
        given = body(request)
        if not valid(given):
            return error("invalid", 422)
        last = in_order().last()
        made = Redirect.objects.create(
            position=last.position + 1 if last else 1,
            source=given["from"],
            target=given["to"],
            **{name: given[name] for name in ("type", "status", "force")},
        )
        return JsonResponse(made.as_json(), status=201)


@require_http_methods(["DELETE"])
@needs_key
def one_redirect(request: HttpRequest, pk: int) -> HttpResponse:
    deleted, _ = Redirect.objects.filter(pk=pk).delete()
    return HttpResponse(status=204) if deleted else error("not found", 404)


@require_http_methods(["PUT"])
@needs_key
def order(request: HttpRequest) -> HttpResponse:
    ids = body(request).get("ids")
    known = sorted(in_order().values_list("pk", flat=True))
    if not isinstance(ids, list) or any(type(pk) is not int for pk in ids) or sorted(ids) != known:
        return error("invalid", 422)
    with transaction.atomic():
        for position, pk in enumerate(ids):
            Redirect.objects.filter(pk=pk).update(position=position)
    return listed()


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    rules, used, address = list(in_order()), [], request.path_info
    while rule := next((rule for rule in rules if rule.applies(address)), None):
        if len(used) == MOST_RULES:
            return error("not found", 404)
        used.append(rule)
        address = rule.leads_to(address)
    if not used and address in PAGES:
        return JsonResponse({"title": PAGES[address]})
    if not used or address.startswith("//") and address != used[-1].target:
        return error("not found", 404)
    query = request.META.get("QUERY_STRING")
    location = quote(address) + (f"?{query}" if query else "")
    return HttpResponse(status=max(rule.status for rule in used), headers={"Location": location})


urlpatterns = [
    path("redirects/", needs_key(Redirects.as_view())),
    path("redirects/order/", order),
    path("redirects/<int:pk>/", one_redirect),
    re_path(r"^docs/", docs),
]
