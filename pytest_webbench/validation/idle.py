"""Apps that do nothing: the checks of a case must not let any of them pass."""

from __future__ import annotations

from collections.abc import Mapping

_FLASK = """\
from flask import Flask

app = Flask(__name__, static_folder=None)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@app.route("/", defaults={"path": ""}, methods=METHODS)
@app.route("/<path:path>", methods=METHODS)
def answer(path):
    return {}, STATUS
"""
_FASTAPI = """\
from fastapi import FastAPI
from fastapi.responses import JSONResponse

app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@app.api_route("/{path:path}", methods=METHODS)
def answer(path: str):
    return JSONResponse({}, STATUS)
"""
_DJANGO = """\
from django.http import JsonResponse
from django.urls import re_path
from django.views.decorators.csrf import csrf_exempt


@csrf_exempt
def answer(request):
    return JsonResponse({}, status=STATUS)


urlpatterns = [re_path("", answer)]
"""
_EMPTY = {
    "Flask": "from flask import Flask\n\napp = Flask(__name__, static_folder=None)\n",
    "FastAPI": "from fastapi import FastAPI\n\napp = FastAPI()\n",
    "Django": "urlpatterns = []\n",
}
_ANSWERING = {"Flask": _FLASK, "FastAPI": _FASTAPI, "Django": _DJANGO}


def idle_apps(framework: str) -> Mapping[str, str]:
    """Return, by a name for people, an app without routes and two that give every request one answer."""
    answering = _ANSWERING[framework]
    return {
        "an empty app": _EMPTY[framework],
        "an app that answers 200 {} to everything": answering.replace("STATUS", "200"),
        "an app that answers 404 to everything": answering.replace("STATUS", "404"),
    }
