"""One walk over a tree-sitter parse: everything that the syntax and data-flow parts need of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

Part = int | str | None
ShapeKey = tuple[Part, ...]
ShapeId = Callable[[ShapeKey], int | None]

Node = tuple[str, str | None, int, int, "Sequence[Node]", bool]
"""(kind, field, first, end, children, plain): a node that holds the variables `first` to `end - 1`.

`plain`: nothing in this subtree defines, repeats or reorders, so its variables in order say it all. Then
the children are kept only where they may be paired: on the left or right side of something.
"""

FLOW_KINDS = frozenset(
    {
        "assignment",
        "augmented_assignment",
        "default_parameter",
        "for_in_clause",
        "for_statement",
        "if_statement",
        "while_statement",
    }
)
ERROR_SYMBOL = 65535
STATEMENT_LISTS = frozenset({"block", "module"})
SPELLED_DEPTH = 200
"""Depth of trees up to which S-expressions are made: their making recurses."""


@dataclass(slots=True)
class Variables:
    """The tokens that are more than grammar, in order: identifiers, literals, whole strings.

    `names[i]` is the text of the i-th, without line ends; `definable[i]` is true of identifiers, whose
    first use defines them.
    """

    names: list[bytes] = field(default_factory=list)
    definable: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ParsedCode:
    """A parse. `shapes` has one entry per subtree: its shape's id, `None` where `shape_id` knew none."""

    root: Node
    variables: Variables
    shapes: list[int | None]


class _Symbol(NamedTuple):
    """What the walk must know of a grammar symbol; `token` is the node that stands for any such token."""

    kind: str
    text: bytes
    named: bool
    steers: bool
    string: bool
    token: Node

    @classmethod
    def of(cls, kind: str, *, named: bool) -> _Symbol:
        return cls(kind, kind.encode(), named, kind in FLOW_KINDS, kind == "string", (kind, None, 0, 0, (), True))


class _Grammar(NamedTuple):
    language: tree_sitter.Language
    symbols: dict[int, _Symbol]
    fields: dict[int | None, str | None]


@cache
def load_grammar() -> _Grammar:
    """Load the Python grammar, once a process."""
    import tree_sitter
    import tree_sitter_python

    language = tree_sitter.Language(tree_sitter_python.language())
    symbols = {
        number: _Symbol.of(language.node_kind_for_id(number) or "", named=language.node_kind_is_named(number))
        for number in range(language.node_kind_count)
    }
    symbols[ERROR_SYMBOL] = _Symbol.of("ERROR", named=True)
    fields: dict[int | None, str | None] = {None: None}
    fields.update((number, language.field_name_for_id(number)) for number in range(1, language.field_count + 1))
    return _Grammar(language, symbols, fields)


def parse(code: str, shape_id: ShapeId) -> ParsedCode:
    """Parse Python text of any kind; text that is no Python gives a tree with error nodes.

    A shape is what a subtree's S-expression shows: named nodes and field names. Each subtree's shape is
    given as a key to `shape_id`, bottom up: (symbol, field of 1st child, id of 1st child, ...), or the
    S-expression itself where it shows a missing line end, for which there is no node.
    """
    import tree_sitter

    grammar = load_grammar()
    source = code.encode("utf-8", "replace")
    tree = tree_sitter.Parser(grammar.language).parse(source)
    return _walk(tree, source, grammar, shape_id)


def _walk(tree: tree_sitter.Tree, source: bytes, grammar: _Grammar, shape_id: ShapeId) -> ParsedCode:
    """Visit every node once, in one loop for speed: `open_nodes` holds the ancestors of the present one."""
    _, symbols, fields = grammar
    broken = spelled = tree.root_node.has_error
    variables, shapes = Variables(), list[int | None]()
    names, definable = variables.names, variables.definable
    cursor = tree.walk()
    enter, advance, leave = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    open_nodes: list[tuple[int, _Symbol, int, int, list[Part], list[Node]]] = []
    key: list[Part] = []
    children: list[Node] = []
    count = steering = string_depth = 0
    while True:
        node: tree_sitter.Node = cursor.node  # type: ignore[assignment]
        number = node.kind_id
        symbol = symbols[number]
        kind, text, named, steers, is_string, token = symbol
        if enter():
            open_nodes.append((number, symbol, count, steering, key, children))
            key, children = [number], []
            spelled = spelled and len(open_nodes) < SPELLED_DEPTH
            if not string_depth:
                if steers:
                    steering += 1
                elif is_string:
                    string_depth = len(open_nodes)
                    names.append(source[node.start_byte : node.end_byte].replace(b"\n", b""))
                    definable.append(False)
                    count += 1
            continue
        if named or (broken and node.is_missing):
            field_id = cursor.field_id
            key += (field_id, str(node) if broken and (node.is_missing or node.is_error) else ~number)
            first = count
            if not string_depth and kind != "comment":
                name = source[node.start_byte : node.end_byte]
                if name != text:
                    names.append(name)
                    definable.append(kind == "identifier")
                    count += 1
            children.append((kind, fields[field_id], first, count, (), True))
        else:
            children.append(token)
        while not advance():
            if not leave():
                shapes = shapes or [shape_id(tuple(key))]
                return ParsedCode(children[0], variables, shapes)
            if string_depth == len(open_nodes):
                string_depth = 0
            inner_key, inner = key, children
            number, symbol, first, before, key, children = open_nodes.pop()
            if spelled and symbol.kind in STATEMENT_LISTS:
                inner_key = _spelling(cursor) or inner_key
            shape = shape_id(tuple(inner_key))
            shapes.append(shape)
            field_id = cursor.field_id
            role = fields[field_id]
            plain = steering == before
            kept = () if plain and role != "left" and role != "right" else inner
            children.append((symbol.kind, role, first, count, kept, plain))
            if symbol.named:
                key += (field_id, shape if len(inner_key) > 1 else ~number)
            else:
                key += inner_key[1:]


def _spelling(cursor: tree_sitter.TreeCursor) -> list[Part]:
    """Return the S-expression of a block in which a line end is missing: that has no node. Else nothing."""
    node = cursor.node
    text = str(node) if node and node.has_error else ""
    return [text, None] if "(MISSING _" in text else []
