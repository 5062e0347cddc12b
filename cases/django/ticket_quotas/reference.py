"""Ticket orders under quotas that parallel requests cannot exceed."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import models, transaction
from django.db.models import F, Sum
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST


class Quota(models.Model):
    name = models.TextField()
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
    code = models.SlugField(unique=True, default=secrets.token_urlsafe)
    canceled = models.BooleanField(default=False)

    def as_json(self) -> dict:
        status = "canceled" if self.canceled else "active"
        positions = dict(self.positions.order_by("pk").values_list("ticket", "count"))
        return {"code": self.code, "status": status, "positions": positions}


class Position(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="positions")
    ticket = models.TextField()
    count = models.PositiveIntegerField()


class Refused(Exception):
    """The request has no effect; carries the error's name and the status."""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """A transaction that writes before it reads, so that others wait instead of acting on what they read."""
    with transaction.atomic():
        Quota.objects.update(size=F("size"))
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
    order.positions.all().delete()
    order.positions.bulk_create(Position(order=order, ticket=name, count=n) for name, n in positions.items())
    quotas = Quota.objects.all()
    if positions.keys() - {ticket for quota in quotas for ticket in quota.tickets}:
        raise Refused("invalid", 422)
    if any(quota.sold() > quota.size for quota in quotas):
        raise Refused("sold out", 409)


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
        made = Order.objects.create()
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
    found = Order.objects.get(code=code)
    found.canceled = True
    found.save()
    return JsonResponse(found.as_json())


urlpatterns = [
    path("quotas/", quotas),
    path("quotas/<int:pk>/", quota),
    path("orders/", orders),
    path("orders/<str:code>/", order),
    path("orders/<str:code>/cancel/", cancel),
]
