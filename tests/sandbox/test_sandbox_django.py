"""Django apps in one module, with and without settings of their own."""

from __future__ import annotations

import json

import pytest
from outside import Reply, ask, source

from pytest_webbench.sandbox import AppSource, Sandbox

HEAD = """
import json
from django.db import models
from django.http import HttpResponse, JsonResponse
from django.urls import path
"""
OWN_SETTINGS = """
from django.conf import settings
settings.configure(DEBUG=True, SECRET_KEY="k", ROOT_URLCONF=__name__, {more})
"""


def first(sandbox: Sandbox, code: str, path: str = "/", **options: object) -> Reply:
    with sandbox.launch(source(code, "Django")) as instance:
        start = instance.wait_ready(20)
        assert start.ok, start
        reply = ask(instance, path, **options)
        assert reply.status is not None, (reply, instance.log_tail())
        return reply


def test_models_of_the_module_have_tables_without_migrations(sandbox: Sandbox) -> None:
    code = (
        HEAD
        + """
from django.contrib.auth.models import User
class Tag(models.Model):
    name = models.CharField(max_length=20, unique=True)
class Note(models.Model):
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notes")
    tags = models.ManyToManyField(Tag)
    text = models.TextField()
def view(request):
    user = User.objects.create_user("ada", password="x")
    note = Note.objects.create(owner=user, text="hi")
    note.tags.add(Tag.objects.create(name="t"))
    return JsonResponse({"notes": list(user.notes.values_list("text", "tags__name")), "label": Note._meta.app_label,
                         "id": type(Note._meta.pk).__name__})
urlpatterns = [path("", view)]
"""
    )
    assert json.loads(first(sandbox, code).body) == {"notes": [["hi", "t"]], "label": "app", "id": "BigAutoField"}


def test_users_log_in_and_sessions_last(best: Sandbox) -> None:
    code = (
        HEAD
        + """
from django.contrib.auth import authenticate, get_user_model, login
def enter(request):
    get_user_model().objects.create_user("ada", password="x")
    login(request, authenticate(request, username="ada", password="x"))
    request.session["seen"] = 1
    return HttpResponse("in")
def who(request): return JsonResponse({"user": request.user.username, "seen": request.session.get("seen")})
urlpatterns = [path("enter", enter), path("who", who)]
"""
    )
    with best.launch(source(code, "Django")) as instance:
        assert instance.wait_ready(20).ok
        cookie = ask(instance, "/enter", "POST").headers["set-cookie"].split(";")[0]
        assert json.loads(ask(instance, "/who", headers={"cookie": cookie}).body) == {"user": "ada", "seen": 1}
        assert json.loads(ask(instance, "/who").body) == {"user": "", "seen": None}
        instance.restart()
        assert instance.wait_ready(20).ok
        assert json.loads(ask(instance, "/who", headers={"cookie": cookie}).body)["user"] == "ada"


def test_supplied_settings_are_those_of_the_documentation(best: Sandbox) -> None:
    code = (
        HEAD
        + """
from django.conf import settings
def view(request):
    names = ("DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "ROOT_URLCONF", "INSTALLED_APPS", "MIDDLEWARE", "USE_TZ",
             "DEFAULT_AUTO_FIELD", "STATIC_URL")
    return JsonResponse({name: getattr(settings, name) for name in names}
                        | {"db": str(settings.DATABASES["default"]["NAME"]).rpartition("/")[2]})
urlpatterns = [path("", view)]
"""
    )
    found = json.loads(first(best, code).body)
    assert found.pop("INSTALLED_APPS")[:3] == [
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "django.contrib.sessions",
    ]
    assert found.pop("ALLOWED_HOSTS")[0] == "*"
    assert [name.rpartition(".")[2] for name in found.pop("MIDDLEWARE")] == [
        "SessionMiddleware",
        "CommonMiddleware",
        "AuthenticationMiddleware",
    ]
    assert found == {
        "DEBUG": False,
        "SECRET_KEY": "webbench-secret",
        "ROOT_URLCONF": "app",
        "USE_TZ": True,
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "STATIC_URL": "/static/",
        "db": "db.sqlite3",
    }


@pytest.mark.parametrize(
    "setup",
    [
        OWN_SETTINGS.format(more=""),
        "from django.conf import settings\nif not settings.configured:\n    "
        "settings.configure(SECRET_KEY='k', ROOT_URLCONF=__name__, ALLOWED_HOSTS=['example.org'])",
        "from django.conf import settings\nimport django\n"
        "settings.configure(SECRET_KEY='k', ROOT_URLCONF='__main__')\ndjango.setup()",
        "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', __name__)\n"
        "SECRET_KEY = 'k'\nROOT_URLCONF = __name__\nALLOWED_HOSTS = ['*']\nimport django\ndjango.setup()",
    ],
)
def test_a_module_may_configure_itself(setup: str, best: Sandbox) -> None:
    code = setup + HEAD + "urlpatterns = [path('', lambda request: HttpResponse('mine'))]"
    assert first(best, code).text == "mine"


