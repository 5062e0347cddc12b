"""Finding the app in a module, as people write apps."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from pytest_webbench.sandbox.inside.discovery import NoApp, find_app
from pytest_webbench.sandbox.inside.loader import module_name

FLASK = "from flask import Flask, Blueprint\n"
FASTAPI = "from fastapi import FastAPI, APIRouter\n"


def module_of(code: str) -> ModuleType:
    module = ModuleType("app")
    exec(code, module.__dict__)
    return module


def find(code: str, framework: str = "Flask", *served: str, expects: Any = "app") -> Any:
    module = module_of(code)
    return find_app(module, framework, [getattr(module, name) for name in served], expects), module


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("app = Flask('a')", "app"),
        ("application = Flask('a')", "application"),
        ("server = Flask('a')", "server"),
        ("admin = Flask('b')\napp = Flask('a')", "app"),
        ("web = Flask('a')\nalias = web", "web"),
        ("inner = Flask('a')\nclass Wrap:\n  def __call__(self, e, s): return inner(e, s)\napp = Wrap()", "app"),
        ("def app(environ, start_response): return []", "app"),
        ("app = Blueprint('b', 'b')\nserver = Flask('a')", "server"),
    ],
)
def test_a_flask_app_is_found_by_name_or_as_the_only_one(code: str, name: str) -> None:
    app, module = find(FLASK + code)
    assert app is getattr(module, name)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("app = FastAPI()", "app"),
        ("api = FastAPI()", "api"),
        ("router = APIRouter()\nservice = FastAPI()", "service"),
        ("from starlette.applications import Starlette\nmain = Starlette()", "main"),
        ("async def app(scope, receive, send): pass", "app"),
        ("app = APIRouter()\napi = FastAPI()", "api"),
    ],
)
def test_a_fastapi_app_is_found_by_name_or_as_the_only_one(code: str, name: str) -> None:
    app, module = find(FASTAPI + code, "FastAPI")
    assert app is getattr(module, name)


@pytest.mark.parametrize(
    "factory",
    [
        "create_app()",
        "make_app()",
        "create_app(config=None)",
        "build_application(*args, **kwargs)",
        "get_api()",
        "app_factory()",
        "create_notes_app()",
        "app()",
    ],
)
def test_a_factory_without_required_arguments_is_called(factory: str) -> None:
    app, _ = find(f"{FLASK}def {factory}: return Flask('made')")
    assert app.import_name == "made"


def test_of_several_apps_the_one_that_the_code_runs_is_taken() -> None:
    app, module = find(FLASK + "one = Flask('a')\ntwo = Flask('b')", "Flask", "two")
    assert app is module.two


def test_an_app_that_only_its_own_run_call_names_is_taken() -> None:
    app, module = find(FLASK + "apps = [Flask('a')]\nclass Box: pass\nbox = Box()\nrun = Flask('z')", "Flask", "run")
    assert app is module.run


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("one = Flask('a')\ntwo = Flask('b')", "several apps and none is called app: one, two"),
        ("def create_app(config_name): return Flask('a')", "create_app cannot be called without config_name"),
        ("bp = Blueprint('b', 'b')", "only Blueprint objects, no app: bp"),
        ("x = 1", "no app, no application and no app factory"),
        ("app = Flask", "no app, no application"),
        ("app = None", "no app, no application"),
        ("def create_app(): return None", "no app, no application"),
    ],
)
def test_a_module_without_an_app_says_what_it_has(code: str, message: str) -> None:
    with pytest.raises(NoApp, match=message):
        find(FLASK + code)


def test_a_router_is_mounted_only_where_one_is_expected() -> None:
    app, _ = find(
        FASTAPI + "router = APIRouter(prefix='/x')\n@router.get('/y')\ndef y(): return 1", "FastAPI", expects="router"
    )
    assert "/x/y" in app.openapi()["paths"]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("main.py", "main"),
        ("shop/main.py", "shop.main"),
        ("shop/__init__.py", "shop"),
        ("flask.py", "app"),
        ("site.py", "app"),
        ("my-app.py", "app"),
        ("app", "app"),
        ("__main__.py", "app"),
    ],
)
def test_a_module_is_named_after_its_file_unless_that_shadows_another(entry: str, name: str) -> None:
    import flask

    assert flask
    assert module_name(entry) == name
