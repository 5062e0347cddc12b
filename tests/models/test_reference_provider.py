"""The oracle answers with known solutions."""

from __future__ import annotations

import asyncio

import pytest

from pytest_webbench.models import ConfigError, Message, Parameters, Request
from pytest_webbench.models.reference import ReferenceProvider, fenced

REQUEST = Request((Message("user", "u"),), "reference", "reference", Parameters(), 0)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\n", "```python\nx = 1\n```"),
        ('doc = """\n```\ncode\n```\n"""', '````python\ndoc = """\n```\ncode\n```\n"""\n````'),
        ("s = '````'", "`````python\ns = '````'\n`````"),
    ],
)
def test_the_fence_is_longer_than_any_in_the_code(code: str, expected: str) -> None:
    assert fenced(code) == expected


def test_a_solution_may_be_added_later() -> None:
    answers: dict[str, str] = {}
    provider = ReferenceProvider(answers)
    answers[REQUEST.key] = "x = 1"
    completion = asyncio.run(provider.complete(REQUEST))
    assert (completion.text, completion.finish_reason) == ("```python\nx = 1\n```", "stop")


def test_a_case_without_a_solution_is_told() -> None:
    with pytest.raises(ConfigError, match="no reference solution"):
        asyncio.run(ReferenceProvider({}).complete(REQUEST))
