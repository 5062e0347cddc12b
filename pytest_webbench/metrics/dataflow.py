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
from collections.abc import Mapping
from enum import IntEnum, auto
from typing import Literal, NamedTuple

from pytest_webbench.metrics.reaching import SYMBOLIC, UNDEFINED, Definitions, State, Value
from pytest_webbench.metrics.tree import Node, Tokens

Relation = Literal["comesFrom", "computedFrom"]
Edge = tuple[int, Relation, tuple[int, ...]]
"""(number of the variable, relation, numbers of its sources)."""

Span = tuple[int, int]


class Op(IntEnum):
    """What an instruction does."""

    READ = auto()
    DEFINE = auto()
    IF = auto()
    BRANCH = auto()
    END_IF = auto()
    LOOP = auto()
    END_LOOP = auto()


class Instruction(NamedTuple):
    """A step of the program. Spans are token ranges; `total` is true of an `if` with an `else`."""

    op: Op
    span: Span = (0, 0)
    sources: Span = (0, 0)
    relation: Relation = "computedFrom"
    total: bool = False


def dataflow_score(reference: Mapping[Edge, int], hypothesis: Mapping[Edge, int]) -> float:
    """Return the matched share of the reference's edges in [0, 1]; 0 where the reference has none."""
    matched = sum(min(count, hypothesis.get(edge, 0)) for edge, count in reference.items())
    return matched / max(1, sum(reference.values()))


def dataflow_edges(root: Node, tokens: Tokens) -> Counter[Edge]:
    """Return the edges of a parsed text, with variables numbered by first appearance."""
    trace = _Trace(tokens)
    _Flow(compile_flow(root), tokens).run(trace)
    return trace.edges()


def compile_flow(root: Node) -> list[Instruction]:
    """Flatten a tree into the instructions that define, read, branch and repeat."""
    program: list[Instruction] = []
    pending: list[Node | Instruction] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, Instruction):
            program.append(item)
        elif item[5]:
            if item[2] < item[3]:
                program.append(Instruction(Op.READ, item[2:4]))
        else:
            pending.extend(reversed(_expand(item)))
    return program


def _expand(node: Node) -> list[Node | Instruction]:
    kind, children = node[0], node[4]
    match kind:
        case "assignment" | "augmented_assignment":
            return _assign(_parts(node)) if any(child[1] == "right" for child in children) else []
        case "default_parameter":
            name, value = _child(node, "name"), _child(node, "value")
            return [value, Instruction(Op.DEFINE, name[2:4], value[2:4], "comesFrom")]
        case "for_in_clause":
            return _assign([(_child(node, "left"), children[-1])])
        case "for_statement":
            body = [child for child in children[-1:] if child[0] == "block"]
            return [Instruction(Op.LOOP), *_assign(_parts(node)), *body, Instruction(Op.END_LOOP)]
        case "while_statement":
            return [Instruction(Op.LOOP), *children, Instruction(Op.END_LOOP)]
        case "if_statement":
            return _branches(children)
    return sorted(children, key=lambda child: child[0] != "for_in_clause")


def _child(node: Node, field: str) -> Node:
    return next(child for child in node[4] if child[1] == field)


def _parts(node: Node) -> list[tuple[Node, Node]]:
    """Pair the target's children with the value's where their numbers agree, else the two as wholes."""
    left, right = _child(node, "left"), _child(node, "right")
    targets, values = ([part for part in side[4] if part[0] != ","] for side in (left, right))
    if not targets or len(targets) != len(values) or "string" in (left[0], right[0]):
        return [(left, right)]
    return list(zip(targets, values, strict=True))


def _assign(pairs: list[tuple[Node, Node]]) -> list[Node | Instruction]:
    values = [value for _, value in pairs]
    return [*values, *(Instruction(Op.DEFINE, target[2:4], value[2:4]) for target, value in pairs)]


def _branches(children: list[Node]) -> list[Node | Instruction]:
    """The condition and first block are one branch, each `elif` and `else` starts from before them."""
    others = [child for child in children if child[0] in ("elif_clause", "else_clause")]
    first = [child for child in children if child[0] not in ("elif_clause", "else_clause")]
    has_else = any("else" in child[0] for child in children)
    steps: list[Node | Instruction] = [Instruction(Op.IF), *first]
    for child in others:
        steps += (Instruction(Op.BRANCH), child)
    return [*steps, Instruction(Op.END_IF, total=has_else)]


