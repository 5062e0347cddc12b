"""What a completion gives away of its server: prompts cut without a word, another model under the same name."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pytest_webbench.models import Completion, Request

LONG_PROMPT = 2000
MOST_CHARACTERS_PER_TOKEN = 10.0


def suspicions(request: Request, completion: Completion, known_models: AbstractSet[str]) -> tuple[str, ...]:
    """Return `prompt_truncation_suspected` and `model_changed` where they hold.

    A long prompt that counts as less than a token per 10 characters was not read whole; usage that several
    completions share tells nothing. `known_models` are the names that the server gave its model before.
    """
    characters = sum(len(message.content) for message in request.messages)
    counted = None if "usage_shared" in completion.flags else completion.input_tokens
    cut = bool(counted) and characters > max(LONG_PROMPT, MOST_CHARACTERS_PER_TOKEN * (counted or 0))
    changed = bool(known_models) and completion.model_returned not in {None, *known_models}
    found = {"prompt_truncation_suspected": cut, "model_changed": changed}
    return tuple(name for name, holds in found.items() if holds)
