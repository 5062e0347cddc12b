"""Wrong: takes the last position for the end of a slice."""

import hashlib
import re

from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
blobs = {}


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


def make_etag(content):
    return f'"{hashlib.sha256(content).hexdigest()}"'


def find_range(header, length):
    """Return the first and the last position that are asked for, or None where the header does not count.

    Raises IndexError where no byte of the blob is asked for.
    """
    match = re.fullmatch(r"bytes=(?:([0-9]+)-([0-9]*)|-([0-9]+))", header)
    if match is None:
        return None
    if match[3]:
        first, last = max(0, length - int(match[3])), length
    else:
        first, last = int(match[1]), int(match[2] or length + 1) - 1
        if match[2] and last < first:
            return None
    if first >= length:
        raise IndexError
    return first, min(last, length - 1)


def is_known(header, etag):
    """Whether If-None-Match names the ETag, strong or weak."""
    return header == "*" or etag in [tag.strip().removeprefix("W/") for tag in header.split(",")]


@app.put("/blobs/<name>")
def put_blob(name):
    status = 204 if name in blobs else 201
    blobs[name] = request.get_data()
    return "", status, {"ETag": make_etag(blobs[name])}


@app.get("/blobs/<name>")
def get_blob(name):
    if name not in blobs:
        abort(404, "not found")
    content = blobs[name]
    etag = make_etag(content)
    headers = {"ETag": etag, "Accept-Ranges": "bytes"}
    if is_known(request.headers.get("If-None-Match", ""), etag):
        return Response(status=304, headers=headers)
    counts = request.method == "GET" and request.headers.get("If-Range", etag) == etag
    try:
        found = find_range(request.headers.get("Range", ""), len(content)) if counts else None
    except IndexError:
        return {"error": "range not satisfiable"}, 416, headers | {"Content-Range": f"bytes */{len(content)}"}
    if found is None:
        return Response(content, 200, headers, content_type="application/octet-stream")
    first, last = found
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers, content_type="application/octet-stream")
