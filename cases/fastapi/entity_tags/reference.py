"""Pages whose readers ask again only for what has changed."""

from typing import Annotated

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, StrictStr

app = FastAPI()


class NewText(BaseModel):
    text: StrictStr


class Entry(BaseModel):
    id: str
    version: int


class Page(Entry):
    text: str


pages: dict[str, Page] = {}


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


@app.exception_handler(HTTPException)
async def failed(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


def headers_for(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Cache-Control": "no-cache"}


def unless_known(content: dict, tag: str, if_none_match: list[str]) -> Response:
    """The content with its entity tag, or 304 if the client has it already; tags are compared weakly."""
    given = ",".join(if_none_match).split(",")
    known = {candidate.strip().removeprefix("W/") for candidate in given}
    if known & {"*", tag}:
        return Response(status_code=304, headers=headers_for(tag))
    return JSONResponse(content, headers=headers_for(tag))


def tag_of(page: Page) -> str:
    return f'"{page.id}-{page.version}"'


Known = Annotated[list[str], Header(alias="If-None-Match", default_factory=list)]


@app.put("/pages/{name}")
async def put(name: str, new: NewText) -> JSONResponse:
    old = pages.get(name)
    if old is None or old.text != new.text:
        pages[name] = Page(id=name, text=new.text, version=old.version + 1 if old else 1)
    return JSONResponse(pages[name].model_dump(), 200 if old else 201, headers_for(tag_of(pages[name])))


@app.api_route("/pages/{name}", methods=["GET", "HEAD"])
async def read(name: str, if_none_match: Known) -> Response:
    if name not in pages:
        raise HTTPException(404, "not found")
    return unless_known(pages[name].model_dump(), tag_of(pages[name]), if_none_match)


@app.api_route("/pages", methods=["GET", "HEAD"])
async def listing(if_none_match: Known) -> Response:
    found = [{"id": name, "version": pages[name].version} for name in sorted(pages)]
    changes = sum(entry["version"] for entry in found)
    return unless_known({"pages": found}, f'"list/{changes}"', if_none_match)
