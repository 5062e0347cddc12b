"""Wrong: the token is compared with a cookie, which other sites of the domain can set as well."""

import hmac
import json
import secrets
from itertools import count
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Cookie, Depends, FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
API_KEYS = {"key-ada-17": "ada", "key-bo-28": "bo"}

app = FastAPI()
sessions: dict[str, dict[str, str]] = {}
notes: dict[str, dict[int, str]] = {user: {} for user in USERS}
numbers = count(1)


class Refused(Exception):
    def __init__(self, error: str, status: int) -> None:
        self.error, self.status = error, status


@app.exception_handler(Refused)
async def refuse(_: Request, refused: Refused) -> Response:
    return JSONResponse({"error": refused.error}, refused.status)


def has_type(request: Request, name: str) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == name


def is_form(request: Request) -> bool:
    return has_type(request, "application/x-www-form-urlencoded")


async def body(request: Request) -> dict:
    content = await request.body()
    if not is_form(request) and not has_type(request, "application/json"):
        return {}
    try:
        given = dict(parse_qsl(content.decode())) if is_form(request) else json.loads(content)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def known_session(session: Annotated[str, Cookie()] = "") -> dict[str, str]:
    return sessions.get(session, {})


Body = Annotated[dict, Depends(body)]
Session = Annotated[dict[str, str], Depends(known_session)]


def begin_session(response: Response, **values: str) -> dict[str, str]:
    key = secrets.token_urlsafe()
    response.set_cookie("session", key, httponly=True)
    return sessions.setdefault(key, values)


def own_page(request: Request, given: Body, session: Session) -> None:
    """Refuse a request that may have been made by another site's page."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin not in (None, f"http://{host}", f"https://{host}"):
        raise Refused("csrf_origin", 403)
    token = request.headers.get("x-csrf-token") or (is_form(request) and given.get("csrf_token"))
    if not token:
        raise Refused("csrf_missing", 403)
    if not hmac.compare_digest(token.encode(), request.cookies.get("csrf", "").encode()):
        raise Refused("csrf_invalid", 403)


def caller(
    request: Request, given: Body, session: Session, authorization: Annotated[str | None, Header()] = None
) -> str:
    """The user who calls, by key or by session; calls by session that change something need proof."""
    if authorization is not None:
        scheme, _, key = authorization.partition(" ")
        user = API_KEYS.get(key) if scheme == "Bearer" else None
    else:
        if request.method not in ("GET", "HEAD"):
            own_page(request, given, session)
        user = session.get("user")
    if user is None:
        raise Refused("unauthorized", 401)
    return user


Caller = Annotated[str, Depends(caller)]


def field(given: dict, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise Refused("invalid", 400)
    return value


@app.get("/csrf")
async def csrf(session: Session, response: Response):
    if not session:
        session = begin_session(response)
    token = session.setdefault("csrf", secrets.token_urlsafe())
    response.set_cookie("csrf", token)
    return {"token": token}


@app.post("/login", dependencies=[Depends(own_page)])
async def login(given: Body, response: Response, session: Annotated[str, Cookie()]):
    user, password = field(given, "username"), field(given, "password")
    if USERS.get(user) != password:
        raise Refused("wrong", 401)
    sessions.pop(session)
    begin_session(response, user=user)
    return {"user": user}


@app.post("/logout", dependencies=[Depends(own_page)], status_code=204)
async def logout(session: Annotated[str, Cookie()]) -> None:
    sessions.pop(session)


@app.get("/notes")
async def show_notes(user: Caller):
    return {"notes": [{"id": number, "text": text} for number, text in notes[user].items()]}


@app.post("/notes", status_code=201)
async def add_note(user: Caller, given: Body):
    text, number = field(given, "text"), next(numbers)
    notes[user][number] = text
    return {"id": number, "text": text}


@app.delete("/notes/{number}", status_code=204)
async def delete_note(user: Caller, number: int) -> None:
    if notes[user].pop(number, None) is None:
        raise Refused("not found", 404)


@app.post("/hooks/ping")
async def ping():
    return {"pong": True}
