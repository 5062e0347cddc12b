"""Wrong: tells everybody to come back after a whole window."""

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from itertools import count
from threading import Lock

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods

KEYS = {"key-ann-11", "key-ben-22", "key-cat-33", "key-dan-44", "key-eve-55"}
PAUSE_SECONDS = 0.2
LARGEST_QUANTITY = 100


class Limited(Exception):
    def __init__(self, wait: float) -> None:
        self.wait = wait


class Limit:
    """At most so many slots taken within any `seconds`, for each key."""

    def __init__(self, slots: int, seconds: float) -> None:
        self.slots = slots
        self.seconds = seconds
        self.taken = defaultdict(dict)
        self.tickets = count()
        self.lock = Lock()

    def take(self, key: str) -> tuple[int, int]:
        """Take a slot; return its ticket and how many slots are free then."""
        with self.lock:
            now = time.monotonic()
            taken = self.taken[key]
            for ticket in [ticket for ticket, moment in taken.items() if moment <= now - self.seconds]:
                del taken[ticket]
            if len(taken) >= self.slots:
                raise Limited(self.seconds)
            ticket = next(self.tickets)
            taken[ticket] = now
            return ticket, self.slots - len(taken)

    def give_back(self, key: str, ticket: int) -> None:
        with self.lock:
            self.taken[key].pop(ticket, None)


quote_limit = Limit(5, 2)
order_limit = Limit(3, 1)
orders = defaultdict(list)


def answer_error(status: int, error: str) -> JsonResponse:
    return JsonResponse({"error": error}, status=status)


def needs_key(view: Callable[..., JsonResponse]) -> Callable[..., JsonResponse]:
    """Give the view the caller's key, and answer a limit that it meets."""

    @wraps(view)
    def wrapper(request: HttpRequest, **kwargs: str) -> JsonResponse:
        key = request.headers.get("X-Api-Key")
        if key not in KEYS:
            return answer_error(401, "unauthorized")
        try:
            return view(request, key, **kwargs)
        except Limited as limited:
            response = answer_error(429, "rate limited")
            response["Retry-After"] = math.ceil(limited.wait)
            return response

    return wrapper


def read_order(request: HttpRequest) -> dict | None:
    """Return the order in the body, or None if there is no valid one."""
    try:
        data = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    item, quantity = data.get("item"), data.get("quantity")
    if not isinstance(item, str) or not item or type(quantity) is not int or quantity < 1:
        return None
    return {"item": item, "quantity": quantity}


@require_GET
@needs_key
def quote(request: HttpRequest, key: str, symbol: str) -> JsonResponse:
    _, free = quote_limit.take(key)
    return JsonResponse({"symbol": symbol, "remaining": free})


@require_http_methods(["GET", "POST"])
@needs_key
def order_list(request: HttpRequest, key: str) -> JsonResponse:
    if request.method == "GET":
        return JsonResponse({"orders": orders[key]})
    order = read_order(request)
    if order is None:
        return answer_error(400, "invalid")
    ticket, _ = order_limit.take(key)
    time.sleep(PAUSE_SECONDS)
    if order["quantity"] > LARGEST_QUANTITY:
        order_limit.give_back(key, ticket)
        return answer_error(402, "declined")
    orders[key].append(order)
    return JsonResponse(order, status=201)


urlpatterns = [
    path("quotes/<str:symbol>", quote),
    path("orders", order_list),
]
