"""Wrong: a next is followed if urlsplit finds no host in it."""

import secrets
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import Cookie, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
HOME = "/home"

app = FastAPI()
sessions: dict[str, str] = {}


class Leaving(BaseModel):
    next: Any = None


class Login(Leaving):
    username: str
    password: str


class LoginNeeded(Exception):
    pass


def target(wanted: object) -> str:
    """Where to go: what was wanted if it is a path of this site, otherwise home."""
    return wanted if isinstance(wanted, str) and wanted and not urlsplit(wanted).netloc else HOME


@app.exception_handler(LoginNeeded)
async def ask_for_login(request: Request, _: LoginNeeded) -> Response:
    url = request.url
    wanted = f"{url.path}?{url.query}" if url.query else url.path
    return RedirectResponse("/login?" + urlencode({"next": wanted}), 303)


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> Response:
    return JSONResponse({"error": "invalid"}, 400)


def visitor(session: Annotated[str, Cookie()] = "") -> str | None:
    return sessions.get(session)


Visitor = Annotated[str | None, Depends(visitor)]


def member(user: Visitor) -> str:
    if user is None:
        raise LoginNeeded
    return user


Member = Annotated[str, Depends(member)]


@app.get("/home")
async def home():
    return {"page": "home"}


@app.get("/account")
async def account(user: Member):
    return {"user": user}


@app.get("/reports/{number}")
async def report(user: Member, number: int):
    return {"user": user, "report": number}


@app.get("/login")
async def show_login(user: Visitor, next: str = ""):
    following = target(next)
    return RedirectResponse(following, 303) if user else {"next": following}


@app.post("/login")
async def login(given: Login) -> Response:
    if USERS.get(given.username) != given.password:
        return JSONResponse({"error": "wrong"}, 401)
    response = RedirectResponse(target(given.next), 303)
    session = secrets.token_urlsafe()
    sessions[session] = given.username
    response.set_cookie("session", session, httponly=True)
    return response


@app.post("/logout")
async def logout(given: Leaving, session: Annotated[str, Cookie()] = "") -> Response:
    sessions.pop(session, None)
    return RedirectResponse(target(given.next), 303)
