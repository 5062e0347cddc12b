"""Wrong: values are converted, so that strings and floats pass as numbers."""

from collections import Counter
from itertools import count
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_AT_ONCE = 50
MOST_STORED = 120
CODES = {"missing": "missing", "extra_forbidden": "unknown"}

app = FastAPI()
Name = Annotated[str, Field(min_length=1, max_length=20)]
Speed = Annotated[int, Field(ge=1, le=100_000)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class New(Strict):
    name: Name
    speed: Speed


class Known(Strict):
    id: int


class Change(Known):
    name: Name = ""
    speed: Speed = 0


class Interface(New):
    id: int


class Refused(Exception):
    def __init__(self, status: int, **answer: Any) -> None:
        self.status = status
        self.answer = answer


interfaces: dict[int, Interface] = {}
numbers = count(1)


@app.exception_handler(Refused)
async def refused(_: Request, refusal: Refused) -> JSONResponse:
    return JSONResponse(refusal.answer, refusal.status)


@app.exception_handler(RequestValidationError)
async def invalid(_: Request, __: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


def own_errors(kind: type[Strict], item: Any) -> dict[str, str]:
    """What is wrong with an object by itself, by member."""
    if not isinstance(item, dict):
        return {"object": "invalid"}
    try:
        kind.model_validate(item)
    except ValidationError as error:
        return {str(found["loc"][0]): CODES.get(found["type"], "invalid") for found in error.errors()}
    return {}


def sound(member: str, items: list, errors: list[dict]) -> list[tuple[dict, dict]]:
    """The objects in which this member is given and in order, with their errors."""
    pairs = zip(items, errors)
    return [(item, found) for item, found in pairs if "object" not in found and member in item.keys() - found]


def add_id_errors(items: list, errors: list[dict]) -> None:
    uses = Counter(item["id"] for item, _ in sound("id", items, errors))
    for item, found in sound("id", items, errors):
        if uses[item["id"]] > 1:
            found["id"] = "repeated"
        elif item["id"] not in interfaces:
            found["id"] = "not found"


def add_name_errors(items: list, errors: list[dict], by_id: bool) -> None:
    uses = Counter(item["name"] for item, _ in sound("name", items, errors))
    owners = {interface.name: interface.id for interface in interfaces.values()}
    for item, found in sound("name", items, errors):
        own = item["id"] if by_id and "id" not in found else None
        if uses[item["name"]] > 1 or owners.get(item["name"], own) != own:
            found["name"] = "taken"


def valid_list(kind: type[Strict], items: list) -> list:
    """The objects of the request's body as models; refuses them all if one is wrong."""
    if not items:
        raise Refused(400, error="invalid")
    if len(items) > MOST_AT_ONCE:
        raise Refused(413, error="too many")
    errors = [own_errors(kind, item) for item in items]
    by_id = issubclass(kind, Known)
    add_name_errors(items, errors, by_id)
    if by_id:
        add_id_errors(items, errors)
    if any(errors):
        raise Refused(400, error="rejected", errors=errors)
    return [kind(**item) for item in items]


Items = Annotated[list[Any], Body()]


@app.get("/interfaces")
async def listing() -> dict[str, list[Interface]]:
    return {"interfaces": list(interfaces.values())}


@app.post("/interfaces", status_code=201)
async def create(items: Items) -> dict[str, list[Interface]]:
    new = valid_list(New, items)
    if len(interfaces) + len(new) > MOST_STORED:
        raise Refused(409, error="full")
    created = [Interface(id=next(numbers), **item.model_dump()) for item in new]
    interfaces.update((interface.id, interface) for interface in created)
    return {"interfaces": created}


@app.patch("/interfaces")
async def change(items: Items) -> dict[str, list[Interface]]:
    changes = valid_list(Change, items)
    for item in changes:
        interfaces[item.id] = interfaces[item.id].model_copy(update=item.model_dump(exclude_unset=True))
    return {"interfaces": [interfaces[item.id] for item in changes]}


@app.delete("/interfaces", status_code=204)
async def remove(items: Items) -> None:
    for item in valid_list(Known, items):
        del interfaces[item.id]
