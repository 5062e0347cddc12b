"""A reviewer's reply is read wherever the review stands in it, or it is feedback as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webbench.models.agent.review import Review, parse_review

WRONG = Review(False, ("POST /a answers 200, not 201",), ("return 201",))
PLAIN = '{"is_correct": false, "issues": ["POST /a answers 200, not 201"], "suggestions": ["return 201"]}'


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"I checked each route.\n\n{PLAIN}\n\nHope that helps {{:",
        PLAIN.replace("false", '"False"'),
        PLAIN.replace('["return 201"]', '"return 201"'),
        f'The form was {{"is_correct": true, "issues": []}}. My review:\n{PLAIN}',
        f'In `return {{"id": 1}}, 200` and `{{x}}` I see a fault.\n{PLAIN}',
        PLAIN.replace(', "', ',\n  "') + " // done",
        "{" * 1_000_000 + "\n" + PLAIN,
    ],
    ids=["plain", "fenced", "prose", "words", "one text", "form first", "code before", "lines", "a million braces"],
)  # fmt: skip
def test_a_review_is_found_in_the_reply(reply: str) -> None:
    assert parse_review(reply) == WRONG


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Looks good to me!",
        '{"issues": []}',
        '{"is_correct": "perhaps"}',
        '{"is_correct": 1}',
        PLAIN[:40],
        "{'is_correct': False}",
        "{" * 5000,
        '{"a":' * 5000,
        "[" * 100_000,
    ],
)
def test_a_reply_without_a_review_holds_none(reply: str) -> None:
    assert parse_review(reply) is None


def test_the_feedback_names_issues_and_suggestions() -> None:
    assert WRONG.feedback == "Issues:\n- POST /a answers 200, not 201\nSuggestions:\n- return 201"
    assert Review(False).feedback == ""


def test_an_issue_that_is_an_object_is_kept_as_text() -> None:
    review = parse_review('{"is_correct": false, "issues": [{"line": 3, "what": "no return"}, " ", 7]}')
    assert review == Review(False, ('{"line": 3, "what": "no return"}', "7"))


@given(st.booleans(), st.lists(st.text()), st.lists(st.text()), st.text(alphabet="a {}[]':,\n"))
def test_any_review_is_read_back_from_any_surroundings(
    verdict: bool, issues: list[str], suggestions: list[str], around: str
) -> None:
    said = json.dumps({"is_correct": verdict, "issues": issues, "suggestions": suggestions})
    kept = [tuple(text.strip() for text in texts if text.strip()) for texts in (issues, suggestions)]
    assert parse_review(f"{around}\n{said}\n{around}") == Review(verdict, *kept)
