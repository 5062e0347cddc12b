"""Django apps in one module: settings, app registry, tables and URLs around the generated code."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_webbench.sandbox.contract import AppSource
from pytest_webbench.sandbox.inside.discovery import NoApp

_CONFIGURES_ITSELF = re.compile(r"\bsettings\.configure\s*\(|DJANGO_SETTINGS_MODULE")
_HOSTS = ["127.0.0.1", "localhost", "testserver"]
_SERVER_COMMANDS = frozenset({"runserver", "runserver_plus", "testserver", "shell", "dbshell"})
_DATABASE = "db.sqlite3"
_HASH_ITERATIONS = 1000


def supplied_settings(root_urlconf: str, database: str, secret_key: str = "webbench-secret") -> dict[str, Any]:
    """Return the settings that a module gets which does not configure Django itself."""
    return {
        "DEBUG": False,
        "SECRET_KEY": secret_key,
        "ALLOWED_HOSTS": ["*"],
        "ROOT_URLCONF": root_urlconf,
        "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        "INSTALLED_APPS": [
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "django.contrib.sessions",
        ],
        "MIDDLEWARE": [
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": ["templates"],
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                    ]
                },
            }
        ],
        "CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "STATIC_URL": "static/",
        "MEDIA_ROOT": "media",
        "MEDIA_URL": "media/",
        "USE_TZ": True,
        "LOGGING": {
            "version": 1,
            "disable_existing_loggers": False,
            "handlers": {"stderr": {"class": "logging.StreamHandler"}},
            "loggers": {"django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False}},
        },
    }


def load_site(source: AppSource, starting_database: bytes, execute: Callable[[ModuleType], None]) -> Any:
    """Run the entry module as a Django site and return its WSGI or ASGI application."""
    from pytest_webbench.sandbox.inside.loader import _new_module, module_name

    name = module_name(source.entry)
    _replace_server_commands()
    _lighten_password_hashing()
    module = _new_module(name, source.entry)
    if not any(_CONFIGURES_ITSELF.search(text) for text in source.files.values()):
        _configure(name, starting_database)
    execute(module)
    return _application(module)


def _configure(name: str, starting_database: bytes) -> None:
    import django
    from django.apps import AppConfig
    from django.conf import settings

    if starting_database and not Path(_DATABASE).exists():
        Path(_DATABASE).write_bytes(starting_database)
    secret_key = os.environ.get("SECRET_KEY", "webbench-secret")
    settings.configure(**supplied_settings(name, str(Path(_DATABASE).absolute()), secret_key))
    config = type(
        "GeneratedConfig", (AppConfig,), {"name": name, "label": name.rpartition(".")[2], "path": str(Path.cwd())}
    )
    config.__module__ = __name__
    globals()["GeneratedConfig"] = config
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, f"{__name__}.GeneratedConfig"]
    django.setup()


def _application(module: ModuleType) -> Any:
    import django
    from django.apps import apps
    from django.conf import settings

    if not settings.configured and "DJANGO_SETTINGS_MODULE" not in os.environ:
        raise NoApp("Django settings are not configured")
    if not apps.ready:
        django.setup()
    if not getattr(settings, "ROOT_URLCONF", None) and hasattr(module, "urlpatterns"):
        settings.ROOT_URLCONF = module.__name__
    if not _has_urls(settings.ROOT_URLCONF, module):
        raise NoApp("the module has no urlpatterns")
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, *_HOSTS]
    _create_tables(module)
    return _find_application(module)


def _has_urls(root_urlconf: Any, module: ModuleType) -> bool:
    if root_urlconf in (module.__name__, "__main__"):
        return hasattr(module, "urlpatterns")
    return bool(root_urlconf)


def _find_application(module: ModuleType) -> Any:
    for name in ("application", "app"):
        value = getattr(module, name, None)
        if callable(value) and not isinstance(value, type):
            return value
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


def _create_tables(module: ModuleType) -> None:
    """Create the tables of all managed models that the default database lacks, without migrations."""
    from django.apps import apps
    from django.db import connection

    for config in apps.get_app_configs():
        if config.name == module.__name__:
            config.models_module = module
            config.models = apps.all_models[config.label]
    if not _uses_database():
        return
    present = set(connection.introspection.table_names())
    models = [model for label in apps.all_models.values() for model in label.values()]
    missing = [
        model
        for model in models
        if model._meta.managed
        and not model._meta.proxy
        and not model._meta.auto_created
        and not model._meta.swapped
        and model._meta.db_table not in present
    ]
    if missing:
        with connection.schema_editor() as editor:
            for model in missing:
                editor.create_model(model)


def _uses_database() -> bool:
    from django.conf import settings

    engine = settings.DATABASES.get("default", {}).get("ENGINE", "")
    return bool(engine) and not engine.endswith(".dummy")


def _replace_server_commands() -> None:
    """Let management commands run, except those that would serve or wait for input."""
    from django.core import management

    execute, call = management.execute_from_command_line, management.call_command

    def execute_from_command_line(argv: list[str] | None = None) -> None:
        command = (argv or sys.argv)[1:2]
        if command and command[0] not in _SERVER_COMMANDS:
            execute(argv)

    def call_command(name: Any, *arguments: Any, **options: Any) -> Any:
        return None if name in _SERVER_COMMANDS else call(name, *arguments, **options)

    management.execute_from_command_line = execute_from_command_line
    management.call_command = call_command


def _lighten_password_hashing() -> None:
    """Spend a thousandth of the usual time per password; the format of the hash stays the same."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    PBKDF2PasswordHasher.iterations = _HASH_ITERATIONS


def starting_database() -> bytes:
    """Return a SQLite database with the tables of contenttypes, auth and sessions, made by their migrations.

    A forked process makes it, since Django can be configured once per process.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        with open(writer, "wb") as stream:
            stream.write(_migrated())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as stream:
        database = stream.read()
    os.waitpid(pid, 0)
    return database


def _migrated() -> bytes:
    import django
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    settings.configure(**supplied_settings("", ":memory:"))
    django.setup()
    call_command("migrate", verbosity=0)
    connection.ensure_connection()
    serialized: bytes = connection.connection.serialize()
    return serialized
