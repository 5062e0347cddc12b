"""What a sample may take before its completion is there: one call of a model, or the calls of an agent's roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_webbench.completions.estimates import ASSUMED_OUTPUT_TOKENS, Price, input_tokens
from pytest_webbench.models import Request
from pytest_webbench.models.agent.orchestrator import DEBUG_RETRIES
from pytest_webbench.selection import Model


@dataclass(frozen=True, slots=True)
class Demand:
    """One call: tokens in, about, and out, at most; `cost` in USD at most, None where the price is unknown."""

    input_tokens: float
    output_tokens: int
    cost: float | None


def demands(model: Model, request: Request) -> list[Demand]:
    """Return the calls that a sample takes, of an agent the most that it can take."""
    prompt = input_tokens(request)
    if not model.roles:
        return [_demand(model, prompt)]
    calls = [_demand(model.writer, prompt)]
    for iteration in range(1, model.entry.max_iterations + 1):
        review, anew = _corrected(model, prompt, iteration), _generated_anew(model, prompt, iteration)
        calls += max(list(review), [anew], key=_weight)
    return calls


def _corrected(model: Model, prompt: float, iteration: int) -> Iterator[Demand]:
    """Yield a review and all tries to debug: each is sent the code, the latter all reviews and the tries before."""
    reviewer, debugger = model.roles["reviewer"], model.roles["debugger"]
    code = _most(model.writer)
    yield _demand(reviewer, prompt + code)
    for tries in range(1 + DEBUG_RETRIES):
        yield _demand(debugger, prompt + code + iteration * _most(reviewer) + tries * _most(debugger))


def _generated_anew(model: Model, prompt: float, iteration: int) -> Demand:
    return _demand(model.writer, prompt + iteration * _most(model.roles["reviewer"]))


def _demand(model: Model, given: float) -> Demand:
    price, made = model.entry.price, _most(model)
    return Demand(given, made, Price(price.input, price.output).cost(given, made) if price else None)


def _most(model: Model) -> int:
    return model.parameters.max_tokens or ASSUMED_OUTPUT_TOKENS


def _weight(calls: Iterable[Demand]) -> tuple[bool, float, int]:
    """Order by cost, an unknown one above all, then by tokens."""
    listed = list(calls)
    unknown = any(call.cost is None for call in listed)
    return unknown, sum(call.cost or 0.0 for call in listed), sum(call.output_tokens for call in listed)
