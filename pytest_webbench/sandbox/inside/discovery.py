"""Find the app in a module, as people name and build apps."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal

_NAMES = ("app", "application")
_FACTORY = re.compile(
    r"(create|make|build|get|init|setup|new)_(\w+_)?(app|application|api|server)|(app|application)_factory"
)


class NoApp(LookupError):
    """The module defines nothing that could be served; the message says what was found instead."""


def find_app(module: ModuleType, framework: str, served: Sequence[Any], expects: Literal["app", "router"]) -> Any:
    """Return the app of `module`, looked for in this order.

    1. `app`, `application`: an instance of the framework's class, or any WSGI or ASGI callable.
    2. The only instance of the framework's class; with several, the one that the code itself tried to run.
    3. A factory (`create_app`, `make_app` ...) that needs no arguments.
    4. What the code tried to run (`served`).
    5. A lone Blueprint or APIRouter, mounted on a fresh app, if `expects` is "router".
    Raise NoApp otherwise.
    """
    app_class, router_class = _classes(framework)
    for name in _NAMES:
        value = getattr(module, name, None)
        if isinstance(value, app_class) or _is_server_callable(value, router_class):
            return value
    return (
        _only_instance(module, app_class, served)
        or _from_factory(module, app_class)
        or _run_by_itself(served, app_class)
        or _mounted(module, app_class, router_class, expects)
    )


def _classes(framework: str) -> tuple[type[Any], type[Any]]:
    if framework == "Flask":
        from flask import Blueprint, Flask

        return Flask, Blueprint
    if framework == "FastAPI":
        from fastapi import APIRouter
        from starlette.applications import Starlette

        return Starlette, APIRouter
    return _Nothing, _Nothing


class _Nothing:
    """The class of no app: a bare WSGI or ASGI callable is all that can be found."""


def _is_server_callable(value: Any, router_class: type[Any]) -> bool:
    if isinstance(value, (type, router_class)) or not callable(value):
        return False
    if not inspect.isfunction(value):
        return True
    return len(inspect.signature(value).parameters) in (2, 3)


def _named(module: ModuleType, kind: type[Any]) -> dict[str, Any]:
    """Return the instances of `kind` by the first name that each has in the module."""
    found: dict[int, tuple[str, Any]] = {}
    for name, value in vars(module).items():
        if isinstance(value, kind):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def _only_instance(module: ModuleType, app_class: type[Any], served: Sequence[Any]) -> Any:
    instances = _named(module, app_class)
    if len(instances) <= 1:
        return next(iter(instances.values()), None)
    run = [app for app in served if any(app is instance for instance in instances.values())]
    if run:
        return run[0]
    raise NoApp(f"several apps and none is called app: {', '.join(instances)}")


def _from_factory(module: ModuleType, app_class: type[Any]) -> Any:
    factories = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and (name in _NAMES or _FACTORY.fullmatch(name))
    }
    needs = ""
    for name, factory in factories.items():
        required = [
            parameter.name
            for parameter in inspect.signature(factory).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if required:
            needs = f"the factory {name} cannot be called without {', '.join(required)}"
            continue
        app = factory()
        if isinstance(app, app_class) or _is_server_callable(app, _Nothing):
            return app
    if needs:
        raise NoApp(needs)
    return None


def _run_by_itself(served: Sequence[Any], app_class: type[Any]) -> Any:
    return next((app for app in served if isinstance(app, app_class)), None)


def _mounted(
    module: ModuleType, app_class: type[Any], router_class: type[Any], expects: Literal["app", "router"]
) -> Any:
    routers = _named(module, router_class)
    if not routers:
        raise NoApp("the module has no app, no application and no app factory")
    if expects == "app":
        raise NoApp(f"only {router_class.__name__} objects, no app: {', '.join(routers)}")
    app = app_class(module.__name__) if router_class.__name__ == "Blueprint" else _fastapi()
    register = app.register_blueprint if router_class.__name__ == "Blueprint" else app.include_router
    for router in routers.values():
        register(router)
    return app


def _fastapi() -> Any:
    from fastapi import FastAPI

    return FastAPI()
