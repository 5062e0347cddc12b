"""The orchestrator's loop with scripted models: every branch, what each role is sent, and what comes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pytest_webbench.agents import read_draft
from pytest_webbench.models import Completion, InfrastructureError, Message
from pytest_webbench.models.agent import (
    AgentContext,
    Answer,
    CodeGenAgent,
    DebuggerAgent,
    Orchestrator,
    Outcome,
    ReviewerAgent,
)
from pytest_webbench.models.agent.orchestrator import DEBUG_RETRIES, steps_of

TASK = "Write a Flask app that answers GET /count with the number of visits so far."
OPENING = (Message("system", "You are an expert Flask programmer."), Message("user", TASK))
FIRST = "from flask import Flask, request\n\napp = Flask(__name__)\n"
SECOND = FIRST + '\n\n@app.get("/count")\ndef count():\n    return {"count": 1}\n'
THIRD = SECOND.replace("1}", "2}")
BROKEN = "from flask import Flask\napp = Flask(__name__\n"
BARE = "import json\n\nx = json.dumps(1)\n"
RIGHT = {"is_correct": True, "issues": [], "suggestions": []}
WRONG = {"is_correct": False, "issues": ["GET /count is missing"], "suggestions": ["add it"]}


def fenced(code: str) -> str:
    return f"```python\n{code}```"


@dataclass
class Script:
    """A provider that answers from a list: a dict is a review, a text with a line end is code, other text prose."""

    replies: Sequence[str | Mapping[str, Any] | Completion | Exception]
    asked: list[tuple[str, tuple[Message, ...]]] = field(default_factory=list)

    async def complete(self, role: str, messages: tuple[Message, ...]) -> Answer:
        reply = self.replies[len(self.asked)]
        self.asked.append((role, messages))
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return Answer(reply, f"key-{len(self.asked)}", role)
        text = json.dumps(reply) if isinstance(reply, Mapping) else fenced(reply) if "\n" in reply else reply
        completion = Completion(text, "stop", input_tokens=100, output_tokens=10, latency_seconds=2.0, cost=0.25)
        return Answer(completion, f"key-{len(self.asked)}", role)


@dataclass
class Played:
    context: AgentContext
    script: Script
    outcome: Outcome

    @property
    def roles(self) -> list[tuple[int, str]]:
        return [(iteration, result.role) for iteration, result in self.outcome.steps]

    @property
    def conversations(self) -> str:
        parts = []
        for (iteration, result), (role, messages) in zip(self.outcome.steps, self.script.asked, strict=True):
            assert (result.role, result.messages) == (role, messages)
            said = [f"<{message.role}>\n{message.content}" for message in messages]
            reply = result.answer.completion.text
            parts.append("\n".join([f"=== iteration {iteration}, {role}", *said, "<reply>", reply or "(none)"]))
        return "\n\n".join(parts)


def play(*replies: Any, most: int = 3, seen: str | None = None) -> Played:
    script = Script(replies)

    async def observe(code: str) -> str:
        return f"{seen} ({len(code)} characters)"

    def ask(role: str) -> Any:
        return lambda messages: script.complete(role, messages)

    def read(completion: Completion) -> Any:
        return read_draft(completion, "Flask")[0]

    orchestrator = Orchestrator(
        CodeGenAgent(ask("codegen"), read, OPENING),
        ReviewerAgent(ask("reviewer"), observe if seen else None),
        DebuggerAgent(ask("debugger"), read),
        most,
    )
    context = AgentContext(TASK, "Flask")
    outcome = asyncio.run(orchestrator.run(context))
    assert len(script.asked) == len(replies), "a reply was not asked for"
    return Played(context, script, outcome)


def test_code_that_is_right_at_once_is_done_after_one_review(snapshot: SnapshotAssertion) -> None:
    played = play(SECOND, RIGHT)
    assert played.roles == [(0, "codegen"), (0, "reviewer")]
    assert played.script.asked[0] == ("codegen", OPENING)
    assert played.outcome.completion.text == fenced(SECOND)
    assert "revised" not in played.outcome.completion.flags
    assert played.context == AgentContext(TASK, "Flask", SECOND.rstrip())
    assert played.conversations == snapshot


def test_a_review_leads_to_a_repair(snapshot: SnapshotAssertion) -> None:
    played = play(FIRST, WRONG, SECOND, RIGHT)
    assert played.roles == [(0, "codegen"), (0, "reviewer"), (1, "debugger"), (1, "reviewer")]
    assert played.outcome.completion.text == fenced(SECOND)
    assert "revised" in played.outcome.completion.flags
    assert played.context.feedback_history == ["Issues:\n- GET /count is missing\nSuggestions:\n- add it"]
    assert (played.context.iteration, played.context.current_code) == (1, SECOND.rstrip())
    assert played.conversations == snapshot


def test_a_review_that_is_no_json_is_feedback_as_it_stands(snapshot: SnapshotAssertion) -> None:
    played = play(FIRST, "The route is missing, I think {", SECOND, RIGHT)
    assert played.context.feedback_history == ["The route is missing, I think {"]
    assert [result.is_correct for _, result in played.outcome.steps] == [None, None, None, True]
    assert played.conversations == snapshot


@pytest.mark.parametrize(
    ("reply", "feedback"),
    [
        (Completion(None, "content_filter", blocked="content_filter"), "the reviewer gave no answer"),
        ({"is_correct": False}, '{"is_correct": false}'),
    ],
    ids=["no answer", "names nothing"],
)
def test_a_review_without_words_does_not_end_the_loop(reply: Any, feedback: str) -> None:
    played = play(FIRST, reply, SECOND, most=1)
    assert played.context.feedback_history == [feedback]
    assert played.outcome.completion.text == fenced(SECOND)


def test_a_debugger_that_returns_prose_is_asked_again(snapshot: SnapshotAssertion) -> None:
    played = play(FIRST, WRONG, "I would add the route.", BROKEN, SECOND, RIGHT)
    assert played.roles == [(0, "codegen"), (0, "reviewer"), *[(1, "debugger")] * 3, (1, "reviewer")]
    assert played.outcome.completion.text == fenced(SECOND)
    assert played.conversations == snapshot


def test_a_debugger_is_asked_again_only_so_often_and_the_code_is_then_generated_anew() -> None:
    played = play(FIRST, WRONG, *["No."] * (1 + DEBUG_RETRIES), SECOND, RIGHT)
    assert played.roles[-2:] == [(2, "codegen"), (2, "reviewer")]
    assert played.context.feedback_history[-1] == "the answer holds no Python code"
    assert len({messages for _, messages in played.script.asked}) == len(played.script.asked)


def test_code_that_is_never_right_ends_with_the_latest_sound_version(snapshot: SnapshotAssertion) -> None:
    played = play(FIRST, WRONG, SECOND, WRONG, THIRD, most=2)
    assert played.outcome.completion.text == fenced(THIRD)
    assert (played.context.iteration, len(played.context.feedback_history)) == (2, 2)
    assert played.conversations == snapshot


@pytest.mark.parametrize(("bad", "problem"), [(BROKEN, "SyntaxError"), (BARE, "structure rule for Flask")])
def test_code_that_fails_a_tier_is_generated_anew_without_a_review(
    bad: str, problem: str, snapshot: SnapshotAssertion
) -> None:
    played = play(bad, SECOND, RIGHT)
    assert played.roles == [(0, "codegen"), (1, "codegen"), (1, "reviewer")]
    assert problem in played.context.feedback_history[0]
    assert played.outcome.completion.text == fenced(SECOND)
    assert played.conversations == snapshot


@pytest.mark.parametrize(
    ("versions", "best"),
    [
        ((SECOND, BARE), SECOND),
        ((BARE, BROKEN), BARE),
        ((BROKEN, BARE), BARE),
        ((BROKEN, BROKEN + "#\n"), BROKEN + "#\n"),
    ],
    ids=["sound", "parses", "parses later", "none"],
)
def test_the_best_version_is_sound_else_parses_else_is_the_latest(versions: tuple[str, str], best: str) -> None:
    first, second = versions
    replies = [first, WRONG, second] if first == SECOND else [first, second]
    assert play(*replies, most=1).outcome.completion.text == fenced(best)


def test_without_iterations_nothing_is_reviewed() -> None:
    assert play(FIRST, most=0).roles == [(0, "codegen")]


def test_a_reviewer_that_observes_is_told_what_happened(snapshot: SnapshotAssertion) -> None:
    played = play(SECOND, RIGHT, seen="GET /count: answered 200")
    assert "GET /count: answered 200 (113 characters)" in played.script.asked[1][1][0].content
    assert played.conversations == snapshot


def test_tokens_cost_and_time_are_the_sums_over_all_steps() -> None:
    completion = play(FIRST, WRONG, SECOND, RIGHT).outcome.completion
    assert (completion.input_tokens, completion.output_tokens) == (400, 40)
    assert (completion.cost, completion.latency_seconds) == (1.0, 8.0)


def test_what_one_step_does_not_tell_is_unknown_for_the_sample() -> None:
    completion = play(SECOND, Completion('{"is_correct": true}', "stop", input_tokens=5)).outcome.completion
    assert (completion.input_tokens, completion.output_tokens, completion.cost) == (105, None, None)


def test_each_step_tells_role_model_verdicts_and_what_was_said() -> None:
    steps = steps_of(play(BROKEN, FIRST, WRONG, SECOND, most=2).outcome.completion)
    shown = [(step["iteration"], step["role"], step["model"], step["syntax"], step["is_correct"]) for step in steps]
    assert shown == [
        (0, "codegen", "codegen", "failed", None),
        (1, "codegen", "codegen", "passed", None),
        (1, "reviewer", "reviewer", "passed", False),
        (2, "debugger", "debugger", "passed", None),
    ]
    assert [step["code"] for step in steps] == [BROKEN.rstrip(), FIRST.rstrip(), None, SECOND.rstrip()]
    assert steps[0]["messages"][-1] == {"role": "user", "content": TASK}
    assert json.loads(json.dumps(steps)) == steps


def test_an_error_of_a_role_ends_the_loop() -> None:
    with pytest.raises(InfrastructureError, match="gone"):
        play(FIRST, InfrastructureError("connection", "gone"))


def test_a_reply_that_utf_8_cannot_hold_is_sent_on_without_it() -> None:
    odd = Completion("no \ud83d code", "stop")
    played = play(FIRST, odd, odd, SECOND, RIGHT)
    for _, messages in played.script.asked:
        json.dumps([message.content for message in messages], ensure_ascii=False).encode("utf-8")
