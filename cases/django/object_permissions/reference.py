"""Projects and tasks: what a user may not see does not exist for that user, on every route."""

import json
from itertools import count

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

KEYS = {"key-ann-31": "ann", "key-ben-42": "ben", "key-cat-53": "cat", "key-dan-64": "dan"}
WRITERS = ("owner", "writer")
GRANTS = [(user, role) for user in KEYS.values() for role in ("writer", "reader")]

projects = {}
tasks = {}
project_ids = count(1)
task_ids = count(1)


def answer(status: int, error: str) -> JsonResponse:
    return JsonResponse({"error": error}, status=status)


def is_valid(name: str, value: object) -> bool:
    match name:
        case "members":
            return isinstance(value, dict) and all(pair in GRANTS for pair in value.items())
        case "ids":
            return isinstance(value, list) and len(value) > 0 and all(type(number) is int for number in value)
        case "after":
            return value is None or type(value) is int
        case "project":
            return type(value) is int
    return isinstance(value, str) and value != ""


class Api(View):
    """Knows the caller and what the caller may do; answers errors as JSON."""

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or key not in KEYS:
            return answer(401, "unauthorized")
        self.user = KEYS[key]
        try:
            return super().dispatch(request, *args, **kwargs)
        except Http404:
            return answer(404, "not found")
        except PermissionDenied:
            return answer(403, "forbidden")
        except ValidationError:
            return answer(400, "invalid")

    def body(self, required: list[str], optional: list[str]) -> dict:
        """Return the body's fields; each known field has its own form."""
        try:
            data = json.loads(self.request.body)
        except ValueError:
            raise ValidationError("malformed") from None
        if not isinstance(data, dict) or any(name not in data for name in required):
            raise ValidationError("malformed")
        fields = {name: data[name] for name in (*required, *optional) if name in data}
        if not all(is_valid(name, value) for name, value in fields.items()):
            raise ValidationError("malformed")
        return fields

    def role(self, project_id: int) -> str | None:
        project = projects.get(project_id)
        if project is None:
            return None
        return "owner" if project["owner"] == self.user else project["members"].get(self.user)

    def project(self, project_id: int, roles: tuple[str, ...] = ()) -> dict:
        """Return a visible project in which the caller has one of the roles (none given: any)."""
        role = self.role(project_id)
        if role is None:
            raise Http404
        if roles and role not in roles:
            raise PermissionDenied
        return projects[project_id]

    def sees(self, task_id: int | None) -> bool:
        return task_id in tasks and self.role(tasks[task_id]["project"]) is not None

    def task(self, task_id: int, roles: tuple[str, ...] = ()) -> dict:
        if not self.sees(task_id):
            raise Http404
        self.project(tasks[task_id]["project"], roles)
        return tasks[task_id]

    def show_task(self, task: dict) -> dict:
        return task | {"after": task["after"] if self.sees(task["after"]) else None}


class Projects(Api):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"projects": [project for project in projects.values() if self.role(project["id"])]})

    def post(self, request: HttpRequest) -> HttpResponse:
        project = {"id": next(project_ids), "owner": self.user, "members": {}} | self.body(["name"], [])
        projects[project["id"]] = project
        return JsonResponse(project, status=201)


class Members(Api):
    def put(self, request: HttpRequest, project_id: int) -> HttpResponse:
        project = self.project(project_id, ("owner",))
        project.update(self.body(["members"], []))
        return JsonResponse(project)


class ProjectTasks(Api):
    def get(self, request: HttpRequest, project_id: int) -> HttpResponse:
        self.project(project_id)
        found = [task for task in tasks.values() if task["project"] == project_id]
        return JsonResponse({"tasks": [self.show_task(task) for task in found]})

    def post(self, request: HttpRequest, project_id: int) -> HttpResponse:
        self.project(project_id, WRITERS)
        fields = {"after": None} | self.body(["title"], ["after"])
        if fields["after"] is not None:
            self.task(fields["after"])
        task = {"id": next(task_ids), "project": project_id} | fields
        tasks[task["id"]] = task
        return JsonResponse(self.show_task(task), status=201)


class Tasks(Api):
    def get(self, request: HttpRequest) -> HttpResponse:
        wanted = {int(text) for text in request.GET.get("ids", "").split(",") if text.isdecimal()}
        found = [task for task in tasks.values() if task["id"] in wanted and self.sees(task["id"])]
        return JsonResponse({"tasks": [self.show_task(task) for task in found]})


class TaskDeletion(Api):
    def post(self, request: HttpRequest) -> HttpResponse:
        wanted = set(self.body(["ids"], [])["ids"])
        for task_id in wanted:
            self.task(task_id)
        for task_id in wanted:
            self.task(task_id, WRITERS)
        for task_id in wanted:
            del tasks[task_id]
        return HttpResponse(status=204)


class Task(Api):
    def get(self, request: HttpRequest, task_id: int) -> HttpResponse:
        return JsonResponse(self.show_task(self.task(task_id)))

    def patch(self, request: HttpRequest, task_id: int) -> HttpResponse:
        task = self.task(task_id, WRITERS)
        fields = self.body([], ["title", "project", "after"])
        if fields.get("after") is not None:
            self.task(fields["after"])
        if "project" in fields:
            self.project(fields["project"], WRITERS)
        task.update(fields)
        return JsonResponse(self.show_task(task))

    def delete(self, request: HttpRequest, task_id: int) -> HttpResponse:
        self.task(task_id, WRITERS)
        del tasks[task_id]
        return HttpResponse(status=204)


urlpatterns = [
    path("projects", Projects.as_view()),
    path("projects/<int:project_id>/members", Members.as_view()),
    path("projects/<int:project_id>/tasks", ProjectTasks.as_view()),
    path("tasks", Tasks.as_view()),
    path("tasks/delete", TaskDeletion.as_view()),
    path("tasks/<int:task_id>", Task.as_view()),
]
