"""Reaching definitions, per variable and in constant time a step.

A definition is a token's index. A set of definitions is `None` (empty), one definition, or a join: a
number from `Definitions` that stands for the union of two others. A join is made in constant time and
resolved once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Reaching = int | None


class Definitions:
    """Unions of definitions, as a graph that grows by `join` and is read by `resolve`."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._joins: list[tuple[int, int]] = []

    def join(self, a: Reaching, b: Reaching) -> Reaching:
        """Return the union of two sets."""
        if a is None or a == b:
            return b
        if b is None:
            return a
        self._joins.append((a, b))
        return self._tokens + len(self._joins) - 1

    def resolve(self, sets: Iterable[Reaching]) -> set[int]:
        """Return the tokens in any of the sets."""
        seen = {x for x in sets if x is not None}
        pending = [x for x in seen if x >= self._tokens]
        while pending:
            for part in self._joins[pending.pop() - self._tokens]:
                if part not in seen:
                    seen.add(part)
                    if part >= self._tokens:
                        pending.append(part)
        return {x for x in seen if x < self._tokens}


class Value(NamedTuple):
    """What a variable may hold, by whether it had a definition where the region (file, loop body) began.

    `bound`: definitions from inside the region if it had one; `passes`: that one may still hold;
    `fresh`: definitions if it had none; `unset`: there may still be none. A variable is first defined
    where it is first read, so both cases must be told apart.
    """

    bound: Reaching
    passes: bool
    fresh: Reaching
    unset: bool

    @classmethod
    def defined_at(cls, token: int) -> Value:
        """The value after a definition: nothing else holds."""
        return cls(token, False, token, False)

    def first_use(self, token: int, definitions: Definitions) -> Value:
        """The value after a read: where there was no definition, the read becomes one."""
        return Value(self.bound, self.passes, definitions.join(self.fresh, token), False)


UNDEFINED = Value(None, False, None, True)
SYMBOLIC = Value(None, True, None, True)


class State:
    """The values of all variables at one point of a region. `values` holds those that were touched."""

    def __init__(self, definitions: Definitions, initial: Value) -> None:
        self.values: dict[bytes, Value] = {}
        self._definitions = definitions
        self._initial = initial
        self._before: list[dict[bytes, Value]] = []
        self._branches: list[list[dict[bytes, Value]]] = []
        self._loops: list[dict[bytes, Value]] = []

    @property
    def in_loop(self) -> bool:
        """Whether a loop's body is being run."""
        return bool(self._loops)

    def get(self, name: bytes) -> Value:
        """Return a variable's value."""
        return self.values.get(name, self._initial)

    def set(self, name: bytes, value: Value) -> None:
        """Change a variable's value; inside a branch, remember the one from before it."""
        if self._before and name not in self._before[-1]:
            self._before[-1][name] = self.get(name)
        self.values[name] = value

    def fork(self) -> None:
        """Begin the first of several branches."""
        self._before.append({})
        self._branches.append([])

    def next_branch(self) -> None:
        """Begin another branch, from the state before the first."""
        before = self._before[-1]
        self._branches[-1].append({name: self.values[name] for name in before})
        self.values.update(before)
        self._before[-1] = {}

    def merge(self, total: bool) -> None:
        """End the branches: what held at the end of any may hold now, or before them unless `total`."""
        self.next_branch()
        self._before.pop()
        branches = self._branches.pop()
        outcomes: dict[bytes, list[Value]] = {}
        for branch in branches:
            for name, value in branch.items():
                outcomes.setdefault(name, []).append(value)
        for name, values in outcomes.items():
            if not total or len(values) < len(branches):
                values.append(self.get(name))
            self.set(name, self._merged(values))

    def enter_loop(self, summary: Mapping[bytes, Value]) -> None:
        """Begin the body of a loop in the state that covers both of its passes."""
        after = {name: self._after(self.get(name), effect) for name, effect in summary.items()}
        for name, effect in summary.items():
            self.set(name, self._covering(self.get(name), effect))
        self._loops.append(after)

    def leave_loop(self) -> None:
        """End the body of a loop."""
        for name, value in self._loops.pop().items():
            self.set(name, value)

    def pass_loop(self, summary: Mapping[bytes, Value]) -> None:
        """Step over a whole loop."""
        for name, effect in summary.items():
            self.set(name, self._after(self.get(name), effect))

    def _merged(self, values: list[Value]) -> Value:
        merged = values[0]
        for value in values[1:]:
            merged = Value(
                self._definitions.join(merged.bound, value.bound),
                merged.passes or value.passes,
                self._definitions.join(merged.fresh, value.fresh),
                merged.unset and value.unset,
            )
        return merged

    def _after(self, value: Value, effect: Value) -> Value:
        """The value after two passes. A pass changes a variable that has a definition the same way twice."""
        join = self._definitions.join
        bound = join(value.bound if effect.passes else None, effect.bound)
        fresh = join(value.fresh if effect.passes else None, effect.bound)
        if value.unset and effect.passes:
            fresh = join(fresh, effect.fresh)
        return Value(bound, value.passes and effect.passes, fresh, value.unset and effect.unset)

    def _covering(self, value: Value, effect: Value) -> Value:
        """The value at the body's start, in either pass."""
        join = self._definitions.join
        bound, fresh = join(value.bound, effect.bound), join(value.fresh, effect.bound)
        if value.unset:
            fresh = join(value.fresh, effect.fresh)
        return Value(bound, value.passes, fresh, value.unset)
