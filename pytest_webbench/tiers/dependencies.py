"""Packages: which ones an answer may import, and whose fault it is when one is missing.

The verdict must not depend on what else happens to be installed here, so imports are compared with the
case's list before anything runs.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import PurePosixPath

from packaging.requirements import Requirement

from pytest_webbench.cases import Case

MISSING_DEPENDENCY = "missing_dependency"
_NO_MODULE = re.compile(r"No module named '([A-Za-z_]\w*)")
_OPTIONAL = {
    'Form data requires "python-multipart"': "python_multipart",
    "email-validator is not installed": "email_validator",
}
_IMPLIED = {
    "FastAPI": ("fastapi", "python-multipart", "email-validator", "uvicorn"),
    "Flask": ("flask",),
    "Django": ("django",),
}
_DISTRIBUTIONS = {
    "bs4": "beautifulsoup4",
    "corsheaders": "django-cors-headers",
    "django_filters": "django-filter",
    "dotenv": "python-dotenv",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "multipart": "python-multipart",
    "PIL": "pillow",
    "rest_framework": "djangorestframework",
    "rest_framework_simplejwt": "djangorestframework-simplejwt",
    "yaml": "PyYAML",
}
_LOCAL_NAMES = frozenset(
    {"api", "app", "auth", "config", "constants", "crud", "database", "db", "dependencies", "extensions"}
    | {"forms", "handlers", "helpers", "main", "middleware", "models", "project", "routers", "routes"}
    | {"schemas", "serializers", "server", "services", "settings", "tasks", "urls", "utils", "views"}
)


def unlisted_imports(files: Mapping[str, str], case: Case) -> tuple[str, ...]:
    """Return the packages that the answer imports although the case does not allow them.

    Allowed is what the case lists, its framework, and what those depend on. An import inside `try` may
    fail without harm and does not count; nor does a module of the answer's own, delivered or not.
    """
    own = {part for name in files for part in PurePosixPath(name).with_suffix("").parts} | _LOCAL_NAMES
    imported = dict.fromkeys(module for text in files.values() for module in _imports(text))
    return tuple(
        module
        for module in imported
        if module not in own and module not in sys.stdlib_module_names and not _allowed(module, case)
    )


def missing_module(log: str) -> str | None:
    """Return the import name that the app could not find, by the last such line of its log."""
    for text, module in _OPTIONAL.items():
        if text in log:
            return module
    found = _NO_MODULE.findall(log)
    return found[-1] if found else None


def lacks(module: str, case: Case) -> bool:
    """Whether `module` is allowed by the case and absent here: this machine's fault.

    An app writes its own log, so what the log says of `module` is not enough.
    """
    return _allowed(module, case) and importlib.util.find_spec(module) is None


def distribution(module: str) -> str:
    """Return the name under which `module` is installed."""
    return _DISTRIBUTIONS.get(module, module.replace("_", "-"))


def _imports(text: str) -> Iterator[str]:
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        match waiting.pop():
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Try(handlers=handlers, finalbody=rest):
                waiting += [*handlers, *rest]
            case node:
                waiting += ast.iter_child_nodes(node)


def _allowed(module: str, case: Case) -> bool:
    allowed = _with_requirements(tuple(_normal(name) for name in (*case.imports, *_IMPLIED[case.framework])))
    return any(_normal(name) in allowed for name in _candidates(module, distribution(module)))


@cache
def _with_requirements(names: Collection[str]) -> frozenset[str]:
    """Return `names` and all that they require, as far as they are installed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _requirements(name)
    return frozenset(found)


def _requirements(name: str) -> list[str]:
    for candidate in _candidates(name):
        try:
            required = map(Requirement, metadata.requires(candidate) or ())
        except metadata.PackageNotFoundError:
            continue
        return [_normal(item.name) for item in required if not item.marker or item.marker.evaluate({"extra": ""})]
    return []


def _candidates(module: str, *likely: str) -> Iterator[str]:
    """Yield names under which `module` may be installed; the last ones, all that hold it, take long to find."""
    yield module
    yield from likely
    yield from _providers().get(module, ())


@cache
def _providers() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()
