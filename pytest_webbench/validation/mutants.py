"""Small faults planted in a reference solution: what the checks of a case ought to notice.

Web code goes wrong in its own ways (status codes, JSON keys, decorators, locks), which the operators of
general mutation libraries do not know; and those libraries drive test suites, while here a mutant is just
text to be judged like any answer. A mutant changes one span of the source and leaves the rest as written,
so that its diff is one line and its id survives edits elsewhere in the file.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_COMPARISONS = {
    "==": "!=",
    "!=": "==",
    "<=": "<",
    ">=": ">",
    "<": "<=",
    ">": ">=",
    "not in": "in",
    "is not": "is",
    "in": "not in",
    "is": "is not",
}
_ARITHMETIC = {"//": "/", "**": "*", "+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
_STATUS = {
    200: 201, 201: 200, 202: 200, 204: 200, 301: 302, 302: 200, 303: 302, 304: 200, 307: 302, 308: 301,
    400: 422, 401: 403, 403: 401, 404: 400, 405: 404, 409: 400, 410: 404, 412: 409, 413: 400, 415: 400,
    416: 400, 422: 400, 423: 409, 428: 412, 429: 403, 500: 400, 501: 500, 502: 500, 503: 500, 504: 502,
}  # fmt: skip
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
_TRANSFORMS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title"})
_DOCUMENTATION = frozenset({"title", "description", "summary", "verbose_name", "help_text"})
_NAMED_STATUS = re.compile(r"HTTP_(\d{3})_\w+")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed solution: `line` is where, `operator` what kind, `diff` the changed lines."""

    id: str
    operator: str
    line: int
    diff: str
    code: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replace the bytes from `start` to `end` by `text`."""

    operator: str
    start: int
    end: int
    text: str
    scope: str


def all_mutants(source: str) -> tuple[Mutant, ...]:
    """Return every mutant of `source` that still compiles, in the order of their places.

    The id of a mutant is made of its operator, function, line of text and change, not of line numbers.
    """
    data = source.encode()
    edits = sorted(_Editor(data).edits(ast.parse(source)), key=lambda edit: (edit.start, edit.end, edit.text))
    seen = {source}
    counts: Counter[str] = Counter()
    mutants = []
    for edit in edits:
        code = (data[: edit.start] + edit.text.encode() + data[edit.end :]).decode()
        if code in seen or not _compiles(code):
            continue
        seen.add(code)
        place = _place(data, edit)
        counts[place] += 1
        mutants.append(_mutant(source, data, edit, code, f"{place}|{counts[place]}"))
    return tuple(mutants)


def choose(mutants: Sequence[Mutant], count: int | None, seed: str) -> tuple[Mutant, ...]:
    """Return `count` mutants (`None`: all), the same ones for the same seed, in their order."""
    if count is None or count >= len(mutants):
        return tuple(mutants)
    chosen = set(random.Random(seed).sample(range(len(mutants)), count))
    return tuple(mutant for index, mutant in enumerate(mutants) if index in chosen)


def _mutant(source: str, data: bytes, edit: _Edit, code: str, place: str) -> Mutant:
    digest = hashlib.sha256(place.encode()).hexdigest()[:8]
    lines = difflib.unified_diff(source.splitlines(), code.splitlines(), n=0, lineterm="")
    return Mutant(
        id=f"{edit.operator}-{digest}",
        operator=edit.operator,
        line=data.count(b"\n", 0, edit.start) + 1,
        diff="\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))),
        code=code,
    )


def _place(data: bytes, edit: _Edit) -> str:
    begin = data.rfind(b"\n", 0, edit.start) + 1
    stop = data.find(b"\n", edit.start)
    line = data[begin : stop if stop >= 0 else len(data)].strip()
    changed = data[edit.start : edit.end]
    return "|".join((edit.operator, edit.scope, line.decode(), changed.decode(), edit.text))


def _compiles(code: str) -> bool:
    try:
        compile(code, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_documentation(keyword: ast.keyword) -> bool:
    return keyword.arg in _DOCUMENTATION and isinstance(keyword.value, ast.Constant)


class _Editor:
    """Finds the spans to change; offsets count bytes, as the positions of `ast` do."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lines = [0]
        for line in data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def edits(self, node: ast.AST, scope: str = "") -> Iterator[_Edit]:
        """Yield the edits of `node` and of everything below it."""
        if isinstance(node, ast.If) and "__name__" in self._text(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}".lstrip(".")
        for operator, start, end, text in self._changes(node):
            yield _Edit(operator, start, end, text, scope)
        for child in ast.iter_child_nodes(node):
            yield from self.edits(child, scope)

    def _changes(self, node: ast.AST) -> Iterator[tuple[str, int, int, str]]:
        match node:
            case ast.Constant() | ast.Attribute():
                yield from self._values(node)
            case ast.Compare() | ast.BinOp() | ast.BoolOp():
                yield from self._operators(node)
            case ast.Dict() | ast.Call():
                yield from self._members(node)
            case ast.If() | ast.While() | ast.IfExp():
                yield from self._negation(node.test)
            case ast.comprehension(ifs=conditions):
                for condition in conditions:
                    yield from self._negation(condition)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield from self._decorators(node)
            case ast.ExceptHandler(type=ast.expr() as kind):
                yield ("except", *self._span(kind), "ZeroDivisionError")
            case ast.stmt():
                yield from self._statements(node)

    def _values(self, node: ast.Constant | ast.Attribute) -> Iterator[tuple[str, int, int, str]]:
        span = self._span(node)
        match node:
            case ast.Constant(value=bool(value)):
                yield ("boolean", *span, str(not value))
            case ast.Constant(value=int(value)) if value in _STATUS:
                yield ("status", *span, str(_STATUS[value]))
            case ast.Constant(value=int() | float() as number):
                yield ("number", *span, repr(number + 1))
            case ast.Attribute(attr=name) if found := _NAMED_STATUS.fullmatch(name):
                yield ("status", *span, str(_STATUS.get(int(found[1]), 418)))

    def _operators(self, node: ast.Compare | ast.BinOp | ast.BoolOp) -> Iterator[tuple[str, int, int, str]]:
        match node:
            case ast.Compare(left=left, comparators=rest):
                kind, operands, swaps = "compare", [left, *rest], _COMPARISONS
            case ast.BinOp(left=left, right=right):
                kind, operands, swaps = "arithmetic", [left, right], _ARITHMETIC
            case ast.BoolOp(values=values):
                kind, operands, swaps = "logic", values, {"and": "or", "or": "and"}
        for before, after in pairwise(operands):
            start, end = self._span(before)[1], self._span(after)[0]
            gap = self._data[start:end].decode()
            symbol = next((symbol for symbol in swaps if symbol in gap), None)
            if symbol:
                yield kind, start, end, gap.replace(symbol, swaps[symbol], 1)

    def _members(self, node: ast.Dict | ast.Call) -> Iterator[tuple[str, int, int, str]]:
        match node:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is not None:
                        yield "key", self._span(key)[0], self._past_comma(self._span(value)[1]), ""
            case ast.Call(func=function, args=arguments, keywords=keywords):
                for keyword in keywords:
                    if keyword.arg is not None and not _is_documentation(keyword):
                        start, end = self._span(keyword)
                        yield "argument", start, self._past_comma(end), ""
                if isinstance(function, ast.Name) and function.id in _FUNCTIONS:
                    yield ("function", *self._span(function), _FUNCTIONS[function.id])
                if isinstance(function, ast.Attribute) and function.attr in _TRANSFORMS and not arguments:
                    yield ("transform", *self._span(node), self._text(function.value))

    def _negation(self, test: ast.expr) -> Iterator[tuple[str, int, int, str]]:
        match test:
            case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]):
                return  # swapping the comparison is the same fault
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield ("condition", *self._span(test), f"({self._text(operand)})")
            case _:
                yield ("condition", *self._span(test), f"(not ({self._text(test)}))")

    def _decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[tuple[str, int, int, str]]:
        for decorator in node.decorator_list:
            start, end = self._span(decorator)
            yield "decorator", self._data.rindex(b"@", 0, start), end, ""

    def _statements(self, node: ast.stmt) -> Iterator[tuple[str, int, int, str]]:
        span = self._span(node)
        match node:
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Delete() | ast.Raise():
                yield ("statement", *span, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield ("statement", *span, "pass")
            case ast.Continue():
                yield ("statement", *span, "break")
            case ast.With(items=items) | ast.AsyncWith(items=items) if not any(i.optional_vars for i in items):
                yield "with", span[0], self._span(items[-1].context_expr)[1], "if True"

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        start = self._lines[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._data[start:end].decode()

    def _past_comma(self, end: int) -> int:
        found = re.compile(rb"\s*,").match(self._data, end)
        return found.end() if found else end
