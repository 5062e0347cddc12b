"""Wrong: the pattern is tried at the start of the value only, so that anything may follow."""

import json
import re
import secrets
import time
import uuid
from itertools import count

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

settings.configure(
    SECRET_KEY=secrets.token_hex(),
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=[f"{__name__}.identify"],
)

HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")

orders: dict[int, dict] = {}
numbers = count(1)
entries: list[dict] = []


def identify(get_response):
    """Middleware: give the request its id, stamp and log the answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request.request_id = given if ACCEPTED.match(given) else str(uuid.uuid4())
        response = get_response(request)
        response[HEADER] = request.request_id
        if request.path != "/log":
            entries.append(
                {
                    "request_id": request.request_id,
                    "method": request.method,
                    "path": request.path,
                    "status": response.status_code,
                }
            )
        return response

    return middleware


def error(request: HttpRequest, name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name, "request_id": request.request_id}, status=status)


def handler500(request: HttpRequest) -> JsonResponse:
    return error(request, "internal", 500)


@require_POST
def create_order(request: HttpRequest) -> JsonResponse:
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    item = body.get("item") if isinstance(body, dict) else None
    if not isinstance(item, str) or not item:
        return error(request, "invalid", 400)
    order = {"id": next(numbers), "item": item, "request_id": request.request_id}
    orders[order["id"]] = order
    return JsonResponse(order, status=201)


@require_GET
def read_order(request: HttpRequest, number: int) -> JsonResponse:
    return JsonResponse(orders[number]) if number in orders else error(request, "not found", 404)


@require_GET
def slow(request: HttpRequest) -> JsonResponse:
    time.sleep(0.2)
    return JsonResponse({"request_id": request.request_id})


@require_GET
def crash(request: HttpRequest) -> JsonResponse:
    raise RuntimeError("the teapot exploded")


@require_GET
def log(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"entries": entries})


urlpatterns = [
    path("orders", create_order),
    path("orders/<int:number>", read_order),
    path("slow", slow),
    path("crash", crash),
    path("log", log),
]
