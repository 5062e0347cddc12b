"""Payments that are made once, however often they are sent."""

import json
import time
from itertools import count
from threading import Lock

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

TOKENS = {"token-of-ada": "ada", "token-of-bo": "bo"}
CURRENCIES = ("EUR", "USD")

payments: list[tuple[str, dict]] = []
numbers = count(1)
records: dict[tuple[str, str], dict] = {}
provider = {"up": True, "calls": 0}
lock = Lock()


class ProviderDown(Exception):
    pass


def error(name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name}, status=status)


def payload(request: HttpRequest) -> dict | None:
    """Amount and currency of the request's body, or None if they are not valid."""
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    amount, currency = body.get("amount"), body.get("currency")
    if type(amount) is not int or not 1 <= amount <= 1_000_000 or currency not in CURRENCIES:
        return None
    return {"amount": amount, "currency": currency}


def charge(user: str, wanted: dict) -> tuple[dict, int]:
    """Have the provider make the payment; return body and status."""
    time.sleep(0.1)
    with lock:
        provider["calls"] += 1
        if not provider["up"]:
            raise ProviderDown
        if wanted["amount"] > 5000:
            return {"error": "declined"}, 402
        payment = {"id": next(numbers), **wanted}
        payments.append((user, payment))
        return payment, 201


class Payments(View):
    def dispatch(self, request: HttpRequest) -> HttpResponse:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in TOKENS:
            return error("unauthorized", 401)
        self.user = TOKENS[token]
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"payments": [payment for user, payment in payments if user == self.user]})

    def post(self, request: HttpRequest) -> HttpResponse:
        key, wanted = request.headers.get("Idempotency-Key", ""), payload(request)
        if not 1 <= len(key) <= 64:
            return error("invalid key", 400)
        if wanted is None:
            return error("invalid", 400)
        slot, mine = (self.user, key), {"payload": wanted, "answer": None}
        with lock:
            record = records.setdefault(slot, mine)
        if record["payload"] != wanted:
            return error("key reused", 422)
        if record is not mine:
            return self.replay(record)
        try:
            body, status = record["answer"] = charge(self.user, wanted)
        except ProviderDown:
            del records[slot]
            return error("provider down", 503)
        return JsonResponse(body, status=status)

    def replay(self, record: dict) -> HttpResponse:
        if record["answer"] is None:
            return error("in progress", 409)
        body, status = record["answer"]
        return JsonResponse(body, status=status, headers={"Idempotent-Replayed": "true"})


class Provider(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse(provider)

    def post(self, request: HttpRequest) -> HttpResponse:
        provider["up"] = json.loads(request.body)["up"]
        return HttpResponse(status=204)


urlpatterns = [path("payments", Payments.as_view()), path("provider", Provider.as_view())]
