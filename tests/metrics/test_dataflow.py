"""Data-flow edges: loops count twice, however deep, and branches meet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webbench.metrics import dataflow
from pytest_webbench.metrics.dataflow import DEFINE, END_LOOP, IF, LOOP, READ, Instruction, dataflow_edges
from pytest_webbench.metrics.tree import Variables, parse


def edges(code: str) -> dict[tuple[int, str, tuple[int, ...]], int]:
    parsed = parse(code, lambda key: hash(key))
    return dict(dataflow_edges(parsed.root, parsed.variables))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = b\nc = a", {(1, "computedFrom", (0,)): 1, (0, "comesFrom", ()): 1, (1, "comesFrom", (1,)): 1}),
        ("a = b + b", {(1, "computedFrom", (0, 0)): 1, (0, "comesFrom", ()): 1, (0, "comesFrom", (0,)): 1}),
        ("for i in x:\n    a = b + b", {(3, "computedFrom", (2,)): 1}),
        ("a, b = c, d", {(1, "computedFrom", (0,)): 1, (3, "computedFrom", (2,)): 1}),
        ("def f(a=b): pass", {(1, "comesFrom", (0,)): 1}),
        ("print(1)", {}),
    ],
)
def test_edges(code: str, expected: dict[tuple[int, str, tuple[int, ...]], int]) -> None:
    found = edges(code)
    assert {edge: found.get(edge, 0) for edge in expected} == expected
    assert bool(found) == bool(expected)


class Plain:
    """The rules carried out as they are worded: states are copied, and each loop's body runs twice."""

    def __init__(self, program: list[Instruction], variables: Variables) -> None:
        self.program, self.names, self.definable = program, variables.names, variables.definable
        self.origins: dict[int, set[bytes]] = {}
        self.sources: set[int] = set()

    def run(self, start: int, stop: int, state: dict[bytes, set[int]]) -> dict[bytes, set[int]]:
        position = start
        while position < stop:
            instruction = self.program[position]
            if instruction.op == LOOP:
                end = self.matching(position, END_LOOP)
                for _ in range(2):
                    state = self.run(position + 1, end, state)
                position = end
            elif instruction.op == IF:
                end = self.matching(position, dataflow.END_IF)
                state = self.branches(position, end, state)
                position = end
            else:
                state = self.step(instruction, state)
            position += 1
        return state

    def step(self, instruction: Instruction, state: dict[bytes, set[int]]) -> dict[bytes, set[int]]:
        state = dict(state)
        for token in range(*instruction.span):
            name = self.names[token]
            origins = self.origins.setdefault(token, set())
            if instruction.op == DEFINE:
                origins.update(self.names[slice(*instruction.sources)])
                self.sources.update(range(*instruction.sources))
                state[name] = {token}
            elif name in state:
                origins.add(name)
                self.sources |= state[name]
            elif self.definable[token]:
                state[name] = {token}
        return state

    def branches(self, start: int, end: int, state: dict[bytes, set[int]]) -> dict[bytes, set[int]]:
        cuts = [start, *self.at_depth(start, end, dataflow.BRANCH), end]
        ends = [self.run(a + 1, b, state) for a, b in pairwise(cuts)]
        ends += [] if self.program[end].total else [state]
        names = {name for branch in ends for name in branch}
        return {name: set().union(*(branch.get(name, set()) for branch in ends)) for name in names}

    def matching(self, start: int, closing: int) -> int:
        return next(self.at_depth(start, len(self.program), closing))

    def at_depth(self, start: int, stop: int, wanted: int) -> Iterator[int]:
        depth = 0
        for position in range(start + 1, stop):
            op = self.program[position].op
            if op == wanted and depth == 0:
                yield position
            depth += (op in (LOOP, IF)) - (op in (END_LOOP, dataflow.END_IF))


names = st.sampled_from("abcd")
expressions = st.one_of(names, st.sampled_from(["a + b", "c(d)", "'s'", "d['s']"]))
lines = st.one_of(
    st.builds("{} = {}".format, st.one_of(names, st.just("d['s']")), expressions),
    st.builds("{} += {}".format, names, expressions),
    st.builds("print({})".format, expressions),
)


def indent(block: list[str]) -> list[str]:
    return [f" {line}" for statement in block for line in statement.split("\n")]


def compound(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(blocks, min_size=1, max_size=3).map(lambda block: "\n".join(indent(block)))
    return st.one_of(
        st.builds("if {}:\n{}".format, expressions, body),
        st.builds("if {}:\n{}\nelse:\n{}".format, expressions, body, body),
        st.builds("if {}:\n{}\nelif {}:\n{}".format, expressions, body, expressions, body),
        st.builds("for {} in {}:\n{}".format, names, expressions, body),
        st.builds("while {}:\n{}".format, expressions, body),
    )


programs = st.lists(st.recursive(lines, compound, max_leaves=12), min_size=1, max_size=4).map("\n".join)


@settings(max_examples=400)
@given(programs)
def test_summaries_of_loops_find_what_running_them_finds(code: str) -> None:
    parsed = parse(code, lambda key: hash(key))
    program = dataflow._compile(parsed.root)
    plain = Plain(program, parsed.variables)
    plain.run(0, len(program), {})
    trace = dataflow._Trace(parsed.variables)
    flow = dataflow._Flow(program, parsed.variables)
    flow._summarise_loops()
    flow._follow(0, len(program), dataflow.State(flow.definitions, dataflow.UNDEFINED), trace)
    found = {token: set(origin[1]) for token, origin in enumerate(trace._origins) if origin}
    assert found == plain.origins
    assert trace._sources | flow.definitions.resolve(trace._reaching) == plain.sources
    assert READ in {instruction.op for instruction in program}
