"""Wrong: ids that do not exist are left out without a word."""

import csv
import json

from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path
from django.utils.html import format_html, format_html_join
from django.views import View

ACTIONS = ["delete", "publish", "export"]
STAFF = {
    "key-root-11": {"delete", "publish", "export"},
    "key-ed-22": {"publish", "export"},
    "key-view-33": {"export"},
}


class Question(models.Model):
    title = models.TextField()
    protected = models.BooleanField()
    published = models.BooleanField(default=False)

    def as_json(self) -> dict:
        return {"id": self.pk, "title": self.title, "protected": self.protected, "published": self.published}


class SeeOther(HttpResponseRedirect):
    status_code = 303


class StaffView(View):
    def dispatch(self, request: HttpRequest) -> HttpResponse:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or key not in STAFF:
            return JsonResponse({"error": "unauthorized"}, status=401)
        self.rights = STAFF[key]
        return super().dispatch(request)


class Questions(StaffView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"questions": [question.as_json() for question in Question.objects.order_by("pk")]})

    def post(self, request: HttpRequest) -> HttpResponse:
        given = json.loads(request.body)
        made = Question.objects.create(title=given["title"], protected=given["protected"])
        return JsonResponse(made.as_json(), status=201)


class Manage(StaffView):
    def get(self, request: HttpRequest) -> HttpResponse:
        row = '<li><label><input type="checkbox" name="ids" value="{}">{}</label></li>'
        rows = format_html_join("", row, Question.objects.order_by("pk").values_list("pk", "title"))
        allowed = [(action, action) for action in ACTIONS if action in self.rights]
        options = format_html_join("", '<option value="{}">{}</option>', allowed)
        page = '<form method="post"><ul>{}</ul><select name="action">{}</select><button>Go</button></form>'
        return HttpResponse(format_html(page, rows, options))

    def post(self, request: HttpRequest) -> HttpResponse:
        action, ids = request.POST.get("action"), request.POST.getlist("ids")
        if action not in ACTIONS:
            return JsonResponse({"error": "unknown action"}, status=400)
        if action not in self.rights:
            return JsonResponse({"error": "forbidden"}, status=403)
        if not ids or not all(text.isascii() and text.isdigit() for text in ids):
            return JsonResponse({"error": "invalid ids"}, status=400)
        numbers = {int(text) for text in ids}
        chosen = Question.objects.filter(pk__in=numbers).order_by("pk")
        return getattr(self, action)(request, chosen)

    def publish(self, request: HttpRequest, chosen: models.QuerySet[Question]) -> HttpResponse:
        chosen.update(published=True)
        return SeeOther("/manage/")

    def export(self, request: HttpRequest, chosen: models.QuerySet[Question]) -> HttpResponse:
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        fields = ["id", "title", "protected", "published"]
        writer = csv.writer(response)
        writer.writerows([fields, *chosen.values_list(*fields)])
        return response

    def delete(self, request: HttpRequest, chosen: models.QuerySet[Question]) -> HttpResponse:
        protected = [question.pk for question in chosen if question.protected]
        if protected:
            return JsonResponse({"error": "protected questions", "ids": protected}, status=409)
        if request.POST.get("confirm") == "yes":
            chosen.delete()
            return SeeOther("/manage/")
        row = '<li><input type="hidden" name="ids" value="{}">{}</li>'
        rows = format_html_join("", row, [(question.pk, question.title) for question in chosen])
        fields = [("action", "delete"), ("confirm", "yes")]
        hidden = format_html_join("", '<input type="hidden" name="{}" value="{}">', fields)
        page = '<form method="post"><ul>{}</ul>{}<button>Delete</button></form>'
        return HttpResponse(format_html(page, rows, hidden))


urlpatterns = [path("questions/", Questions.as_view()), path("manage/", Manage.as_view())]
