"""Wrong: what Django raises while it reads a form is not caught."""

import hashlib
import json
import re
from itertools import count
from pathlib import Path

from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View
from django.views.decorators.http import require_GET

UPLOADS = Path("uploads").resolve()
FILE_LIMITS = {"photos": 16 * 1024, "documents": 128 * 1024}
FIELDS = {"photos": "photo", "documents": "document"}
ROOM_FOR_THE_REST = 8 * 1024
MOST_PARTS = 8
NOTE_LIMIT = 1024
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,49}")
SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}

notes = {}
note_ids = count(1)
for name in FIELDS:
    (UPLOADS / name).mkdir(parents=True, exist_ok=True)


class Refused(Exception):
    def __init__(self, status: int, error: str) -> None:
        self.status, self.error = status, error


TOO_LARGE = Refused(413, "too large")
INVALID = Refused(400, "invalid")


class Api(View):
    def dispatch(self, request: HttpRequest, *args: str, **kwargs: str) -> HttpResponse:
        try:
            return super().dispatch(request, *args, **kwargs)
        except Refused as refused:
            return JsonResponse({"error": refused.error}, status=refused.status)


def limit_body(request: HttpRequest, limit: int) -> None:
    """Refuse a body of more than `limit` bytes; Django reads no more than what is announced."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        raise TOO_LARGE


def picture_type(content: bytes) -> str | None:
    return next((kind for signature, kind in SIGNATURES.items() if content.startswith(signature)), None)


def uploaded_file(request: HttpRequest, folder: str) -> tuple[str, bytes]:
    """Read the form within its limits; return name and content of its only file."""
    limit = FILE_LIMITS[folder]
    limit_body(request, limit + ROOM_FOR_THE_REST)
    parts = [part for form in (request.POST, request.FILES) for _, found in form.lists() for part in found]
    files = request.FILES.getlist(FIELDS[folder])
    if len(parts) > MOST_PARTS or any(file.size > limit for file in files):
        raise TOO_LARGE
    if len(files) != 1:
        raise INVALID
    if not NAME.fullmatch(files[0].name) or not files[0].size:
        raise INVALID
    return files[0].name, files[0].read()


class Folder(Api):
    def post(self, request: HttpRequest, folder: str) -> HttpResponse:
        name, content = uploaded_file(request, folder)
        if folder == "photos" and picture_type(content) is None:
            raise Refused(415, "unsupported")
        try:
            with open(UPLOADS / folder / name, "xb") as file:
                file.write(content)
        except FileExistsError:
            raise Refused(409, "exists") from None
        stored = {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        return JsonResponse(stored, status=201)


class File(Api):
    def get(self, request: HttpRequest, folder: str, name: str) -> HttpResponse:
        file = UPLOADS / folder / name
        if not NAME.fullmatch(name) or not file.is_file():
            raise Refused(404, "not found")
        photo = folder == "photos"
        kind = picture_type(file.read_bytes()) if photo else "application/octet-stream"
        headers = {"X-Content-Type-Options": "nosniff"}
        return FileResponse(file.open("rb"), as_attachment=not photo, content_type=kind, headers=headers)


class Notes(Api):
    def post(self, request: HttpRequest) -> HttpResponse:
        limit_body(request, NOTE_LIMIT)
        try:
            given = json.loads(request.body)
        except ValueError:
            raise INVALID from None
        if not isinstance(given, dict) or not isinstance(given.get("text"), str):
            raise INVALID
        note = {"id": next(note_ids), "text": given["text"]}
        notes[note["id"]] = note
        return JsonResponse(note, status=201)


@require_GET
def usage(request: HttpRequest) -> HttpResponse:
    sizes = {folder: [file.stat().st_size for file in (UPLOADS / folder).iterdir()] for folder in FIELDS}
    counts = {folder: len(found) for folder, found in sizes.items()}
    return JsonResponse(counts | {"notes": len(notes), "bytes": sum(map(sum, sizes.values()))})


urlpatterns = [
    path("notes", Notes.as_view()),
    path("usage", usage),
    *(path(folder, Folder.as_view(), {"folder": folder}) for folder in FIELDS),
    *(path(f"{folder}/<str:name>", File.as_view(), {"folder": folder}) for folder in FIELDS),
]
