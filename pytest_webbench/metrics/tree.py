"""One walk over a tree-sitter parse: everything that the syntax and data-flow parts need of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

ShapeKey = tuple[int | str | None, ...]
ShapeId = Callable[[ShapeKey], int | None]

Node = tuple[str, str | None, int, int, "list[Node]", bool]
"""(kind, field, first, end, children, plain): a node whose tokens are `first` to `end - 1`.

`plain`: nothing in this subtree defines, repeats or reorders, so its tokens in order say it all.
"""

DEFINING_KINDS = frozenset({"assignment", "augmented_assignment", "default_parameter", "for_in_clause"})
CONTROL_KINDS = frozenset({"if_statement", "for_statement", "while_statement"})
SPECIAL_KINDS = DEFINING_KINDS | CONTROL_KINDS


@dataclass(slots=True)
class Tokens:
    """The tokens of a text in order, without comments; a whole string is one token.

    `names[i]` is the text of token i; `variable[i]` is true where it differs from its grammar symbol
    (identifiers and literals, not keywords and operators); `identifier[i]` where it can name a variable.
    """

    names: list[bytes] = field(default_factory=list)
    variable: list[bool] = field(default_factory=list)
    identifier: list[bool] = field(default_factory=list)

    def append(self, kind: str, symbol: bytes, text: bytes) -> None:
        """Add a token; a token over several lines counts without its line ends."""
        self.names.append(text.replace(b"\n", b""))
        self.variable.append(text != symbol)
        self.identifier.append(kind == "identifier")


@dataclass(frozen=True, slots=True)
class ParsedCode:
    """A parse. `shapes` has one entry per subtree: its shape's id, `None` where `shape_id` knew none."""

    root: Node
    tokens: Tokens
    shapes: list[int | None]


class _Symbol(NamedTuple):
    kind: str
    text: bytes
    named: bool


class _Grammar(NamedTuple):
    language: tree_sitter.Language
    symbols: dict[int, _Symbol]
    fields: dict[int | None, str | None]


@cache
def _grammar() -> _Grammar:
    import tree_sitter
    import tree_sitter_python

    language = tree_sitter.Language(tree_sitter_python.language())
    kinds = {i: language.node_kind_for_id(i) or "" for i in range(language.node_kind_count)}
    symbols = {i: _Symbol(k, k.encode(), language.node_kind_is_named(i)) for i, k in kinds.items()}
    symbols[65535] = _Symbol("ERROR", b"ERROR", True)
    fields = {i: language.field_name_for_id(i) for i in range(1, language.field_count + 1)}
    return _Grammar(language, symbols, {None: None, **fields})


def parse(code: str, shape_id: ShapeId) -> ParsedCode:
    """Parse Python text of any kind; text that is no Python gives a tree with error nodes.

    A shape is what a subtree's S-expression shows: named nodes and field names. Each subtree's shape is
    given as a key to `shape_id`, bottom up: (kind, field of 1st child, id of 1st child, ...).
    """
    import tree_sitter

    grammar = _grammar()
    source = code.encode("utf-8", "replace")
    tree = tree_sitter.Parser(grammar.language).parse(source)
    return _walk(tree, source, grammar, shape_id)


def _walk(tree: tree_sitter.Tree, source: bytes, grammar: _Grammar, shape_id: ShapeId) -> ParsedCode:
    _, symbols, fields = grammar
    broken = tree.root_node.has_error
    tokens, shapes = Tokens(), []
    names = tokens.names
    cursor = tree.walk()
    stack: list[tuple[int, _Symbol, int | None, int, int, list[int | str | None], list[Node]]] = []
    key: list[int | str | None] = []
    children: list[Node] = []
    specials = string_depth = 0
    while True:
        node = cursor.node
        kind_id = node.kind_id
        symbol = symbols[kind_id]
        field_id = cursor.field_id
        if cursor.goto_first_child():
            stack.append((kind_id, symbol, field_id, len(names), specials, key, children))
            key, children = [kind_id], []
            if string_depth:
                continue
            if symbol.kind in SPECIAL_KINDS:
                specials += 1
            elif symbol.kind == "string":
                string_depth = len(stack)
                tokens.append("string", symbol.text, source[node.start_byte : node.end_byte])
            continue
        first = len(names)
        if not string_depth and symbol.kind != "comment":
            tokens.append(symbol.kind, symbol.text, source[node.start_byte : node.end_byte])
        children.append((symbol.kind, fields[field_id], first, len(names), [], True))
        if broken and (node.is_missing or node.is_error):
            key += (field_id, str(node))
        elif symbol.named:
            key += (field_id, ~kind_id)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                if not shapes:
                    shapes.append(shape_id(tuple(key)))
                return ParsedCode(children[0], tokens, shapes)
            if string_depth == len(stack):
                string_depth = 0
            shape = shape_id(tuple(key))
            shapes.append(shape)
            inner_key, inner = key, children
            kind_id, symbol, field_id, first, before, key, children = stack.pop()
            children.append((symbol.kind, fields[field_id], first, len(names), inner, specials == before))
            if symbol.named:
                key += (field_id, shape)
            else:
                key += inner_key[1:]
