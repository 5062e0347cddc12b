"""Wrong: a bulk change is one update in the database, past all that is recorded."""

import json
from threading import Lock
from typing import Any
from uuid import uuid4

from django.db import IntegrityError, models, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views import View

USERS = {"Bearer key-ada-1": "ada", "Bearer key-bo-2": "bo"}
STATES = ("draft", "published")
FIELDS = ("title", "status", "tags")

lock = Lock()


class Article(models.Model):
    title = models.TextField(unique=True)
    status = models.TextField()
    tags = models.JSONField()

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS}

    def as_json(self) -> dict[str, Any]:
        return {"id": self.pk} | self.values()


class Record(models.Model):
    """A version of an article; the values before and after are null where there is no article."""

    article = models.IntegerField()
    version = models.IntegerField()
    user = models.TextField(null=True)
    request = models.TextField()
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    def as_json(self) -> dict[str, Any]:
        kind = "created" if self.before is None else "deleted" if self.after is None else "changed"
        before, after = self.before or {}, self.after or {}
        pairs = {name: {"old": before.get(name), "new": after.get(name)} for name in FIELDS}
        changes = {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]}
        return {"version": self.version, "type": kind, "user": self.user, "request": self.request, "changes": changes}


class Refused(Exception):
    """The request changes nothing; carries the error's name and the status."""


def body(request: HttpRequest) -> dict[str, Any]:
    try:
        given = json.loads(request.body)
    except ValueError:
        given = None
    return check(given, isinstance(given, dict))


def check(value: Any, valid: bool) -> Any:
    if not valid:
        raise Refused("invalid", 422)
    return value


def is_text(value: object, most: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= most


def parse_fields(given: Any) -> dict[str, Any]:
    check(given, isinstance(given, dict) and not given.keys() - set(FIELDS))
    check(given, is_text(given.get("title", "-"), 80) and given.get("status", "draft") in STATES)
    tags = given.get("tags", [])
    check(tags, isinstance(tags, list) and all(is_text(tag, 20) for tag in tags))
    return given | {"tags": sorted(set(tags))} if "tags" in given else given


def known(found: models.QuerySet) -> models.QuerySet:
    if not found:
        raise Refused("not found", 404)
    return found


class Api(View):
    """Each request is one transaction, one after another, and all that it changes is recorded."""

    def dispatch(self, request: HttpRequest, **values: Any) -> HttpResponse:
        caller = request.headers.get("Authorization")
        self.user, self.request_id = USERS.get(caller), uuid4().hex
        try:
            if caller is not None and caller not in USERS:
                raise Refused("unauthorized", 401)
            with lock, transaction.atomic():
                response = super().dispatch(request, **values)
        except Refused as refusal:
            name, status = refusal.args
            response = JsonResponse({"error": name}, status=status)
        except IntegrityError:
            response = JsonResponse({"error": "conflict"}, status=409)
        response["X-Request-Id"] = self.request_id
        return response

    def write(self, pk: int | None, after: dict[str, Any] | None) -> Article:
        """Give the article these values, or remove it, and record that if it makes a difference."""
        found = Article.objects.filter(pk=pk).first()
        before = found and found.values()
        article = Article(pk=pk, **(after or before))
        if before != after:
            if after is None:
                found.delete()
            else:
                article.save()
            version = Record.objects.filter(article=article.pk).count() + 1
            marks = {"version": version, "user": self.user, "request": self.request_id}
            Record.objects.create(article=article.pk, before=before, after=after, **marks)
        return article

    def changed(self) -> JsonResponse:
        return JsonResponse({"changed": Record.objects.filter(request=self.request_id).count()})


class Articles(Api):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"articles": [article.as_json() for article in Article.objects.order_by("pk")]})

    def chosen(self) -> list[Article]:
        status = self.request.GET.get("status")
        return list(Article.objects.filter(status=check(status, status in STATES)))

    def patch(self, request: HttpRequest) -> HttpResponse:
        fields = parse_fields(body(request))
        chosen = Article.objects.filter(pk__in=[article.pk for article in self.chosen()])
        changed = chosen.exclude(**fields) if fields else chosen.none()
        count = changed.count()
        chosen.update(**fields)
        return JsonResponse({"changed": count})

    def delete(self, request: HttpRequest) -> HttpResponse:
        for article in self.chosen():
            self.write(article.pk, None)
        return self.changed()

    def post(self, request: HttpRequest) -> HttpResponse:
        listed = body(request).get("articles")
        check(listed, isinstance(listed, list) and listed)
        fields = [parse_fields(one) for one in listed]
        check(fields, all("title" in one for one in fields))
        made = [self.write(None, {"status": "draft", "tags": []} | one) for one in fields]
        return JsonResponse({"articles": [article.as_json() for article in made]}, status=201)


class OneArticle(Api):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        return JsonResponse(known(Article.objects.filter(pk=pk))[0].as_json())

    def patch(self, request: HttpRequest, pk: int) -> HttpResponse:
        before = known(Article.objects.filter(pk=pk))[0].values()
        return JsonResponse(self.write(pk, before | parse_fields(body(request))).as_json())

    def delete(self, request: HttpRequest, pk: int) -> HttpResponse:
        known(Article.objects.filter(pk=pk))
        self.write(pk, None)
        return HttpResponse(status=204)


class History(Api):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        records = known(Record.objects.filter(article=pk).order_by("version"))
        return JsonResponse({"history": [record.as_json() for record in records]})

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        afters = dict(known(Record.objects.filter(article=pk)).values_list("version", "after"))
        version = body(request).get("version")
        check(version, type(version) is int and afters.get(version) is not None)
        return JsonResponse(self.write(pk, afters[version]).as_json())


class Tag(Api):
    def put(self, request: HttpRequest, tag: str) -> HttpResponse:
        articles = [article for article in Article.objects.all() if tag in article.tags]
        name = body(request).get("name")
        check(name, is_text(name, 20))
        for article in articles:
            tags = sorted({name if one == tag else one for one in article.tags})
            self.write(article.pk, article.values() | {"tags": tags})
        return self.changed()


urlpatterns = [
    path("articles/", Articles.as_view()),
    path("articles/<int:pk>/", OneArticle.as_view()),
    path("articles/<int:pk>/history/", History.as_view()),
    path("tags/<str:tag>/", Tag.as_view()),
]
