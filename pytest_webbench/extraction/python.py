"""What Python itself says about a text: whether it parses and compiles, what it creates and uses."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

# What `ast.parse` and `compile` raise for a text that is no Python; UnicodeEncodeError is a ValueError.
_REJECTIONS = (SyntaxError, ValueError, RecursionError, MemoryError)
_OTHER_APPS = ("Starlette", "Quart", "Sanic", "Litestar", "Bottle")
_APP_CLASSES = {"Flask": "flask", "FastAPI": "fastapi", **dict.fromkeys(_OTHER_APPS, "other")}
_ROUTER_CLASSES = {"Blueprint": "flask", "APIRouter": "fastapi"}
_TEST_MODULES = frozenset({"pytest", "unittest", "fastapi.testclient", "starlette.testclient", "django.test"})
_APP_IN_TEXT = {
    "flask": re.compile(r"\bFlask\(|^from flask import\b", re.MULTILINE),
    "fastapi": re.compile(r"\bFastAPI\(|^from fastapi import\b", re.MULTILINE),
    "django": re.compile(r"^urlpatterns\b|^from django\.", re.MULTILINE),
}
FRAMEWORKS = tuple(_APP_IN_TEXT)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text was rejected: the exception's type name, its words, the line (1-based) if there is one."""

    error_type: str
    message: str
    line: int | None


def parse(code: str) -> ast.Module | Problem:
    """Parse the UTF-8 bytes that a file with this text would hold; warnings never matter."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code.encode("utf-8"))
    except _REJECTIONS as error:
        return _problem(error)


def compile_problem(code: str) -> Problem | None:
    """Return why the text does not compile to a module, or `None` when it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code.encode("utf-8"), "<answer>", "exec", dont_inherit=True)
    except _REJECTIONS as error:
        return _problem(error)
    return None


def _problem(error: Exception) -> Problem:
    if isinstance(error, SyntaxError):
        return Problem(type(error).__name__, error.msg or "invalid syntax", error.lineno or None)
    return Problem(type(error).__name__, str(error) or "too complex for Python's parser", None)


def is_substantive(tree: ast.Module) -> bool:
    """Tell code from prose that happens to parse: an import, a definition or an assignment is needed."""
    return any(isinstance(node, _SUBSTANCE) for node in ast.walk(tree))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text is made of.

    `apps` and `routers` name the frameworks (lower case; "other" for one we do not know) whose
    application or router object the text creates from a class that it also imports; `partial` those
    whose class it calls without importing it. `objects` are the names given to such objects. `binds` and
    `reads` are all names stored and loaded anywhere in the text, `missing` those that nothing in it binds;
    `provides` are the names bound at module level, `defines` its functions and classes.
    """

    parses: bool
    compiles: bool = False
    substantive: bool = False
    apps: frozenset[str] = frozenset()
    routers: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    provides: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    is_test: bool = False
    only_runs: bool = False


def facts(code: str) -> Facts:
    """Analyse a text in time linear in its length; a text that does not parse is judged by its words."""
    tree = parse(code)
    if isinstance(tree, Problem):
        named = frozenset(name for name, pattern in _APP_IN_TEXT.items() if pattern.search(code))
        return Facts(parses=False, partial=named)
    survey = _Survey.of(tree)
    apps, routers, partial, objects = survey.creations()
    definitions = frozenset(node.name for node in tree.body if isinstance(node, _DEFINITIONS))
    return Facts(
        parses=True,
        compiles=compile_problem(code) is None,
        substantive=survey.substantive,
        apps=apps,
        routers=routers,
        partial=partial,
        objects=objects,
        binds=frozenset(survey.binds),
        reads=frozenset(survey.reads),
        missing=frozenset(survey.reads - survey.binds - _BUILTINS),
        provides=frozenset(_module_level(tree)),
        defines=definitions,
        is_test=not apps and (survey.uses_tests or any(n.startswith(("test_", "Test")) for n in definitions)),
        only_runs=bool(tree.body) and all(_starts_server(node) for node in tree.body),
    )


_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SUBSTANCE = (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign)


@dataclass(slots=True)
class _Survey:
    """What one walk over a tree (without recursion: trees may be deep) gathers."""

    substantive: bool = False
    uses_tests: bool = False
    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)
    named: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: ast.Module) -> _Survey:
        survey = cls()
        for node in ast.walk(tree):
            survey._see(node)
        survey.uses_tests |= not survey.modules.isdisjoint(_TEST_MODULES)
        return survey

    def _see(self, node: ast.AST) -> None:
        if isinstance(node, _SUBSTANCE):
            self.substantive = True
            self._see_statement(node)
        elif isinstance(node, ast.Name):
            (self.reads if isinstance(node.ctx, ast.Load) else self.binds).add(node.id)
        elif isinstance(node, ast.arg):
            self.binds.add(node.arg)
        elif isinstance(node, ast.Call):
            self.calls.append(node)
        elif isinstance(node, ast.Attribute):
            self.uses_tests |= node.attr == "test_client"

    def _see_statement(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=items):
                self.modules.update(item.name for item in items)
                self.binds.update(map(_bound_by, items))
            case ast.ImportFrom(module=module, names=items):
                self.modules.add(module or "")
                self.aliases.update({_bound_by(item): item.name for item in items})
                self.binds.update(map(_bound_by, items))
            case ast.Assign(targets=targets, value=value):
                self.named[id(value)] = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.named[id(value)] = [name]
            case ast.AugAssign(target=ast.Name(id=name) as target):
                self.reads.add(name)
                target.ctx = ast.Load()
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.binds.add(name)

    def creations(self) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
        """Return the frameworks of apps, of routers, of apps without import, and the names given to them."""
        apps: set[str] = set()
        routers: set[str] = set()
        partial: set[str] = set()
        objects: set[str] = set()
        for call in self.calls:
            root, cls = self._callee(call)
            app, router = _APP_CLASSES.get(cls), _ROUTER_CLASSES.get(cls)
            if app is None and router is None:
                continue
            objects.update(self.named.get(id(call), ()))
            if app is not None:
                (apps if root in self.binds else partial).add(app)
            elif router is not None and root in self.binds:
                routers.add(router)
        if "urlpatterns" in self.binds:
            apps.add("django")
            objects.add("urlpatterns")
        elif any(module.partition(".")[0] == "django" for module in self.modules):
            routers.add("django")
        return frozenset(apps), frozenset(routers), frozenset(partial), frozenset(objects)

    def _callee(self, call: ast.Call) -> tuple[str, str]:
        match call.func:
            case ast.Name(id=name):
                return name, self.aliases.get(name, name)
            case ast.Attribute(value=ast.Name(id=root), attr=attr):
                return root, attr
        return "", ""


def _bound_by(item: ast.alias) -> str:
    return item.asname or item.name.partition(".")[0]


def _module_level(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=items) | ast.ImportFrom(names=items):
                yield from map(_bound_by, items)
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _starts_server(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="run"))):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False
