"""Wrong: a 412 answer does not name the current tag."""

import json
import time
import uuid
from itertools import count
from threading import Lock

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.urls import path
from django.views import View

notes: dict[int, dict] = {}
tags: dict[int, str] = {}
numbers = count(1)
lock = Lock()


def error(name: str, status: int, headers: dict[str, str] | None = None) -> JsonResponse:
    return JsonResponse({"error": name}, status=status, headers=headers)


def moderated_text(request: HttpRequest) -> str:
    """The text of the request's body, after the call of the moderation service."""
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str) or not text:
        raise ValidationError("invalid")
    time.sleep(0.1)
    return text


def entity_tags(header: str) -> list[str]:
    return [tag.strip() for tag in header.split(",")]


def unmet(request: HttpRequest, number: int) -> JsonResponse | None:
    """Why the request may not change the note, if so; weak tags never match. The lock is held."""
    if number not in notes:
        return error("not found", 404)
    if "If-Match" not in request.headers:
        return error("precondition required", 428)
    if not {"*", tags[number]} & set(entity_tags(request.headers["If-Match"])):
        return error("precondition failed", 412)
    return None


def save(number: int, text: str) -> None:
    """Store a version under a tag that was never used before. The lock is held."""
    notes[number] = {"id": number, "text": text}
    tags[number] = f'"{uuid.uuid4().hex}"'


def represent(number: int, status: int = 200) -> JsonResponse:
    return JsonResponse(notes[number], status=status, headers={"ETag": tags[number]})


class JsonView(View):
    def dispatch(self, request: HttpRequest, *args, **kwargs) -> HttpResponse:
        try:
            return super().dispatch(request, *args, **kwargs)
        except ValidationError:
            return error("invalid", 400)


class NoteList(JsonView):
    def post(self, request: HttpRequest) -> HttpResponse:
        text = moderated_text(request)
        with lock:
            number = next(numbers)
            save(number, text)
            return represent(number, 201)


class NoteDetail(JsonView):
    def get(self, request: HttpRequest, number: int) -> HttpResponse:
        with lock:
            if number not in notes:
                return error("not found", 404)
            known = [tag.removeprefix("W/") for tag in entity_tags(request.headers.get("If-None-Match", ""))]
            if {"*", tags[number]} & set(known):
                return HttpResponseNotModified(headers={"ETag": tags[number]})
            return represent(number)

    def put(self, request: HttpRequest, number: int) -> HttpResponse:
        text = moderated_text(request)
        with lock:
            if refusal := unmet(request, number):
                return refusal
            save(number, text)
            return represent(number)

    def delete(self, request: HttpRequest, number: int) -> HttpResponse:
        with lock:
            if refusal := unmet(request, number):
                return refusal
            del notes[number], tags[number]
            return HttpResponse(status=204)


urlpatterns = [path("notes", NoteList.as_view()), path("notes/<int:number>", NoteDetail.as_view())]
