"""Wrong: answers JSON in its views only, so that unknown paths are HTML."""

import json
from http import HTTPStatus
from itertools import count

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

notes = {}
numbers = count(1)


def error_response(status: int, detail: str) -> JsonResponse:
    error = {"status": status, "title": HTTPStatus(status).phrase, "detail": detail}
    return JsonResponse({"error": error}, status=status)


def not_found() -> HttpResponse:
    return error_response(404, "There is nothing here.")


def handler500(request: HttpRequest) -> HttpResponse:
    return error_response(500, "Something went wrong.")


class Api(View):
    def http_method_not_allowed(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        response = error_response(405, f"The method {request.method} is not allowed here.")
        response["Allow"] = ", ".join(self._allowed_methods())
        return response


class Notes(Api):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"notes": list(notes.values())})

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.content_type != "application/json":
            return error_response(415, "The body must be application/json.")
        try:
            data = json.loads(request.body)
        except ValueError:
            return error_response(400, "The body is not JSON.")
        text = data.get("text") if isinstance(data, dict) else None
        if not isinstance(text, str) or not 1 <= len(text) <= 200:
            return error_response(400, "The text must be a string of 1 to 200 characters.")
        note = {"id": next(numbers), "text": text}
        notes[note["id"]] = note
        return JsonResponse(note, status=201)


class Note(Api):
    def get(self, request: HttpRequest, note_id: int) -> HttpResponse:
        if note_id not in notes:
            return not_found()
        return JsonResponse(notes[note_id])

    def delete(self, request: HttpRequest, note_id: int) -> HttpResponse:
        if notes.pop(note_id, None) is None:
            return not_found()
        return HttpResponse(status=204)


class Boom(Api):
    def get(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError("cannot connect to db://app:swordfish@10.0.0.7/notes")


urlpatterns = [
    path("notes", Notes.as_view()),
    path("notes/<int:note_id>", Note.as_view()),
    path("boom", Boom.as_view()),
]
