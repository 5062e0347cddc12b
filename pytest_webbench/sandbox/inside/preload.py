"""What a zygote imports before the first fork, so that no app has to pay for it.

Imports only: nothing here may leave state that one app could find and another could not.
"""

from __future__ import annotations

import importlib

_STANDARD = (
    "asyncio base64 collections concurrent.futures contextlib csv dataclasses datetime decimal email.message enum"
    " functools hashlib hmac html http.cookies io itertools json logging.config math mimetypes pathlib queue re"
    " secrets sqlite3 statistics string tempfile threading time traceback typing urllib.parse uuid zoneinfo"
).split()
_SHARED = (
    "jwt sqlalchemy sqlalchemy.orm sqlalchemy.ext.declarative sqlalchemy.dialects.sqlite itsdangerous"
    " werkzeug.serving werkzeug.security"
).split()
_FRAMEWORKS = {
    "Flask": (
        "flask flask.views flask_sqlalchemy jinja2.ext markupsafe werkzeug.utils werkzeug.exceptions"
        " werkzeug.debug.tbtools werkzeug.middleware.proxy_fix"
    ).split(),
    "FastAPI": (
        "annotated_types email_validator fastapi fastapi.middleware.cors fastapi.responses fastapi.security"
        " fastapi.staticfiles fastapi.templating pydantic pydantic.v1 pydantic.networks"
        " pydantic.deprecated.class_validators python_multipart"
        " starlette.middleware.base starlette.middleware.sessions starlette.testclient uvicorn uvicorn.lifespan.on"
        " uvicorn.logging uvicorn.loops.asyncio uvicorn.protocols.http.h11_impl"
        " uvicorn.protocols.websockets.auto anyio._backends._asyncio"
    ).split(),
    "Django": (
        "django django.conf django.apps django.contrib.auth django.contrib.auth.hashers"
        " django.contrib.auth.password_validation django.contrib.contenttypes.apps"
        " django.contrib.auth.apps django.contrib.sessions.apps django.contrib.sessions.middleware"
        " django.contrib.sessions.backends.cache django.contrib.sessions.serializers"
        " django.core.cache.backends.locmem django.core.exceptions django.core.handlers.wsgi"
        " django.core.handlers.asgi django.core.mail django.core.management django.core.paginator"
        " django.core.serializers django.core.signing django.core.validators django.core.wsgi django.db"
        " django.db.backends.sqlite3.base django.db.migrations django.db.models django.db.models.sql.compiler"
        " django.forms django.http django.middleware.common django.middleware.csrf django.middleware.security"
        " django.shortcuts django.template.defaultfilters django.template.defaulttags django.template.loader_tags"
        " django.template.response django.urls django.utils.crypto django.utils.decorators"
        " django.utils.translation.trans_real django.views.debug django.views.decorators.cache"
        " django.views.decorators.csrf django.views.decorators.http django.views.generic django.views.static"
        " sqlparse asgiref.sync django.utils.autoreload django.core.management.commands.migrate"
        " django.templatetags.i18n django.template.backends.django"
    ).split(),
}


def import_framework(framework: str) -> bytes:
    """Import what apps of `framework` need, and return the starting database that Django apps get."""
    for name in (*_STANDARD, *_SHARED, *_FRAMEWORKS.get(framework, ())):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    if framework == "FastAPI":
        from .warm import answer_one_request

        answer_one_request()
    if framework == "Django":
        from .django_site import starting_database

        return starting_database()
    return b""
