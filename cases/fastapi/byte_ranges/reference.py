"""Blobs in memory that can be read in single byte ranges."""

import hashlib
import re
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import JSONResponse

app = FastAPI()
blobs: dict[str, bytes] = {}


@app.exception_handler(HTTPException)
async def answer_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


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
            return None
    if first >= length:
        raise IndexError
    return first, min(last, length - 1)


def is_known(header: str, etag: str) -> bool:
    """Whether If-None-Match names the ETag, strong or weak."""
    return header == "*" or etag in [tag.strip().removeprefix("W/") for tag in header.split(",")]


@app.put("/blobs/{name}")
async def put_blob(name: str, request: Request) -> Response:
    content = await request.body()
    status = 204 if name in blobs else 201
    blobs[name] = content
    return Response(status_code=status, headers={"ETag": make_etag(content)})


@app.api_route("/blobs/{name}", methods=["GET", "HEAD"])
async def get_blob(
    name: str,
    request: Request,
    range_: Annotated[str, Header(alias="Range")] = "",
    if_range: Annotated[str | None, Header()] = None,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    if name not in blobs:
        raise HTTPException(404, "not found")
    content = blobs[name]
    etag = make_etag(content)
    headers = {"ETag": etag, "Accept-Ranges": "bytes"}
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    counts = request.method == "GET" and if_range in (None, etag)
    try:
        found = find_range(range_, len(content)) if counts else None
    except IndexError:
        headers["Content-Range"] = f"bytes */{len(content)}"
        raise HTTPException(416, "range not satisfiable", headers) from None
    if found is None:
        return Response(content, 200, headers, "application/octet-stream")
    first, last = found
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers, "application/octet-stream")
