"""What a completion gives away of its server, and usage that several completions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_webbench.completions.batches import shared_usage
from pytest_webbench.completions.suspicions import suspicions
from pytest_webbench.models import Completion, Request

Make = Callable[..., Request]
PLAIN = Completion(text="x", finish_reason="stop", model_returned="m-1", input_tokens=1000, output_tokens=7)


@pytest.mark.parametrize(
    ("characters", "tokens", "suspected"),
    [(8000, 2000, False), (8000, 700, True), (1500, 10, False), (8000, None, False)],
)
def test_a_long_prompt_that_counts_as_few_tokens_was_not_read_whole(
    ask: Make, characters: int, tokens: int | None, suspected: bool
) -> None:
    found = suspicions(ask(prompt="w" * characters), replace(PLAIN, input_tokens=tokens), frozenset())
    assert found == (("prompt_truncation_suspected",) if suspected else ())


@pytest.mark.parametrize(
    ("known", "returned", "changed"),
    [({"m-1"}, "m-1", False), ({"m-0"}, "m-1", True), (set(), "m-1", False), ({"m-0"}, None, False)],
)
def test_another_name_than_the_known_ones_is_another_model(
    ask: Make, known: set[str], returned: str | None, changed: bool
) -> None:
    found = suspicions(ask(), replace(PLAIN, model_returned=returned), known)
    assert found == (("model_changed",) if changed else ())


def test_shared_usage_adds_up_to_the_request() -> None:
    shared = shared_usage([PLAIN, *[replace(PLAIN, input_tokens=None, output_tokens=None)] * 2])
    assert [(one.input_tokens, one.output_tokens) for one in shared] == [(334, 3), (333, 2), (333, 2)]
    assert all("usage_shared" in one.flags for one in shared)
    assert shared_usage([PLAIN]) == [PLAIN]
