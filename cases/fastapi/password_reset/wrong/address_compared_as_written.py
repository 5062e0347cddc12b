"""Wrong: addresses are not lower-cased, so other spellings are unknown."""

import asyncio
import hashlib
import hmac
import secrets
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, Field

ACCOUNTS = {"ada@example.com": "rabbit-hole-7", "bo@example.com": "red-brick-88"}
LINK_SECONDS = 900
MAILS, MAIL_SECONDS = 3, 3600


def hashed(password: str, salt: bytes | None = None) -> tuple[bytes, bytes]:
    salt = salt or secrets.token_bytes()
    return salt, hashlib.scrypt(password.encode(), salt=salt, n=2**12, r=8, p=1)


def is_right(password: str, stored: tuple[bytes, bytes]) -> bool:
    return hmac.compare_digest(hashed(password, stored[0])[1], stored[1])


def not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("blank")
    return value


app = FastAPI()
NOBODY = hashed(secrets.token_hex())
password_hashes = {email: hashed(password) for email, password in ACCOUNTS.items()}
sessions: dict[str, str] = {}
links: dict[str, tuple[str, int]] = {}
outbox: list[dict[str, str | int]] = []
clock = {"now": 0}

Text = Annotated[str, AfterValidator(not_blank)]
Email = Annotated[Text, AfterValidator(lambda value: value.strip())]


class Forgot(BaseModel):
    email: Email


class Login(BaseModel):
    email: Email
    password: Text


class Reset(BaseModel):
    token: Text
    password: Annotated[Text, Field(min_length=10)]


class Advance(BaseModel):
    advance: int


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


@app.exception_handler(HTTPException)
async def refused(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


@app.post("/login")
async def login(given: Login) -> dict[str, str]:
    if not is_right(given.password, password_hashes.get(given.email, NOBODY)):
        raise HTTPException(401, "wrong")
    session = secrets.token_urlsafe()
    sessions[session] = given.email
    return {"session": session}


@app.get("/me")
async def me(authorization: Annotated[str, Header()] = "") -> dict[str, str]:
    scheme, _, session = authorization.partition(" ")
    if scheme != "Bearer" or session not in sessions:
        raise HTTPException(401, "unauthorized")
    return {"email": sessions[session]}


@app.post("/password/forgot", status_code=202)
async def forgot(given: Forgot) -> dict[str, str]:
    email, now = given.email, clock["now"]
    recent = [mail for mail in outbox if mail["to"] == email and mail["time"] > now - MAIL_SECONDS]
    if email in password_hashes and len(recent) < MAILS:
        token = secrets.token_urlsafe()
        links[email] = token, now + LINK_SECONDS
        outbox.append({"to": email, "token": token, "time": now})
    return {"status": "accepted"}


def claim(token: str) -> str | None:
    """Use up the token; return whose it is, or None if it is not valid."""
    for email, (known, expires) in links.items():
        if known == token and clock["now"] < expires:
            del links[email]
            return email
    return None


@app.post("/password/reset")
async def reset(given: Reset) -> dict[str, str]:
    email = claim(given.token)
    if email is None:
        raise HTTPException(403, "bad token")
    await asyncio.sleep(0.1)  # stands for the search in the list of leaked passwords
    password_hashes[email] = hashed(given.password)
    for session in [session for session, owner in sessions.items() if owner == email]:
        del sessions[session]
    return {"status": "changed"}


@app.get("/outbox")
async def read_outbox():
    return {"mails": outbox}


@app.post("/clock", status_code=204)
async def move_clock(given: Advance) -> None:
    clock["now"] += given.advance
