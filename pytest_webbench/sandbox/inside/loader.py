"""Load generated code as a module and find the app in it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from pytest_webbench.sandbox.contract import AppSource
from pytest_webbench.sandbox.inside.discovery import NoApp, find_app

__all__ = ["NoApp", "load"]


def load(source: AppSource, starting_database: bytes) -> Any:
    """Import the entry file and return its WSGI or ASGI app.

    Raise NoApp if there is none, and whatever the generated code raises.
    """
    served: list[Any] = []
    _replace_servers(source.framework, served.append)
    if source.framework == "Django":
        from pytest_webbench.sandbox.inside.django_site import load_site

        return load_site(source, starting_database, lambda module: _execute(module, source.entry))
    module = _new_module(module_name(source.entry), source.entry)
    _execute(module, source.entry)
    return find_app(module, source.framework, served, source.expects)


def module_name(entry: str) -> str:
    """Return the name under which `entry` is imported: its own, or `app` where that would shadow a module."""
    path = PurePosixPath(entry)
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    top = name.split(".")[0]
    taken = top in sys.stdlib_module_names or top in sys.modules or not top.isidentifier()
    return "app" if taken or path.suffix != ".py" or top.startswith("__") else name


def _new_module(name: str, entry: str) -> ModuleType:
    parent, _, _ = name.rpartition(".")
    if parent:
        importlib.import_module(parent)
    spec = importlib.util.spec_from_file_location(name, Path(entry).absolute())
    if spec is None:
        raise NoApp(f"{entry} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    return module


def _execute(module: ModuleType, entry: str) -> None:
    """Run the entry file in `module`; scripts that look for themselves as `__main__` find it there too."""
    path = Path(entry).absolute()
    sys.modules["__main__"] = module
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    exec(code, module.__dict__)


def _replace_servers(framework: str, remember: Callable[[Any], None]) -> None:
    """Turn calls that would start a server into notes of the app that they name."""

    def run(app: Any, *_arguments: Any, **_options: Any) -> None:
        remember(app)

    import werkzeug.serving

    werkzeug.serving.run_simple = lambda _host, _port, application, *_rest, **_options: remember(application)
    if framework == "Flask":
        import flask

        flask.Flask.run = run  # type: ignore[method-assign, assignment]
    elif framework == "FastAPI":
        import uvicorn

        uvicorn.run = run
        uvicorn.main.run = run  # type: ignore[attr-defined]
