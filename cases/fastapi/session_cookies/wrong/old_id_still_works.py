"""Wrong: after a login the session is to be found under the old id as well."""

import secrets
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fastapi import Cookie, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field, StrictBool, StrictInt

USERS = {"ada": "rabbit-hole-7", "bo": "red-brick-88"}
COOKIE = "session"
THIRTY_DAYS = 30 * 24 * 60 * 60

app = FastAPI()


@dataclass
class Session:
    cart: dict[str, int] = field(default_factory=dict)
    user: str | None = None


sessions: dict[str, Session] = {}


class Addition(BaseModel):
    item: Literal["tea", "cup", "pot"]
    count: Annotated[StrictInt, Field(ge=1, le=10)]


class Login(BaseModel):
    username: str
    password: str
    remember: StrictBool = False


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> Response:
    return JSONResponse({"error": "invalid"}, 400)


def sent_key(session: Annotated[str, Cookie()] = "") -> str:
    return session


Key = Annotated[str, Depends(sent_key)]


def current(key: Key) -> Session | None:
    return sessions.get(key)


Current = Annotated[Session | None, Depends(current)]


def begin(response: Response, session: Session, max_age: int | None = None) -> None:
    """Keep the session under a new id, and send this to the browser."""
    key = secrets.token_urlsafe()
    sessions[key] = session
    response.set_cookie(COOKIE, key, max_age=max_age, httponly=True)


@app.get("/cart")
async def show_cart(session: Current):
    return {"items": session.cart if session else {}}


@app.post("/cart")
async def add_to_cart(given: Addition, session: Current, response: Response):
    if session is None:
        session = Session()
        begin(response, session)
    session.cart[given.item] = session.cart.get(given.item, 0) + given.count
    return {"items": session.cart}


@app.get("/me")
async def me(session: Current):
    if session is None or session.user is None:
        return JSONResponse({"error": "login needed"}, 401)
    return {"user": session.user}


@app.post("/login")
async def login(given: Login, key: Key, response: Response):
    if USERS.get(given.username) != given.password:
        return JSONResponse({"error": "wrong"}, 401)
    session = sessions.get(key) or Session()
    session.user = given.username
    begin(response, session, THIRTY_DAYS if given.remember else None)
    return {"user": given.username}


@app.post("/logout", status_code=204)
async def logout(key: Key, response: Response) -> None:
    sessions.pop(key, None)
    response.delete_cookie(COOKIE)