class _Flow:
    """Runs a program over abstract states."""

    def __init__(self, program: list[Instruction], tokens: Tokens) -> None:
        self.program = program
        self.tokens = tokens
        self.definitions = Definitions(len(tokens.names))
        self.loop_ends: dict[int, int] = {}
        self.summaries: dict[int, Mapping[bytes, Value]] = {}

    def run(self, trace: _Trace) -> None:
        """Run the program, recording in `trace` what each token may come from."""
        self._summarise_loops()
        self._follow(0, len(self.program), State(self.definitions, UNDEFINED), trace)
        trace.close(self.definitions)

    def _summarise_loops(self) -> None:
        """Find out, innermost loops first, what one pass of each loop does to each variable."""
        open_loops: list[int] = []
        for position, instruction in enumerate(self.program):
            if instruction.op is Op.LOOP:
                open_loops.append(position)
            elif instruction.op is Op.END_LOOP:
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
            if op is Op.READ:
                self._read(span, state, trace)
            elif op is Op.DEFINE:
                self._define(span, state)
                if trace:
                    trace.define(span, sources, relation, repeated=state.in_loop)
            elif op is Op.IF:
                state.fork()
            elif op is Op.BRANCH:
                state.next_branch()
            elif op is Op.END_IF:
                state.merge(total)
            elif op is Op.END_LOOP:
                state.leave_loop()
            elif trace:
                state.enter_loop(self.summaries[position])
            else:
                state.pass_loop(self.summaries[position])
                position = self.loop_ends[position]
            position += 1

    def _read(self, span: Span, state: State, trace: _Trace | None) -> None:
        names, variable, identifier = self.tokens.names, self.tokens.variable, self.tokens.identifier
        for token in range(*span):
            if variable[token]:
                value = state.get(names[token])
                if trace:
                    trace.read(token, value)
                if value.unset and identifier[token]:
                    state.set(names[token], value.first_use(token, self.definitions))

    def _define(self, span: Span, state: State) -> None:
        for token in range(*span):
            if self.tokens.variable[token]:
                state.set(self.tokens.names[token], Value.defined_at(token))


class _Trace:
    """Collects, per token, the names it comes from, and which tokens are a source of another."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._origins: dict[int, tuple[Relation, tuple[bytes, ...]]] = {}
        self._sources: set[int] = set()
        self._sets: set[int] = set()
        self._sourced: set[int] = set()

    def read(self, token: int, value: Value) -> None:
        """Record that a token reads the variable of its name."""
        reaching = [found for found in (value.bound, value.fresh) if found is not None]
        self._record(token, "comesFrom", (self._tokens.names[token],) if reaching else ())
        self._sets.update(reaching)

    def define(self, span: Span, sources: Span, relation: Relation, *, repeated: bool) -> None:
        """Record that the variables in one span get their values from those in another."""
        variable, names = self._tokens.variable, self._tokens.names
        origins = [token for token in range(*sources) if variable[token]]
        origin_names = tuple(names[token] for token in origins)
        if repeated or relation == "comesFrom":
            origin_names = tuple(dict.fromkeys(origin_names))
        if origins or relation == "computedFrom":
            for token in range(*span):
                if variable[token]:
                    self._record(token, relation, origin_names)
                    self._sources.update(origins)

    def _record(self, token: int, relation: Relation, names: tuple[bytes, ...]) -> None:
        if token in self._origins:
            names = tuple(dict.fromkeys(self._origins[token][1] + names))
        self._origins[token] = (relation, names)
        if names:
            self._sourced.add(token)

    def close(self, definitions: Definitions) -> None:
        """Find the tokens that were read: those that reach a read, and those that define another."""
        self._sources |= definitions.resolve(self._sets)

    def edges(self) -> Counter[Edge]:
        """Number the variables, sources first, and count the edges of tokens that take part in any."""
        numbers: dict[bytes, int] = {}
        edges: Counter[Edge] = Counter()
        for token, (relation, origins) in sorted(self._origins.items()):
            if token in self._sources or token in self._sourced:
                sources = tuple(numbers.setdefault(name, len(numbers)) for name in origins)
                name = self._tokens.names[token]
                edges[numbers.setdefault(name, len(numbers)), relation, sources] += 1
        return edges