def test_models_beside_own_settings_have_tables_in_memory_too(best: Sandbox) -> None:
    more = "INSTALLED_APPS=['django.contrib.contenttypes', 'django.contrib.auth'], DATABASES={'default': {"
    more += (
        "'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}, DEFAULT_AUTO_FIELD='django.db.models.AutoField'"
    )
    code = (
        OWN_SETTINGS.format(more=more)
        + "import django\ndjango.setup()\n"
        + HEAD
        + """
class Item(models.Model):
    name = models.CharField(max_length=20)
    class Meta: app_label = "shop"
def view(request):
    Item.objects.create(name="x")
    return JsonResponse({"n": Item.objects.count()})
urlpatterns = [path("", view)]
"""
    )
    assert json.loads(first(best, code).body) == {"n": 1}


def test_tables_that_the_module_made_itself_are_left_alone(best: Sandbox) -> None:
    code = (
        HEAD
        + """
from django.db import connection
class Item(models.Model):
    name = models.CharField(max_length=20)
with connection.schema_editor() as editor: editor.create_model(Item)
Item.objects.create(name="early")
urlpatterns = [path("", lambda request: JsonResponse({"n": Item.objects.count()}))]
from django.core.management import call_command, execute_from_command_line
call_command("migrate", run_syncdb=True, verbosity=0)
execute_from_command_line(["manage.py", "migrate", "--run-syncdb", "-v0"])
execute_from_command_line(["manage.py", "runserver", "0.0.0.0:8000"])
"""
    )
    assert json.loads(first(best, code).body) == {"n": 1}


@pytest.mark.parametrize(
    "served", ["", "from django.core.asgi import get_asgi_application\napplication = get_asgi_application()"]
)
def test_async_views_answer_under_either_server(served: str, best: Sandbox) -> None:
    code = (
        HEAD
        + "import asyncio\nasync def view(request):\n    await asyncio.sleep(0)\n    return HttpResponse('async')\n"
    )
    assert first(best, code + "urlpatterns = [path('', view)]\n" + served).text == "async"


def test_unhandled_errors_are_500_with_the_traceback_in_the_log(best: Sandbox) -> None:
    code = HEAD + "def view(request): raise KeyError('lost')\nurlpatterns = [path('', view)]"
    with best.launch(source(code, "Django")) as instance:
        assert instance.wait_ready(20).ok
        assert ask(instance).status == 500
        assert "KeyError: 'lost'" in instance.log_tail()


def test_passwords_are_hashed_in_the_usual_format_but_fast(best: Sandbox) -> None:
    code = HEAD + "from django.contrib.auth.hashers import make_password\n"
    code += "urlpatterns = [path('', lambda request: HttpResponse(make_password('x')))]"
    assert first(best, code).text.startswith("pbkdf2_sha256$1000$")


def test_a_project_of_several_files_runs(best: Sandbox) -> None:
    files = {
        "manage.py": "import os, sys\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')\n"
        "from django.core.management import execute_from_command_line\n"
        "if __name__ == '__main__':\n    execute_from_command_line(sys.argv)\n",
        "site1/__init__.py": "",
        "site1/settings.py": "SECRET_KEY = 'k'\nROOT_URLCONF = 'site1.urls'\nALLOWED_HOSTS = ['*']\n"
        "INSTALLED_APPS = ['shop']\nDATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'db'}}",
        "site1/urls.py": "from django.urls import path\nfrom shop.views import view\nurlpatterns = [path('', view)]",
        "shop/__init__.py": "",
        "shop/models.py": "from django.db import models\nclass Item(models.Model):\n    name = models.TextField()",
        "shop/views.py": "from django.http import JsonResponse\nfrom .models import Item\n"
        "def view(request):\n    Item.objects.create(name='x')\n    return JsonResponse({'n': Item.objects.count()})",
    }
    with best.launch(AppSource(files, "manage.py", "Django")) as instance:
        start = instance.wait_ready(20)
        assert start.ok, start
        assert json.loads(ask(instance).body) == {"n": 1}


def test_each_instance_starts_with_an_empty_database(best: Sandbox) -> None:
    code = (
        HEAD
        + """
from django.contrib.auth.models import User
def view(request):
    User.objects.create_user(str(User.objects.count()))
    return JsonResponse({"n": User.objects.count()})
urlpatterns = [path("", view)]
"""
    )
    assert [json.loads(first(best, code).body)["n"] for _ in range(2)] == [1, 1]
