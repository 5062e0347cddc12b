"""Wrong: null is sorted as SQLite does by default."""

import sqlite3
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

app = FastAPI()
database = sqlite3.connect(":memory:")
database.row_factory = sqlite3.Row
database.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT, city TEXT, email TEXT, pin TEXT)")

SORTABLE = ("id", "name", "age", "city", "email")
CONDITIONS = {
    "age__gte": "age >= ?",
    "age__lt": "age < ?",
    "name__ilike": "name LIKE '%' || ? || '%' ESCAPE '\\'",
    "email__isnull": "(email IS NULL) = ?",
}


class Person(BaseModel):
    name: Annotated[str, Field(min_length=1)]
    age: Annotated[int | None, Field(ge=0)]
    city: str
    email: str | None


class NewPerson(Person):
    pin: Annotated[str, Field(pattern=r"^[0-9]{4}$")]


class StoredPerson(Person):
    id: int


class Filters(BaseModel):
    model_config = ConfigDict(extra="forbid")

    age__gte: Annotated[int | None, Field(ge=0)] = None
    age__lt: Annotated[int | None, Field(ge=0)] = None
    name__ilike: str | None = None
    city__in: list[str] | None = None
    email__isnull: bool | None = None


class Parameters(Filters):
    order_by: list[str] = ["id"]

    @model_validator(mode="before")
    @classmethod
    def forget_empty_ones(cls, given: dict[str, Any]) -> dict[str, Any]:
        texts = {name: value[0] if isinstance(value, list) else value for name, value in given.items()}
        return {name: value for name, value in texts.items() if value.strip() or name not in cls.model_fields}

    @field_validator("city__in", mode="before")
    @classmethod
    def split_cities(cls, value: str) -> list[str]:
        cities = [city.strip() for city in value.split(",")]
        if len(cities) > 20 or "" in cities:
            raise ValueError("1 to 20 cities")
        return cities

    @field_validator("email__isnull", mode="before")
    @classmethod
    def read_truth(cls, value: str) -> bool:
        if value not in ("true", "false"):
            raise ValueError("true or false")
        return value == "true"

    @field_validator("order_by", mode="before")
    @classmethod
    def split_fields(cls, value: str) -> list[str]:
        parts = [part.strip() for part in value.split(",")]
        names = [part[1:] if part[:1] in ("+", "-") else part for part in parts]
        if not set(names) <= set(SORTABLE) or len(set(names)) < len(names):
            raise ValueError("each field once")
        return ["-" + name if part[0] == "-" else name for part, name in zip(parts, names)]


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    """Name the parameters or fields that are wrong."""
    return JSONResponse({"invalid": sorted({str(found["loc"][-1]) for found in error.errors()})}, 422)


@app.post("/people", status_code=201)
async def create(person: NewPerson) -> StoredPerson:
    columns = "name, age, city, email, pin"
    values = (person.name, person.age, person.city, person.email, person.pin)
    cursor = database.execute(f"INSERT INTO people ({columns}) VALUES (?, ?, ?, ?, ?)", values)
    return StoredPerson(id=cursor.lastrowid, **person.model_dump())


def escaped(text: str) -> str:
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    return text


def ordering(fields: list[str]) -> str:
    terms = [f"{field[1:]} DESC" if field[0] == "-" else field for field in fields]
    return ", ".join([*terms, "id"])


@app.get("/people")
async def listing(given: Annotated[Parameters, Query()]) -> dict[str, Any]:
    filters = given.model_dump(exclude={"order_by"}, exclude_none=True)
    conditions, values = ["1"], []
    for name, value in filters.items():
        if name == "city__in":
            conditions.append(f"city IN ({', '.join('?' * len(value))})")
            values += value
        else:
            conditions.append(CONDITIONS[name])
            values.append(escaped(value) if name == "name__ilike" else value)
    query = f"SELECT * FROM people WHERE {' AND '.join(conditions)} ORDER BY {ordering(given.order_by)}"
    people = [StoredPerson(**row) for row in database.execute(query, values)]
    return {"order_by": given.order_by, "filters": filters, "people": people}
