"""Users, among whose paths some fixed ones mean something else."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError
from starlette.convertors import StringConvertor, register_url_convertor

USER_ID = r"(?!(?:me|search)$)[A-Za-z0-9-]{1,20}"


class UserIdConvertor(StringConvertor):
    regex = USER_ID


register_url_convertor("user_id", UserIdConvertor())
app = FastAPI()


class Named(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=50)]


class User(Named):
    id: Annotated[str, StringConstraints(pattern=rf"^{USER_ID}\Z")]

    model_config = {"regex_engine": "python-re"}


users: dict[str, User] = {}
entry = TypeAdapter(User)


@app.exception_handler(405)
async def method_not_allowed(request: Request, _: Exception) -> JSONResponse:
    """Name the methods of all routes with this path, not only of the first one."""
    routes = [route for route in app.routes if route.path_regex.match(request.url.path)]
    allowed = sorted({method for route in routes for method in route.methods})
    return JSONResponse({"detail": "Method Not Allowed"}, 405, {"Allow": ", ".join(allowed)})


def existing(user_id: str) -> User:
    if user_id not in users:
        raise HTTPException(404)
    return users[user_id]


def save(user: User) -> bool:
    """Store a user; whether the id is new."""
    is_new = user.id not in users
    users[user.id] = user
    return is_new


@app.get("/users/{user_id:user_id}")
async def read(user_id: str) -> User:
    return existing(user_id)


@app.put("/users/{user_id:user_id}")
async def put(user_id: str, named: Named, response: Response) -> User:
    user = User(id=user_id, name=named.name)
    response.status_code = 201 if save(user) else 200
    return user


@app.delete("/users/{user_id:user_id}", status_code=204)
async def delete(user_id: str) -> None:
    existing(user_id)
    del users[user_id]


@app.get("/users/me")
async def me(x_user: Annotated[str, Header()] = "") -> User:
    if x_user not in users:
        raise HTTPException(401)
    return users[x_user]


@app.get("/users/search")
async def search(q: Annotated[str, Query(min_length=1)]) -> list[User]:
    return [users[key] for key in sorted(users) if q.lower() in users[key].name.lower()]


@app.put("/users/_bulk")
async def put_many(items: Annotated[list[Any], Body()]) -> list[dict[str, str]]:
    found, wrong = [], []
    for index, item in enumerate(items):
        try:
            found.append(entry.validate_python(item))
        except ValidationError:
            wrong.append(index)
    if wrong:
        raise HTTPException(422, {"indexes": wrong})
    return [{"id": user.id, "result": "created" if save(user) else "replaced"} for user in found]
