"""Documents with public share links."""

import json
import secrets
import unicodedata
from datetime import datetime

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

KEYS = {"key-alice-51": "alice", "key-bob-62": "bob", "key-carol-73": "carol"}


class Document(models.Model):
    owner = models.TextField()
    title = models.TextField()
    content = models.TextField()
    viewers = models.JSONField(default=list)


class Link(models.Model):
    slug = models.SlugField(unique=True, default=secrets.token_urlsafe)
    document = models.ForeignKey(Document, on_delete=models.CASCADE)
    created_by = models.TextField()
    expires_at = models.DateTimeField(null=True)


def error(name: str, status: int) -> JsonResponse:
    return JsonResponse({"error": name}, status=status)


def api(*methods: str):
    """Decorate a view: allowed methods, the caller's name as second argument, errors as JSON."""

    def decorate(view):
        @require_http_methods(methods)
        def wrapped(request: HttpRequest, **kwargs: int | str) -> HttpResponse:
            scheme, _, key = request.headers.get("Authorization", "").partition(" ")
            if scheme != "Bearer" or key not in KEYS:
                return error("unauthorized", 401)
            try:
                return view(request, KEYS[key], **kwargs)
            except ValidationError:
                return error("invalid", 400)
            except ObjectDoesNotExist:
                return error("not found", 404)

        return wrapped

    return decorate


def body(request: HttpRequest) -> dict:
    try:
        data = json.loads(request.body)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise ValidationError("malformed")
    return data


def parse_expiry(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValidationError("malformed") from None
    if moment.tzinfo is None or moment <= timezone.now():
        raise ValidationError("malformed")
    return moment


@api("POST")
def documents(request: HttpRequest, user: str) -> HttpResponse:
    data = body(request)
    title, content = data.get("title"), data.get("content")
    if not isinstance(title, str) or not isinstance(content, str) or not 1 <= len(title) <= 100:
        raise ValidationError("malformed")
    made = Document.objects.create(owner=user, title=title, content=content)
    return JsonResponse(model_to_dict(made, exclude=["content"]), status=201)


@api("DELETE")
def document(request: HttpRequest, user: str, pk: int) -> HttpResponse:
    Document.objects.get(pk=pk, owner=user).delete()
    return HttpResponse(status=204)


@api("PUT")
def viewers(request: HttpRequest, user: str, pk: int) -> HttpResponse:
    found = Document.objects.get(pk=pk, owner=user)
    names = body(request).get("viewers")
    if not isinstance(names, list) or not all(name in KEYS.values() for name in names):
        raise ValidationError("malformed")
    with transaction.atomic():
        found.viewers = names
        found.save()
        found.link_set.exclude(created_by__in=[found.owner, *names]).delete()
    return JsonResponse(model_to_dict(found, exclude=["content"]))


@api("GET", "POST")
def share_links(request: HttpRequest, user: str) -> HttpResponse:
    if request.method == "GET":
        links = Link.objects.filter(created_by=user).order_by("pk")
        return JsonResponse({"links": [model_to_dict(link, exclude=["id"]) for link in links]})
    data = body(request)
    pk, expires_at = data.get("document"), parse_expiry(data.get("expires_at"))
    if type(pk) is not int:
        raise ValidationError("malformed")
    found = Document.objects.get(pk=pk)
    if user not in (found.owner, *found.viewers):
        raise Document.DoesNotExist
    link = Link.objects.create(document=found, created_by=user, expires_at=expires_at)
    return JsonResponse(model_to_dict(link, exclude=["id"]), status=201)


@api("DELETE")
def share_link(request: HttpRequest, user: str, slug: str) -> HttpResponse:
    Link.objects.get(Q(created_by=user) | Q(document__owner=user), slug=slug).delete()
    return HttpResponse(status=204)


@require_safe
def share(request: HttpRequest, slug: str) -> HttpResponse:
    link = Link.objects.select_related("document").filter(slug=slug).first()
    if link is None:
        return error("not found", 404)
    if link.expires_at is not None and link.expires_at <= timezone.now():
        return error("expired", 410)
    response = HttpResponse(link.document.content, content_type="text/plain; charset=utf-8")
    name = "".join(char for char in link.document.title if unicodedata.category(char) != "Cc")
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.txt")
    return response


urlpatterns = [
    path("documents/", documents),
    path("documents/<int:pk>/", document),
    path("documents/<int:pk>/viewers/", viewers),
    path("share_links/", share_links),
    path("share_links/<str:slug>/", share_link),
    path("share/<str:slug>/", share),
]
