"""What a request may take: tokens before it is sent, and cost."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_webbench.models import Request

CHARACTERS_PER_TOKEN = 3.5
ASSUMED_OUTPUT_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float

    def cost(self, input_tokens: float | None, output_tokens: float | None) -> float | None:
        """Return the cost in USD; `None` where a token count is unknown."""
        if input_tokens is None or output_tokens is None:
            return None
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


def input_tokens(request: Request) -> float:
    """Return about how many tokens the messages take."""
    return sum(len(message.content) for message in request.messages) / CHARACTERS_PER_TOKEN


def most_output_tokens(request: Request) -> int:
    """Return how many tokens the answer takes at most, as far as that is known."""
    return request.parameters.max_tokens or ASSUMED_OUTPUT_TOKENS


def most_tokens(request: Request) -> float:
    """Return how many tokens a request takes at most."""
    return input_tokens(request) + most_output_tokens(request)


def highest_cost(price: Price | None, request: Request, count: int) -> float | None:
    """Return what a request for `count` answers costs at most in USD; None where the price is unknown."""
    return price.cost(input_tokens(request), count * most_output_tokens(request)) if price else None
