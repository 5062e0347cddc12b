"""Wrong: a logout takes the user out of the session, which goes on."""

import json

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View
from django.views.decorators.http import require_GET, require_POST

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
PRODUCTS = ("tea", "cup", "pot")
THIRTY_DAYS = 30 * 24 * 60 * 60


def body(request: HttpRequest) -> dict:
    try:
        found = json.loads(request.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def invalid() -> HttpResponse:
    return JsonResponse({"error": "invalid"}, status=400)


def keep(request: HttpRequest, **values: object) -> None:
    """Write `values` to the session, whose cookie lives as long as the user wants."""
    request.session.update(values)
    request.session.set_expiry(THIRTY_DAYS if request.session.get("remember") else 0)


class Cart(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"items": request.session.get("cart", {})})

    def post(self, request: HttpRequest) -> HttpResponse:
        given = body(request)
        item, count = given.get("item"), given.get("count")
        if item not in PRODUCTS or type(count) is not int or not 1 <= count <= 10:
            return invalid()
        cart = request.session.get("cart", {})
        cart[item] = cart.get(item, 0) + count
        keep(request, cart=cart)
        return JsonResponse({"items": cart})


@require_GET
def me(request: HttpRequest) -> HttpResponse:
    user = request.session.get("user")
    return JsonResponse({"user": user}) if user else JsonResponse({"error": "login needed"}, status=401)


@require_POST
def login(request: HttpRequest) -> HttpResponse:
    given = body(request)
    user, password, remember = given.get("username"), given.get("password"), given.get("remember", False)
    if not isinstance(user, str) or not isinstance(password, str) or not isinstance(remember, bool):
        return invalid()
    if USERS.get(user) != password:
        return JsonResponse({"error": "wrong"}, status=401)
    request.session.cycle_key()
    keep(request, user=user, remember=remember)
    return JsonResponse({"user": user})


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    request.session.pop("user", None)
    return HttpResponse(status=204)


urlpatterns = [
    path("cart", Cart.as_view()),
    path("me", me),
    path("login", login),
    path("logout", logout),
]
