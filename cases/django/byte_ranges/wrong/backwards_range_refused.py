"""Wrong: refuses a range whose end is before its beginning."""

import hashlib
import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

blobs = {}


def make_etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'


def find_range(header: str, length: int) -> tuple[int, int] | None:
    """Return the first and the last position that are asked for, or None where the header does not count.

    Raises IndexError where no byte of the blob is asked for.
    """
    match = re.fullmatch(r"bytes=(?:([0-9]+)-([0-9]*)|-([0-9]+))", header)
    if match is None:
        return None
    if match[3]:
        first, last = max(0, length - int(match[3])), length
    else:
        first, last = int(match[1]), int(match[2] or length)
        if match[2] and last < first:
            raise IndexError
    if first >= length:
        raise IndexError
    return first, min(last, length - 1)


def is_known(header: str, etag: str) -> bool:
    """Whether If-None-Match names the ETag, strong or weak."""
    return header == "*" or etag in [tag.strip().removeprefix("W/") for tag in header.split(",")]


def answer(content: bytes, status: int, headers: dict[str, str]) -> HttpResponse:
    length = {"Content-Length": str(len(content))}
    return HttpResponse(content, status=status, headers=headers | length, content_type="application/octet-stream")


class Blob(View):
    def put(self, request: HttpRequest, name: str) -> HttpResponse:
        status = 204 if name in blobs else 201
        blobs[name] = request.body
        return HttpResponse(status=status, headers={"ETag": make_etag(blobs[name])})

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        if name not in blobs:
            return JsonResponse({"error": "not found"}, status=404)
        content = blobs[name]
        etag = make_etag(content)
        headers = {"ETag": etag, "Accept-Ranges": "bytes"}
        if is_known(request.headers.get("If-None-Match", ""), etag):
            return HttpResponse(status=304, headers=headers)
        counts = request.method == "GET" and request.headers.get("If-Range", etag) == etag
        try:
            found = find_range(request.headers.get("Range", ""), len(content)) if counts else None
        except IndexError:
            headers["Content-Range"] = f"bytes */{len(content)}"
            return JsonResponse({"error": "range not satisfiable"}, status=416, headers=headers)
        if found is None:
            return answer(content, 200, headers)
        first, last = found
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return answer(content[first : last + 1], 206, headers)


urlpatterns = [path("blobs/<str:name>", Blob.as_view())]
