"""Wrong: the name of the changed interface itself counts as taken."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import count

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinLengthValidator, MinValueValidator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

MOST_AT_ONCE = 50
MOST_STORED = 120
TYPES = {"id": int, "name": str, "speed": int}
VALIDATORS: dict[str, list[Callable]] = {
    "id": [],
    "name": [MinLengthValidator(1), MaxLengthValidator(20)],
    "speed": [MinValueValidator(1), MaxValueValidator(100_000)],
}

interfaces: dict[int, dict] = {}
numbers = count(1)


class Refused(Exception):
    def __init__(self, status: int, **answer) -> None:
        self.response = JsonResponse(answer, status=status)


def is_valid(member: str, value: object) -> bool:
    if type(value) is not TYPES[member]:
        return False
    try:
        for validate in VALIDATORS[member]:
            validate(value)
    except ValidationError:
        return False
    return True


class Bulk:
    """The list of objects in a request's body, and what is wrong with each of them."""

    def __init__(self, request: HttpRequest, required: set[str], optional: set[str]) -> None:
        self.items = self.parse(request)
        self.by_id = "id" in required
        self.errors = [self.own_errors(item, required, optional) for item in self.items]
        self.add_name_errors()
        if self.by_id:
            self.add_id_errors()
        if any(self.errors):
            raise Refused(400, error="rejected", errors=self.errors)

    def parse(self, request: HttpRequest) -> list:
        try:
            items = json.loads(request.body)
        except ValueError:
            items = None
        if not isinstance(items, list) or not items:
            raise Refused(400, error="invalid")
        if len(items) > MOST_AT_ONCE:
            raise Refused(413, error="too many")
        return items

    def own_errors(self, item: object, required: set[str], optional: set[str]) -> dict[str, str]:
        if not isinstance(item, dict):
            return {"object": "invalid"}
        errors = dict.fromkeys(required - item.keys(), "missing")
        errors |= dict.fromkeys(item.keys() - required - optional, "unknown")
        known = item.keys() & (required | optional)
        return errors | {member: "invalid" for member in known if not is_valid(member, item[member])}

    def sound(self, member: str) -> list[tuple[dict, dict]]:
        """The objects in which this member is given and in order, with their errors."""
        pairs = zip(self.items, self.errors)
        return [(item, found) for item, found in pairs if "object" not in found and member in item.keys() - found]

    def add_id_errors(self) -> None:
        uses = Counter(item["id"] for item, _ in self.sound("id"))
        for item, found in self.sound("id"):
            if uses[item["id"]] > 1:
                found["id"] = "repeated"
            elif item["id"] not in interfaces:
                found["id"] = "not found"

    def add_name_errors(self) -> None:
        uses = Counter(item["name"] for item, _ in self.sound("name"))
        owners = {interface["name"]: number for number, interface in interfaces.items()}
        for item, found in self.sound("name"):
            if uses[item["name"]] > 1 or item["name"] in owners:
                found["name"] = "taken"


class Interfaces(View):
    def dispatch(self, request: HttpRequest, *args, **kwargs) -> HttpResponse:
        try:
            return super().dispatch(request, *args, **kwargs)
        except Refused as refusal:
            return refusal.response

    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"interfaces": list(interfaces.values())})

    def post(self, request: HttpRequest) -> HttpResponse:
        items = Bulk(request, {"name", "speed"}, set()).items
        if len(interfaces) + len(items) > MOST_STORED:
            raise Refused(409, error="full")
        created = [{"id": next(numbers), **item} for item in items]
        interfaces.update((interface["id"], interface) for interface in created)
        return JsonResponse({"interfaces": created}, status=201)

    def patch(self, request: HttpRequest) -> HttpResponse:
        items = Bulk(request, {"id"}, {"name", "speed"}).items
        for item in items:
            interfaces[item["id"]].update(item)
        return JsonResponse({"interfaces": [interfaces[item["id"]] for item in items]})

    def delete(self, request: HttpRequest) -> HttpResponse:
        for item in Bulk(request, {"id"}, set()).items:
            del interfaces[item["id"]]
        return HttpResponse(status=204)


urlpatterns = [path("interfaces", Interfaces.as_view())]
