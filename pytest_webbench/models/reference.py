"""The oracle: answers each request with a known text, such as the case's reference solution."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_webbench.models import Completion, ConfigError, Request

ENDPOINT = "reference"
MODEL_ID = "reference"


def fenced(code: str) -> str:
    """Return `code` as a model would send it: in one Python block, with a fence that it cannot close."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}python\n{code.rstrip()}\n{fence}"


class ReferenceProvider:
    """Answers by `answers`: completion key -> code. The mapping may grow while requests come in."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers

    async def complete(self, request: Request) -> Completion:
        """Return the reference solution; `ConfigError` (`no_reference`) where there is none."""
        code = self._answers.get(request.key)
        if code is None:
            raise ConfigError("no_reference", "this case has no reference solution to answer with")
        return Completion(text=fenced(code), finish_reason="stop", latency_seconds=0.0, cost=0.0, sdk="reference")

    async def close(self) -> None:
        """Nothing is held."""
