"""Wrong: a language that is named itself wins over a related one of greater weight."""

import re
from typing import Annotated

from fastapi import Cookie, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

GREETINGS = {"en-US": "Hello", "de": "Hallo", "pt-BR": "Oi", "pt-PT": "Olá", "fr": "Bonjour"}
DEFAULT = "de"
VARY = {"Vary": "Accept-Language, Cookie"}
TAGS = {language.lower(): language for language in GREETINGS}
RANGE = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?",
    re.ASCII | re.IGNORECASE,
)

app = FastAPI()


class Preference(BaseModel):
    language: str


class Unsupported(Exception):
    pass


@app.exception_handler(RequestValidationError)
@app.exception_handler(Unsupported)
async def unsupported(request: Request, _: Exception) -> Response:
    headers = VARY if request.url.path == "/greet" else None
    return JSONResponse({"error": "unsupported"}, 400, headers)


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
            weight, *rest = max(found)
            return (weight and weight + len(kinds) - kinds.index(matches)), *rest
    return (0,)


def negotiate(header: str) -> str:
    ranges = parse(header)
    best = max(TAGS, key=lambda tag: rank(tag, ranges))
    return TAGS[best] if rank(best, ranges)[0] > 0 else DEFAULT


def available(tag: object) -> str | None:
    return TAGS.get(tag.lower()) if isinstance(tag, str) else None


@app.get("/greet")
async def greet(
    response: Response,
    accept_language: Annotated[list[str], Header()] = [],
    cookie: Annotated[str | None, Cookie(alias="lang")] = None,
    lang: str | None = None,
) -> dict[str, str]:
    preferred = available(cookie) or negotiate(",".join(accept_language))
    language = preferred if lang is None else available(lang)
    if not language:
        raise Unsupported
    response.headers.update(VARY | {"Content-Language": language})
    return {"language": language, "greeting": GREETINGS[language]}


@app.put("/preference")
async def set_preference(given: Preference, response: Response) -> dict[str, str]:
    language = available(given.language)
    if not language:
        raise Unsupported
    response.set_cookie("lang", language)
    return {"language": language}


@app.delete("/preference", status_code=204)
async def forget_preference(response: Response) -> None:
    response.delete_cookie("lang")
