"""Wrong: the body is looked at before the version."""

import json
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse

app = FastAPI()
VERSIONS = ["1.0", "2.0"]
DEFAULT = "2.0"
RANGES = {"application/json", "application/*", "*/*"}

users = {1: ("Ada", "Lovelace"), 2: ("Alan", "Turing")}


class Refused(Exception):
    def __init__(self, status: int, error: str, version: str) -> None:
        self.status, self.error, self.version = status, error, version


def answer(content: dict | list, version: str, status: int = 200) -> JSONResponse:
    headers = {"Vary": "Accept"}
    if version == "1.0":
        headers["Deprecation"] = "@1767225600"
    return JSONResponse(content, status, headers, f"application/json; version={version}")


@app.exception_handler(HTTPException)
async def answer_not_acceptable(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail, "versions": VERSIONS}, error.status_code, {"Vary": "Accept"})


@app.exception_handler(Refused)
async def answer_refused(request: Request, error: Refused) -> JSONResponse:
    return answer({"error": error.error}, error.version, error.status)


def find_version(accept: Annotated[str, Header()] = "*/*") -> str:
    """Return the version that is asked for."""
    media_range, *parameters = (part.strip() for part in accept.split(";"))
    pairs = [parameter.partition("=") for parameter in parameters]
    asked = [value.strip('"') for name, _, value in pairs if name.lower() == "version"]
    if media_range.lower() not in RANGES or len(asked) > 1 or not set(asked) <= set(VERSIONS):
        raise HTTPException(406, "not acceptable")
    return asked[0] if asked else DEFAULT


Version = Annotated[str, Depends(find_version)]


def show(number: int, version: str) -> dict:
    first, last = users[number]
    if version == "1.0":
        return {"id": number, "full_name": f"{first} {last}"}
    return {"id": number, "first_name": first, "last_name": last}


def read_names(body: bytes, version: str) -> tuple[str, ...]:
    """Return first and last name from a body in this version.

    Raises ValueError where it is not as described.
    """
    given = json.loads(body)
    if not isinstance(given, dict):
        raise ValueError
    names = given.get("full_name") if version == "1.0" else [given.get("first_name"), given.get("last_name")]
    if isinstance(names, str):
        names = names.split(" ")
    if not isinstance(names, list) or len(names) != 2:
        raise ValueError
    if not all(isinstance(name, str) and name and " " not in name for name in names):
        raise ValueError
    return tuple(names)


@app.get("/")
async def about() -> dict:
    return {"versions": VERSIONS, "default": DEFAULT}


@app.get("/users")
async def list_users(version: Version) -> JSONResponse:
    return answer([show(number, version) for number in users], version)


@app.post("/users")
async def add_user(body: dict, request: Request, accept: Annotated[str, Header()] = "*/*") -> JSONResponse:
    version = find_version(accept)
    try:
        names = read_names(await request.body(), version)
    except ValueError:
        raise Refused(400, "invalid", version) from None
    number = len(users) + 1
    users[number] = names
    return answer(show(number, version), version, 201)


@app.get("/users/{number}")
async def show_user(number: int, version: Version) -> JSONResponse:
    if number not in users:
        raise Refused(404, "not found", version)
    return answer(show(number, version), version)
