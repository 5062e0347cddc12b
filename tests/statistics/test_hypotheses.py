"""What is said of prompt templates, held against made-up runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from made import records

from pytest_webbench.records import Record
from pytest_webbench.statistics.answers import NOT_ENOUGH, Answer
from pytest_webbench.statistics.hypotheses import AS_IS_ALONE, hypotheses
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import summarise

CASES = [f"flask/c{number}" for number in range(12)]


def asked(template: str, passes: int, *, cases: int = 12, tokens: int = 100, **changes: Any) -> list[Record]:
    """Four samples a case, of which `passes` pass."""
    outcomes = {case: [index < passes for index in range(4)] for case in CASES[:cases]}
    return records(outcomes, prompt_template=template, input_tokens=tokens, **changes)


def answered(rows: list[Record], sizes: Mapping[str, float] | None = None) -> tuple[Answer, Answer, Answer]:
    models = {alias: {"size_b": size} for alias, size in (sizes or {}).items()}
    samples = Samples.of(rows, {"models": models})
    as_is, plain, long = hypotheses(samples, [model.alias for model in samples.models])
    return as_is, plain, long


def test_one_template_is_not_enough_for_any_of_them() -> None:
    assert all(answer.text.startswith(NOT_ENOUGH) and answer.low is None for answer in answered(asked("web_expert", 2)))


def test_one_case_is_not_enough() -> None:
    as_is, *_ = answered(asked("as_is", 0, cases=1) + asked("recap", 4, cases=1))
    assert as_is.text.startswith(NOT_ENOUGH)


@pytest.mark.parametrize(
    ("as_is", "other", "word"), [(0, 4, "yes"), (4, 0, "no, it is better"), (2, 2, "cannot be told")]
)
def test_as_is_is_held_against_all_other_templates(as_is: int, other: int, word: str) -> None:
    answer, *_ = answered(asked("as_is", as_is) + asked("recap", other) + asked("web_expert", other))
    assert answer.text.startswith(f"functional Pass@1: {word}: ")
    assert answer.difference == pytest.approx((other - as_is) / 4)
    assert answer.cases == 12
    assert answer.low is not None
    assert answer.high is not None
    assert answer.low < answer.difference < answer.high or abs(answer.difference) == 1


@pytest.mark.parametrize(
    ("plain", "other", "word"), [(4, 0, "yes, within 0.05"), (0, 4, "no, it is worse"), (2, 3, "no, it is worse")]
)
def test_a_plain_prompt_is_held_against_the_elaborate_ones(plain: int, other: int, word: str) -> None:
    _, answer, _ = answered(asked("in_python", plain) + asked("recap", other) + asked("as_is", 0))
    assert f": {word}: " in answer.text
    assert answer.difference == pytest.approx((plain - other) / 4)


def test_equal_prompts_on_few_cases_cannot_be_told() -> None:
    _, answer, _ = answered(asked("in_python", 2, cases=3) + asked("recap", 2, cases=3))
    assert ": cannot be told: " in answer.text


@pytest.mark.parametrize(("long", "word"), [(0, "yes"), (4, "no, they help"), (2, "cannot be told")])
def test_long_prompts_are_held_against_short_ones_for_small_models(long: int, word: str) -> None:
    rows = asked("in_python", 2, tokens=100) + asked("web_expert_cot", long, tokens=500) + asked("as_is", 4, tokens=20)
    *_, answer = answered(rows, {"m": 0.5})
    assert answer.text.startswith(f"functional Pass@1: {word}: web_expert_cot against in_python ")


@pytest.mark.parametrize("size", [70.0, None])
def test_large_models_and_those_of_unknown_size_say_nothing_of_small_ones(size: float | None) -> None:
    rows = asked("in_python", 2, tokens=100) + asked("web_expert_cot", 0, tokens=500)
    *_, answer = answered(rows, {} if size is None else {"m": size})
    assert answer.text.startswith(NOT_ENOUGH)


def test_a_model_with_more_templates_weighs_no_more_than_another() -> None:
    gaining = asked("as_is", 0, model="gaining") + [row for name in "abc" for row in asked(name, 4, model="gaining")]
    losing = asked("as_is", 4, model="losing") + asked("a", 2, model="losing")
    answer, *_ = answered(gaining + losing)
    assert answer.difference == pytest.approx((1.0 - 0.5) / 2)


def test_a_model_that_was_asked_one_way_only_says_nothing() -> None:
    answer, *_ = answered(asked("as_is", 0, model="a") + asked("recap", 4, model="b"))
    assert answer.text.startswith(NOT_ENOUGH)


def test_the_answers_are_in_the_summary_and_as_is_alone_is_noted() -> None:
    both = summarise("r", asked("as_is", 1) + asked("recap", 3))
    assert "Is as_is worse than the other templates?" in [answer.question for answer in both.answers]
    assert both.notes == ()
    assert summarise("r", asked("as_is", 1)).notes == (AS_IS_ALONE,)
