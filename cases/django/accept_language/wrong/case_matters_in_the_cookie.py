"""Wrong: the cookie is compared letter by letter, and a language is not given back as it is spelled."""

import json
import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

GREETINGS = {"en-US": "Hello", "de": "Hallo", "pt-BR": "Oi", "pt-PT": "Olá", "fr": "Bonjour"}
DEFAULT = "de"
TAGS = {language.lower(): language for language in GREETINGS}
RANGE = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?",
    re.ASCII | re.IGNORECASE,
)


def parse(header: str) -> list[tuple[str, float]]:
    """The well-formed ranges of a header, in lower case, with their weights."""
    found = (RANGE.fullmatch(item.strip(" \t")) for item in header.split(","))
    return [(match[1].lower(), float(match[2] or 1)) for match in found if match]


def primary(tag: str) -> str:
    return tag.partition("-")[0]


def rank(tag: str, ranges: list[tuple[str, float]]) -> tuple[float, ...]:
    """Quality of an available language, then what counts among equals; the greatest is the best."""
    kinds = (
        (lambda wanted: wanted == tag),
        (lambda wanted: primary(wanted) == primary(tag)),
        (lambda wanted: wanted == "*"),
    )
    for matches in kinds:
        found = [(weight, -place, wanted == tag) for place, (wanted, weight) in enumerate(ranges) if matches(wanted)]
        if found:
            return max(found)
    return (0,)


def negotiate(header: str) -> str:
    ranges = parse(header)
    best = max(TAGS, key=lambda tag: rank(tag, ranges))
    return TAGS[best] if rank(best, ranges)[0] > 0 else DEFAULT


def available(tag: object) -> str | None:
    return TAGS.get(tag.lower()) if isinstance(tag, str) else None


@require_GET
@vary_on_headers("Accept-Language", "Cookie")
def greet(request: HttpRequest) -> HttpResponse:
    if "lang" in request.GET:
        language = available(request.GET["lang"])
    else:
        chosen = request.COOKIES.get("lang")
        language = (chosen if chosen in GREETINGS else None) or negotiate(request.headers.get("Accept-Language", ""))
    if not language:
        return JsonResponse({"error": "unsupported"}, status=400)
    body = {"language": language, "greeting": GREETINGS[language]}
    return JsonResponse(body, headers={"Content-Language": language})


class Preference(View):
    def put(self, request: HttpRequest) -> HttpResponse:
        try:
            given = json.loads(request.body)
        except ValueError:
            given = None
        language = available(given.get("language")) if isinstance(given, dict) else None
        if not language:
            return JsonResponse({"error": "unsupported"}, status=400)
        response = JsonResponse({"language": language})
        response.set_cookie("lang", language)
        return response

    def delete(self, request: HttpRequest) -> HttpResponse:
        response = HttpResponse(status=204)
        response.delete_cookie("lang")
        return response


urlpatterns = [path("greet", greet), path("preference", Preference.as_view())]
