"""Wrong: the whole body is taken over, with role, id and revision."""

import json
import re
from itertools import count

from django.core.exceptions import ValidationError
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views import View

DEFAULTS = {"name": None, "email": None, "nickname": None, "tags": [], "starred": False, "address": None}
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")

contacts: dict[int, dict] = {}
numbers = count(1)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_name(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 50


def is_email(value: object) -> bool:
    return isinstance(value, str) and EMAIL.fullmatch(value) is not None


def is_tags(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_flag(value: object) -> bool:
    return isinstance(value, bool)


def is_address(value: object) -> bool:
    return isinstance(value, dict) and is_name(value.get("city")) and or_null(is_text)(value.get("street"))


def or_null(rule):
    return lambda value: value is None or rule(value)


RULES = {
    "name": is_name,
    "email": or_null(is_email),
    "nickname": or_null(is_text),
    "tags": is_tags,
    "starred": is_flag,
    "address": or_null(is_address),
}


def given(request: HttpRequest) -> dict:
    """The known fields that the request's body holds."""
    try:
        body = json.loads(request.body)
    except ValueError:
        raise ValidationError([]) from None
    if not isinstance(body, dict):
        raise ValidationError([])
    return body


def checked(values: dict) -> dict:
    """Refuse invalid values; return the others in the form in which they are kept."""
    if invalid := sorted(field for field, is_valid in RULES.items() if not is_valid(values[field])):
        raise ValidationError(invalid)
    address = values["address"]
    if address is not None:
        address = {"street": address.get("street"), "city": address["city"]}
    return values | {"address": address}


class JsonView(View):
    """Answers refusals as JSON."""

    def dispatch(self, request: HttpRequest, *args, **kwargs):
        try:
            return super().dispatch(request, *args, **kwargs)
        except ValidationError as refused:
            return JsonResponse({"error": "invalid", "fields": refused.messages}, status=400)


class ContactList(JsonView):
    def post(self, request: HttpRequest) -> JsonResponse:
        values = checked(DEFAULTS | given(request))
        number = next(numbers)
        contacts[number] = {"id": number, "role": "guest", "revision": 1, **values}
        return JsonResponse(contacts[number], status=201)


class ContactDetail(JsonView):
    def setup(self, request: HttpRequest, number: int) -> None:
        super().setup(request, number)
        self.contact = contacts.get(number)

    def dispatch(self, request: HttpRequest, number: int):
        if self.contact is None:
            return JsonResponse({"error": "not found"}, status=404)
        return super().dispatch(request)

    def get(self, request: HttpRequest) -> JsonResponse:
        return JsonResponse(self.contact)

    def put(self, request: HttpRequest) -> JsonResponse:
        return self.change(DEFAULTS | given(request))

    def patch(self, request: HttpRequest) -> JsonResponse:
        values = given(request)
        if isinstance(values.get("address"), dict):
            values["address"] = (self.contact["address"] or {}) | values["address"]
        return self.change({field: self.contact[field] for field in DEFAULTS} | values)

    def change(self, values: dict) -> JsonResponse:
        changed = self.contact | checked(values)
        if changed != self.contact:
            changed["revision"] += 1
        contacts[changed["id"]] = changed
        return JsonResponse(changed)


urlpatterns = [path("contacts", ContactList.as_view()), path("contacts/<int:number>", ContactDetail.as_view())]
