"""Wrong: the tag of a missing page is that of its version 0, so an asterisk matches it."""

import json

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import cache_control
from django.views.decorators.http import etag

pages: dict[str, dict] = {}


def page_tag(request: HttpRequest, name: str) -> str:
    return f'"{name}-{pages.get(name, {}).get("version", 0)}"'


def list_tag(request: HttpRequest) -> str:
    return f'"list/{sum(page["version"] for page in pages.values())}"'


def given_text(request: HttpRequest) -> str | None:
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    text = body.get("text") if isinstance(body, dict) else None
    return text if isinstance(text, str) else None


@method_decorator(cache_control(no_cache=True), "dispatch")
class PageDetail(View):
    @method_decorator(etag(page_tag))
    def get(self, request: HttpRequest, name: str) -> JsonResponse:
        if name not in pages:
            return JsonResponse({"error": "not found"}, status=404)
        return JsonResponse(pages[name])

    def put(self, request: HttpRequest, name: str) -> JsonResponse:
        text = given_text(request)
        if text is None:
            return JsonResponse({"error": "invalid"}, status=400)
        old = pages.get(name)
        if old is None or old["text"] != text:
            pages[name] = {"id": name, "text": text, "version": old["version"] + 1 if old else 1}
        headers = {"ETag": page_tag(request, name)}
        return JsonResponse(pages[name], status=200 if old else 201, headers=headers)


@method_decorator(cache_control(no_cache=True), "dispatch")
class PageList(View):
    @method_decorator(etag(list_tag))
    def get(self, request: HttpRequest) -> JsonResponse:
        found = [{"id": name, "version": pages[name]["version"]} for name in sorted(pages)]
        return JsonResponse({"pages": found})


urlpatterns = [path("pages", PageList.as_view()), path("pages/<str:name>", PageDetail.as_view())]
