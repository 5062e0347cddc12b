"""Wrong: checks that the project exists before it lists the tasks, not who asks."""

from itertools import count
from typing import Annotated, Any, Literal

from fastapi import Body, Depends, FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictInt

KEYS = {"key-ann-31": "ann", "key-ben-42": "ben", "key-cat-53": "cat", "key-dan-64": "dan"}
WRITERS = ("owner", "writer")
ALL = ("owner", "writer", "reader")

app = FastAPI()
projects: dict[int, dict[str, Any]] = {}
tasks: dict[int, dict[str, Any]] = {}
project_ids = count(1)
task_ids = count(1)


@app.exception_handler(HTTPException)
async def answer_error(request: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


@app.exception_handler(RequestValidationError)
async def answer_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return JSONResponse({"error": "invalid"}, 400)


class NewProject(BaseModel):
    name: Annotated[str, Field(min_length=1)]


class NewTask(BaseModel):
    title: Annotated[str, Field(min_length=1)]
    after: StrictInt | None = None


class TaskChange(BaseModel):
    title: Annotated[str, Field(min_length=1)] = ""
    project: StrictInt = 0
    after: StrictInt | None = None


class Caller:
    """The user of a request, and what that user may do."""

    def __init__(self, authorization: Annotated[str, Header()] = "") -> None:
        scheme, _, key = authorization.partition(" ")
        if scheme != "Bearer" or key not in KEYS:
            raise HTTPException(401, "unauthorized")
        self.name = KEYS[key]

    def role(self, project_id: int) -> str | None:
        project = projects.get(project_id)
        if project is None:
            return None
        return "owner" if project["owner"] == self.name else project["members"].get(self.name)

    def project(self, project_id: int, roles: tuple[str, ...] = ALL) -> dict[str, Any]:
        role = self.role(project_id)
        if role is None:
            raise HTTPException(404, "not found")
        if role not in roles:
            raise HTTPException(403, "forbidden")
        return projects[project_id]

    def sees(self, task_id: int | None) -> bool:
        return task_id in tasks and self.role(tasks[task_id]["project"]) is not None

    def task(self, task_id: int, roles: tuple[str, ...] = ALL) -> dict[str, Any]:
        if not self.sees(task_id):
            raise HTTPException(404, "not found")
        self.project(tasks[task_id]["project"], roles)
        return tasks[task_id]

    def show_task(self, task: dict[str, Any]) -> dict[str, Any]:
        return task | {"after": task["after"] if self.sees(task["after"]) else None}


User = Annotated[Caller, Depends()]
Name = Literal["ann", "ben", "cat", "dan"]
Role = Literal["writer", "reader"]


@app.post("/projects", status_code=201)
async def create_project(new: NewProject, user: User) -> dict[str, Any]:
    project = {"id": next(project_ids), "name": new.name, "owner": user.name, "members": {}}
    projects[project["id"]] = project
    return project


@app.get("/projects")
async def list_projects(user: User) -> dict[str, Any]:
    return {"projects": [project for project in projects.values() if user.role(project["id"])]}


@app.put("/projects/{project_id}/members")
async def put_members(
    project_id: int, members: Annotated[dict[Name, Role], Body(embed=True)], user: User
) -> dict[str, Any]:
    project = user.project(project_id, ("owner",))
    project["members"] = members
    return project


@app.get("/projects/{project_id}/tasks")
async def list_project_tasks(project_id: int, user: User) -> dict[str, Any]:
    if project_id not in projects:
        raise HTTPException(404, "not found")
    return {"tasks": [user.show_task(task) for task in tasks.values() if task["project"] == project_id]}


@app.post("/projects/{project_id}/tasks", status_code=201)
async def create_task(project_id: int, new: NewTask, user: User) -> dict[str, Any]:
    user.project(project_id, WRITERS)
    if new.after is not None:
        user.task(new.after)
    task = {"id": next(task_ids), "project": project_id} | new.model_dump()
    tasks[task["id"]] = task
    return user.show_task(task)


@app.get("/tasks")
async def list_tasks(ids: str, user: User) -> dict[str, Any]:
    wanted = {int(text) for text in ids.split(",") if text.isdecimal()}
    return {
        "tasks": [user.show_task(task) for task in tasks.values() if task["id"] in wanted and user.sees(task["id"])]
    }


@app.post("/tasks/delete", status_code=204)
async def delete_tasks(ids: Annotated[list[StrictInt], Body(embed=True), Field(min_length=1)], user: User) -> None:
    for task_id in ids:
        user.task(task_id)
    for task_id in ids:
        user.task(task_id, WRITERS)
    for task_id in set(ids):
        del tasks[task_id]


@app.get("/tasks/{task_id}")
async def get_task(task_id: int, user: User) -> dict[str, Any]:
    return user.show_task(user.task(task_id))


@app.patch("/tasks/{task_id}")
async def change_task(task_id: int, change: TaskChange, user: User) -> dict[str, Any]:
    task = user.task(task_id, WRITERS)
    fields = change.model_dump(exclude_unset=True)
    if fields.get("after") is not None:
        user.task(fields["after"])
    if "project" in fields:
        user.project(fields["project"], WRITERS)
    task.update(fields)
    return user.show_task(task)


@app.delete("/tasks/{task_id}", status_code=204)
async def delete_task(task_id: int, user: User) -> None:
    user.task(task_id, WRITERS)
    del tasks[task_id]
