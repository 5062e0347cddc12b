"""The three agents. Each makes its messages from the shared context and reads the reply."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from types import MappingProxyType

from pytest_webbench.models import Message
from pytest_webbench.models.agent.context import AgentContext, AgentResult, Ask, Draft, Observe, Read, RoleName
from pytest_webbench.models.agent.review import parse_review
from pytest_webbench.models.reference import fenced

TEMPERATURES = MappingProxyType[RoleName, float]({"codegen": 0.2, "reviewer": 0.1, "debugger": 0.2})
PROMPTS = Path(__file__).with_name("prompts.toml")
NOTHING_SAID = "the reviewer gave no answer"


@dataclass(frozen=True, slots=True)
class CodeGenAgent:
    """Writes the code, and writes it anew where an earlier answer was fundamentally wrong.

    `opening` is the conversation that a single model would be sent; it is sent unchanged at iteration 0.
    """

    ask: Ask
    read: Read
    opening: tuple[Message, ...]

    async def run(self, context: AgentContext) -> AgentResult:
        """Return code for the task, with regard to the feedback so far."""
        messages = self.opening
        if context.feedback_history:
            *before, last = messages
            feedback = _numbered(context.feedback_history)
            messages = (*before, replace(last, content=_filled("regenerate", task=last.content, feedback=feedback)))
        return await _written("codegen", messages, self.ask, self.read)


@dataclass(frozen=True, slots=True)
class ReviewerAgent:
    """Judges the code; with `observe` it is told what happened when the public examples were run."""

    ask: Ask
    observe: Observe | None = None

    async def run(self, context: AgentContext, draft: Draft) -> AgentResult:
        """Return the feedback on the draft; a reply that is no review is feedback as it stands."""
        answer = await self.ask(messages := (await self._request(context),))
        reply = clean(answer.completion.text)
        review = parse_review(reply)
        feedback = (review.feedback if review else "") or reply.strip() or NOTHING_SAID
        is_correct = review.is_correct if review else None
        return AgentResult("reviewer", feedback, not is_correct, messages, answer, draft, is_correct)

    async def _request(self, context: AgentContext) -> Message:
        seen = ""
        if self.observe is not None:
            seen = f"\n{_filled('observation', observation=await self.observe(context.current_code))}\n"
        return Message("user", _filled("review", **_facts(context), observation=seen))


@dataclass(frozen=True, slots=True)
class DebuggerAgent:
    """Corrects the code by all feedback so far."""

    ask: Ask
    read: Read

    async def run(self, context: AgentContext) -> AgentResult:
        """Return the corrected code."""
        text = _filled("debug", **_facts(context), feedback=_numbered(context.feedback_history))
        return await _written("debugger", (Message("user", text),), self.ask, self.read)

    async def retry(self, failed: AgentResult) -> AgentResult:
        """Ask again for code in place of an answer that is none, in the same conversation."""
        said = Message("assistant", clean(failed.answer.completion.text) or "(no answer)")
        again = Message("user", _filled("retry", problem=failed.draft.problem))
        return await _written("debugger", (*failed.messages, said, again), self.ask, self.read)


async def _written(role: RoleName, messages: tuple[Message, ...], ask: Ask, read: Read) -> AgentResult:
    answer = await ask(messages)
    draft = read(answer.completion)
    return AgentResult(role, draft.code or "", True, messages, answer, draft)


@cache
def prompts_sha() -> str:
    """Return the SHA-256 (hex) of the roles' prompts: with other prompts it is another agent."""
    return hashlib.sha256(PROMPTS.read_bytes()).hexdigest()


def clean(text: str | None) -> str:
    """Return a reply as it can be sent on: without what UTF-8 cannot hold."""
    return (text or "").encode("utf-8", "replace").decode("utf-8")


@cache
def _prompts() -> dict[str, Template]:
    return {name: Template(text.strip("\n")) for name, text in tomllib.loads(PROMPTS.read_text("utf-8")).items()}


def _filled(name: str, **values: str) -> str:
    return _prompts()[name].substitute(values)


def _facts(context: AgentContext) -> dict[str, str]:
    code = fenced(clean(context.current_code))
    return {"framework": context.framework, "task": context.original_prompt, "code": code}


def _numbered(feedback: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(feedback, start=1))
