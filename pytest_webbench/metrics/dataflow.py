"""CodeBLEU's data-flow part: which share of the reference's data-flow edges occurs in the hypothesis?

The rules are those of the published package: every identifier and literal is a variable, scopes are
ignored, only assignments, loop targets and default parameters define, a loop's body runs twice, and
variables are numbered file-wide in order of appearance. How they are computed is different: the tree
becomes a flat program, each loop body is summarised once as what it does to each variable, and
definitions that meet are joined in a graph. So nothing recurses, and no body is run more than twice,
however deep its loops are nested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pytest_webbench.metrics.reaching import SYMBOLIC, UNDEFINED, Definitions, State, Value
from pytest_webbench.metrics.tree import Node, Variables

Relation = Literal["comesFrom", "computedFrom"]
Edge = tuple[int, Relation, tuple[int, ...]]
"""(number of the variable, relation, numbers of its sources)."""

Span = tuple[int, int]

MAX_ORIGINS = 2_000_000
"""Sources recorded per text; code a thousand times larger than a model's answer stays below."""

READ, DEFINE, IF, BRANCH, END_IF, LOOP, END_LOOP = range(7)

NOTHING: Node = ("", None, 0, 0, (), True)


class Instruction(NamedTuple):
    """A step of the program. Spans are token ranges; `total` is true of an `if` with an `else`."""

    op: int
    span: Span = (0, 0)
    sources: Span = (0, 0)
    relation: Relation = "computedFrom"
    total: bool = False


def dataflow_score(reference: Mapping[Edge, int], hypothesis: Mapping[Edge, int]) -> float:
    """Return the matched share of the reference's edges in [0, 1]; 0 where the reference has none."""
    matched = sum(min(count, hypothesis.get(edge, 0)) for edge, count in reference.items())
    return matched / max(1, sum(reference.values()))


def dataflow_edges(root: Node, variables: Variables) -> Counter[Edge]:
    """Return the edges of a parsed text, with variables numbered by first appearance."""
    return _Flow(_compile(root), variables).run()


def _compile(root: Node) -> list[Instruction]:
    """Flatten a tree into the instructions that define, read, branch and repeat."""
    program: list[Instruction] = []
    pending: list[Node | Instruction] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, Instruction):
            program.append(item)
        elif item[5]:
            if item[2] < item[3]:
                program.append(Instruction(READ, item[2:4]))
        else:
            pending.extend(reversed(_expand(item)))
    return program


def _expand(node: Node) -> Sequence[Node | Instruction]:
    kind, children = node[0], node[4]
    match kind:
        case "assignment" | "augmented_assignment":
            return _assign(_parts(node)) if any(child[1] == "right" for child in children) else []
        case "default_parameter":
            name, value = _child(node, "name"), _child(node, "value")
            return [value, Instruction(DEFINE, name[2:4], value[2:4], "comesFrom")]
        case "for_in_clause":
            return _assign([(_child(node, "left"), children[-1])])
        case "for_statement":
            body = [child for child in children[-1:] if child[0] == "block"]
            return [Instruction(LOOP), *_assign(_parts(node)), *body, Instruction(END_LOOP)]
        case "while_statement":
            return [Instruction(LOOP), *children, Instruction(END_LOOP)]
        case "if_statement":
            return _branches(children)
    loops = [child for child in children if child[0] == "for_in_clause"]
    return loops + [child for child in children if child[0] != "for_in_clause"] if loops else children


def _child(node: Node, field: str) -> Node:
    return next((child for child in node[4] if child[1] == field), NOTHING)


def _parts(node: Node) -> list[tuple[Node, Node]]:
    """Pair the target's children with the value's where their numbers agree, else the two as wholes."""
    left, right = _child(node, "left"), _child(node, "right")
    targets, values = ([part for part in side[4] if part[0] != ","] for side in (left, right))
    if not targets or len(targets) != len(values) or "string" in (left[0], right[0]):
        return [(left, right)]
    return list(zip(targets, values, strict=True))


def _assign(pairs: list[tuple[Node, Node]]) -> list[Node | Instruction]:
    values = [value for _, value in pairs]
    return [*values, *(Instruction(DEFINE, target[2:4], value[2:4]) for target, value in pairs)]


def _branches(children: Sequence[Node]) -> list[Node | Instruction]:
    """The condition and first block are one branch, each `elif` and `else` starts from before them."""
    others = [child for child in children if child[0] in ("elif_clause", "else_clause")]
    first = [child for child in children if child[0] not in ("elif_clause", "else_clause")]
    has_else = any("else" in child[0] for child in children)
    steps: list[Node | Instruction] = [Instruction(IF), *first]
    for child in others:
        steps += (Instruction(BRANCH), child)
    return [*steps, Instruction(END_IF, total=has_else)]


