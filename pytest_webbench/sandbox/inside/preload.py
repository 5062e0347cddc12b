"""What a zygote imports before the first fork, so that no app has to pay for it.

Imports only: nothing here may leave state that one app could find and another could not.
"""

from __future__ import annotations

import importlib

_STANDARD = """
    asyncio base64 collections concurrent.futures contextlib csv dataclasses datetime decimal email.message enum
    functools hashlib hmac html http.cookies io itertools json logging.config math mimetypes pathlib queue re secrets
    sqlite3 statistics string tempfile threading time traceback typing urllib.parse uuid zoneinfo encodings.idna
    encodings.latin_1 encodings.unicode_escape stringprep
"""
_SHARED = """
    jwt sqlalchemy sqlalchemy.orm sqlalchemy.ext.declarative sqlalchemy.dialects.sqlite itsdangerous
    werkzeug.serving werkzeug.security
"""
_FRAMEWORKS = {
    "Flask": """
        flask flask.views flask_sqlalchemy jinja2.ext markupsafe werkzeug.utils werkzeug.exceptions
        werkzeug.debug.tbtools werkzeug.middleware.proxy_fix
    """,
    "FastAPI": """
        annotated_types anyio._backends._asyncio email_validator fastapi fastapi.middleware.cors fastapi.responses
        fastapi.security fastapi.staticfiles fastapi.telemetry._runtime fastapi.templating pydantic
        pydantic.deprecated.class_validators pydantic.networks pydantic.v1 python_multipart
        starlette.middleware.base starlette.middleware.sessions starlette.testclient uvicorn uvicorn.lifespan.on
        uvicorn.logging uvicorn.loops.asyncio uvicorn.protocols.http.h11_impl uvicorn.protocols.websockets.auto
    """,
    "Django": """
        asgiref.sync django django.apps django.conf django.contrib.auth django.contrib.auth.apps
        django.contrib.auth.hashers django.contrib.auth.password_validation django.contrib.auth.validators
        django.contrib.contenttypes.apps django.contrib.sessions.apps django.contrib.sessions.backends.cache
        django.contrib.sessions.middleware django.contrib.sessions.serializers django.core.cache.backends.locmem
        django.core.exceptions django.core.handlers.asgi django.core.handlers.wsgi django.core.mail
        django.core.management django.core.management.commands.migrate django.core.paginator django.core.serializers
        django.core.signing django.core.validators django.core.wsgi django.db django.db.backends.sqlite3.base
        django.db.migrations django.db.models django.db.models.sql.compiler django.forms django.http
        django.middleware.common django.middleware.csrf django.middleware.security django.shortcuts
        django.template.backends.django django.template.defaultfilters django.template.defaulttags
        django.template.loader_tags django.template.response django.templatetags.i18n django.urls
        django.utils.autoreload django.utils.crypto django.utils.decorators django.utils.translation.reloader
        django.utils.translation.trans_real django.views.debug django.views.decorators.cache
        django.views.decorators.csrf django.views.decorators.http django.views.generic django.views.static sqlparse
    """,
}


def import_framework(framework: str) -> bytes:
    """Import what apps of `framework` need, and return the starting database that Django apps get."""
    for name in f"{_STANDARD} {_SHARED} {_FRAMEWORKS.get(framework, '')}".split():
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    if framework == "FastAPI":
        from pytest_webbench.sandbox.inside.warm import answer_one_request

        answer_one_request()
    if framework == "Django":
        from pytest_webbench.sandbox.inside.django_site import starting_database

        return starting_database()
    return b""
