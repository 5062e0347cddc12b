"""Wrong: a request without a token is that of the first member who has none."""

import hashlib
import secrets
from typing import Annotated, Literal

from fastapi import FastAPI, Header, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

app = FastAPI()

ACCOUNTS = [
    {"id": 11, "owner": 1, "provider": "git", "secret": "key-81"},
    {"id": 12, "owner": 1, "provider": "ftp", "secret": "key-82"},
    {"id": 13, "owner": 2, "provider": "git", "secret": "key-83"},
]
MEMBERS = [
    {"id": 1, "name": "Ada", "email": "ada@example.com", "password_hash": "9f86d081", "token": "tok-ada-5121"},
    {"id": 2, "name": "Bo", "email": "bo@example.com", "password_hash": "60303ae2", "token": "tok-bo-9034"},
]
TEAMS = [
    {"id": 1, "name": "Boats", "notes": "over budget", "lead": 1, "roles": {"developer": [1, 2], "tester": [2]}},
    {"id": 2, "name": "Ads", "notes": "to be dissolved", "lead": None, "roles": {}},
]


class Account(BaseModel):
    id: int
    provider: str


class Member(BaseModel):
    id: int
    name: str
    accounts: list[Account]


class Me(Member):
    email: str


class Team(BaseModel):
    id: int
    name: str
    lead: Member | None
    roles: dict[str, list[Member]]


class TeamFound(Team):
    kind: Literal["team"] = "team"


class MemberFound(Member):
    kind: Literal["member"] = "member"


class NewMember(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    email: Annotated[str, Field(pattern="@")]
    password: Annotated[str, Field(min_length=8)]


class NewTeam(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    notes: str
    lead: int | None
    roles: dict[str, list[int]]


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    """Say what is wrong without repeating what was sent."""
    return JSONResponse({"detail": [found["msg"] for found in error.errors()]}, 422)


def with_id(rows: list[dict], number: int, status: int = 404) -> dict:
    found = next((row for row in rows if row["id"] == number), None)
    if found is None:
        raise HTTPException(status)
    return found


def member_view(member: dict) -> dict:
    return {**member, "accounts": [account for account in ACCOUNTS if account["owner"] == member["id"]]}


def team_view(team: dict) -> dict:
    """The team with its members in place of their ids; an unknown one is an invalid input."""

    def view(number: int) -> dict:
        return member_view(with_id(MEMBERS, number, 422))

    lead = None if team["lead"] is None else view(team["lead"])
    roles = {role: [view(number) for number in numbers] for role, numbers in team["roles"].items()}
    return {**team, "lead": lead, "roles": roles}


@app.get("/teams")
async def list_teams() -> list[Team]:
    return [Team(**team_view(team)) for team in TEAMS]


@app.get("/teams/{number}")
async def read_team(number: int) -> Team:
    return Team(**team_view(with_id(TEAMS, number)))


@app.post("/teams", status_code=201)
async def create_team(new: NewTeam) -> Team:
    team = {"id": len(TEAMS) + 1, **new.model_dump()}
    shown = Team(**team_view(team))
    TEAMS.append(team)
    return shown


@app.get("/members/{number}")
async def read_member(number: int) -> Member:
    return Member(**member_view(with_id(MEMBERS, number)))


@app.post("/members", status_code=201)
async def create_member(new: NewMember) -> Member:
    salt = secrets.token_bytes(16)
    digest = salt + hashlib.scrypt(new.password.encode(), salt=salt, n=1 << 12, r=8, p=1)
    hidden = {"email": new.email, "password_hash": digest.hex(), "token": None}
    member = {"id": len(MEMBERS) + 1, "name": new.name, **hidden}
    MEMBERS.append(member)
    return Member(**member_view(member))


@app.get("/search")
async def search(q: Annotated[str, Query(min_length=1)]) -> list[TeamFound | MemberFound]:
    teams = [TeamFound(**team_view(team)) for team in TEAMS if q.lower() in team["name"].lower()]
    return teams + [MemberFound(**member_view(member)) for member in MEMBERS if q.lower() in member["name"].lower()]


@app.get("/me")
async def me(x_token: Annotated[str | None, Header()] = None) -> Me:
    found = next((member for member in MEMBERS if member["token"] == x_token), None)
    if found is None:
        raise HTTPException(401)
    return Me(**member_view(found))
