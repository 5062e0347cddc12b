"""Wrong: the device is locked before the wait, so that everybody else waits too."""

import json
import time
from typing import Any

from django.db import models, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils import timezone
from django.views import View


class Device(models.Model):
    name = models.TextField()
    enabled = models.BooleanField(default=True)
    muted = models.BooleanField(default=False)
    volume = models.IntegerField(default=50)
    revision = models.IntegerField(default=0)
    updated_at = models.DateTimeField(default=timezone.now)

    def as_json(self) -> dict[str, Any]:
        names = ("id", "name", "enabled", "muted", "volume", "revision")
        return {name: getattr(self, name) for name in names} | {"updated_at": self.updated_at.isoformat()}


class Refused(Exception):
    """The request changes nothing; carries body and status of the answer."""


def is_integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


RULES = {
    "name": lambda value: isinstance(value, str) and 1 <= len(value) <= 40,
    "enabled": lambda value: isinstance(value, bool),
    "muted": lambda value: isinstance(value, bool),
    "volume": lambda value: is_integer(value, 0, 100),
    "delta": lambda value: is_integer(value, -100, 100),
    "delay": lambda value: type(value) in (int, float) and 0 <= value <= 1,
}


def body(request: HttpRequest, *allowed: str) -> dict[str, Any]:
    try:
        given = json.loads(request.body)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Refused({"error": "invalid", "fields": []}, 422)
    wrong = [name for name in given if name not in allowed or not RULES[name](given[name])]
    if wrong:
        raise Refused({"error": "invalid", "fields": sorted(wrong)}, 422)
    return given


def change(pk: int, changes: dict[str, Any], **condition: Any) -> Device | None:
    """Change the device in one statement, if it still is and the condition holds; return it as it is then."""
    with transaction.atomic():
        marks = {"revision": F("revision") + 1, "updated_at": timezone.now()}
        changed = Device.objects.filter(pk=pk, **condition).update(**changes, **marks)
        return Device.objects.get(pk=pk) if changed else None


class Api(View):
    def dispatch(self, request: HttpRequest, **values: int) -> HttpResponse:
        try:
            return super().dispatch(request, **values)
        except Refused as refusal:
            content, status = refusal.args
            return JsonResponse(content, status=status)


def existing(pk: int) -> Device:
    found = Device.objects.filter(pk=pk).first()
    if found is None:
        raise Refused({"error": "not found"}, 404)
    return found


class Devices(Api):
    def post(self, request: HttpRequest) -> HttpResponse:
        given = body(request, "name")
        if not given:
            raise Refused({"error": "invalid", "fields": ["name"]}, 422)
        return JsonResponse(Device.objects.create(**given).as_json(), status=201)


class OneDevice(Api):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        return JsonResponse(existing(pk).as_json())

    def delete(self, request: HttpRequest, pk: int) -> HttpResponse:
        existing(pk).delete()
        return HttpResponse(status=204)

    def patch(self, request: HttpRequest, pk: int) -> HttpResponse:
        found = existing(pk)
        changes = body(request, "name", "enabled", "muted", "volume", "delay")
        with transaction.atomic():
            Device.objects.filter(pk=pk).update(name=F("name"))
            time.sleep(changes.pop("delay", 0))
            if changes:
                found = change(pk, changes) or existing(pk)
        return JsonResponse(found.as_json())


class Volume(Api):
    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        existing(pk)
        given = body(request, "delta", "delay")
        if "delta" not in given:
            raise Refused({"error": "invalid", "fields": ["delta"]}, 422)
        time.sleep(given.get("delay", 0))
        delta = given["delta"]
        found = change(pk, {"volume": F("volume") + delta}, volume__range=(-delta, 100 - delta))
        if found is None:
            existing(pk)
            raise Refused({"error": "out of range"}, 409)
        return JsonResponse(found.as_json())


urlpatterns = [
    path("devices/", Devices.as_view()),
    path("devices/<int:pk>/", OneDevice.as_view()),
    path("devices/<int:pk>/volume/", Volume.as_view()),
]
