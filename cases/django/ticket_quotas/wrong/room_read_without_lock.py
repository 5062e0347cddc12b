"""Wrong: the room is read first and the tickets are written a little later, with no transaction around."""

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import models
from django.db.models import Sum
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST


class Quota(models.Model):
    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    tickets = models.JSONField()

    def sold(self) -> int:
        active = Position.objects.filter(order__canceled=False, ticket__in=self.tickets)
        return active.aggregate(total=Sum("count", default=0))["total"]

    def as_json(self) -> dict:
        sold = self.sold()
        available = self.size - sold
        fields = {"id": self.pk, "name": self.name, "size": self.size, "tickets": self.tickets}
        return fields | {"sold": sold, "available": available}


class Order(models.Model):
    code = models.CharField(max_length=64, unique=True, default=secrets.token_hex)
    canceled = models.BooleanField(default=False)

    def as_json(self) -> dict:
        status = "canceled" if self.canceled else "active"
        positions = dict(self.positions.order_by("pk").values_list("ticket", "count"))
        return {"code": self.code, "status": status, "positions": positions}


class Position(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="positions")
    ticket = models.CharField(max_length=200)
    count = models.PositiveIntegerField()


class Refused(Exception):
    """The request has no effect; carries the error's name and the status."""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    yield


def parse_positions(request: HttpRequest) -> dict[str, int]:
    try:
        positions = json.loads(request.body)["positions"]
        counts = list(positions.values())
        valid = bool(counts) and all(type(count) is int and 1 <= count <= 50 for count in counts)
    except (ValueError, KeyError, TypeError, AttributeError):
        valid = False
    if not valid:
        raise Refused("invalid", 422)
    return positions


def take(order: Order, positions: dict[str, int]) -> None:
    """Give the order these positions in place of its former ones."""
    quotas = Quota.objects.all()
    if positions.keys() - {ticket for quota in quotas for ticket in quota.tickets}:
        raise Refused("invalid", 422)
    held = Position.objects.filter(order__canceled=False).exclude(order__code=order.code)
    for quota in quotas:
        wanted = sum(positions.get(ticket, 0) for ticket in quota.tickets)
        sold = held.filter(ticket__in=quota.tickets).aggregate(total=Sum("count", default=0))["total"]
        if wanted and sold + wanted > quota.size:
            raise Refused("sold out", 409)
    time.sleep(0.02)
    order.save()
    order.positions.all().delete()
    order.positions.bulk_create(Position(order=order, ticket=name, count=n) for name, n in positions.items())


def answer_errors(view):
    def wrapped(request: HttpRequest, **kwargs: int | str) -> JsonResponse:
        try:
            return view(request, **kwargs)
        except Refused as refusal:
            name, status = refusal.args
        except (Quota.DoesNotExist, Order.DoesNotExist):
            name, status = "not found", 404
        return JsonResponse({"error": name}, status=status)

    return wrapped


@require_POST
def quotas(request: HttpRequest) -> JsonResponse:
    data = json.loads(request.body)
    made = Quota.objects.create(name=data["name"], size=data["size"], tickets=data["tickets"])
    return JsonResponse(made.as_json(), status=201)


@require_GET
@answer_errors
def quota(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(Quota.objects.get(pk=pk).as_json())


@require_POST
@answer_errors
def orders(request: HttpRequest) -> JsonResponse:
    positions = parse_positions(request)
    with one_at_a_time():
        made = Order(code=secrets.token_hex(8))
        take(made, positions)
    return JsonResponse({"code": made.code, "status": "active", "positions": positions}, status=201)


@require_http_methods(["GET", "PATCH"])
@answer_errors
def order(request: HttpRequest, code: str) -> JsonResponse:
    if request.method == "GET":
        return JsonResponse(Order.objects.get(code=code).as_json())
    with one_at_a_time():
        found = Order.objects.get(code=code)
        if found.canceled:
            raise Refused("canceled", 409)
        take(found, parse_positions(request))
        return JsonResponse(found.as_json())


@require_POST
@answer_errors
def cancel(request: HttpRequest, code: str) -> JsonResponse:
    with one_at_a_time():
        found = Order.objects.get(code=code)
        found.canceled = True
        found.save(update_fields=["canceled"])
        return JsonResponse(found.as_json())


urlpatterns = [
    path("quotas/", quotas),
    path("quotas/<int:pk>/", quota),
    path("orders/", orders),
    path("orders/<str:code>/", order),
    path("orders/<str:code>/cancel/", cancel),
]