class _Flow:
    """Runs a program over abstract states."""

    def __init__(self, program: list[Instruction], variables: Variables) -> None:
        self.program = program
        self.variables = variables
        self.definitions = Definitions(len(variables.names))
        self.loop_ends: dict[int, int] = {}
        self.summaries: dict[int, Mapping[bytes, Value]] = {}

    def run(self) -> Counter[Edge]:
        """Run the program from a state without definitions."""
        self._summarise_loops()
        trace = _Trace(self.variables)
        self._follow(0, len(self.program), State(self.definitions, UNDEFINED), trace)
        return trace.edges(self.definitions)

    def _summarise_loops(self) -> None:
        """Find out, innermost loops first, what one pass of each loop does to each variable."""
        open_loops: list[int] = []
        for position, instruction in enumerate(self.program):
            if instruction.op == LOOP:
                open_loops.append(position)
            elif instruction.op == END_LOOP:
                start = open_loops.pop()
                state = State(self.definitions, SYMBOLIC)
                self._follow(start + 1, position, state, None)
                self.loop_ends[start] = position
                self.summaries[start] = state.values

    def _follow(self, start: int, stop: int, state: State, trace: _Trace | None) -> None:
        """Run a part of the program; without a trace, loops are replaced by their summaries."""
        program, position = self.program, start
        while position < stop:
            op, span, sources, relation, total = program[position]
            if op == READ:
                self._read(span, state, trace)
            elif op == DEFINE:
                self._define(span, state)
                if trace:
                    trace.define(span, sources, relation, repeated=state.in_loop)
            elif op == IF:
                state.fork()
            elif op == BRANCH:
                state.next_branch()
            elif op == END_IF:
                state.merge(total)
            elif op == END_LOOP:
                state.leave_loop()
            elif trace:
                state.enter_loop(self.summaries[position])
            else:
                state.pass_loop(self.summaries[position])
                position = self.loop_ends[position]
            position += 1

    def _read(self, span: Span, state: State, trace: _Trace | None) -> None:
        names, definable, definitions = self.variables.names, self.variables.definable, self.definitions
        for use in range(*span):
            name = names[use]
            value = state.get(name)
            if trace:
                trace.read(use, name, value)
            if value.unset and definable[use]:
                state.set(name, value.first_use(use, definitions))

    def _define(self, span: Span, state: State) -> None:
        for target in range(*span):
            state.set(self.variables.names[target], Value.defined_at(target))


class _Trace:
    """Collects what each variable token comes from, and which tokens are a source of another.

    No instruction is traced twice, so a token has one relation at most.
    """

    def __init__(self, variables: Variables) -> None:
        self._names = variables.names
        self._origins: list[tuple[Relation, tuple[bytes, ...]] | None] = [None] * len(variables.names)
        self._sources: set[int] = set()
        self._reaching: set[int | None] = {None}
        self._room = MAX_ORIGINS

    def read(self, use: int, name: bytes, value: Value) -> None:
        """Record that a token reads the variable of its name."""
        bound, _, fresh, _ = value
        if bound is None and fresh is None:
            self._origins[use] = ("comesFrom", ())
        else:
            self._origins[use] = ("comesFrom", (name,))
            self._reaching.add(bound)
            self._reaching.add(fresh)

    def define(self, span: Span, sources: Span, relation: Relation, *, repeated: bool) -> None:
        """Record that the variables in one span get their values from those in another."""
        targets = span[1] - span[0]
        if not targets:
            return
        first, end = sources[0], min(sources[1], sources[0] + self._room // targets)
        self._room -= targets * (end - first)
        names = tuple(self._names[first:end])
        if repeated or relation == "comesFrom":
            names = tuple(dict.fromkeys(names))
        if names or relation == "computedFrom":
            self._origins[span[0] : span[1]] = [(relation, names)] * targets
            self._sources.update(range(first, end))

    def edges(self, definitions: Definitions) -> Counter[Edge]:
        """Number the variables, sources first, and count the edges of tokens that have or are a source."""
        sources = self._sources | definitions.resolve(self._reaching)
        numbers: dict[bytes, int] = {}
        number_of = numbers.setdefault
        edges: list[Edge] = []
        for token, (name, origin) in enumerate(zip(self._names, self._origins, strict=True)):
            if origin and (origin[1] or token in sources):
                relation, origins = origin
                of = tuple([number_of(source, len(numbers)) for source in origins])
                edges.append((number_of(name, len(numbers)), relation, of))
        return Counter(edges)
