"""What the agents of one sample share, and what each of them hands back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from pytest_webbench.models import Completion, Message

RoleName = Literal["codegen", "reviewer", "debugger"]


@dataclass(slots=True)
class AgentContext:
    """The shared, mutable state of one sample's agents.

    `iteration` counts the versions of the code from 0; `feedback_history` holds everything that was found
    wrong so far, oldest first.
    """

    original_prompt: str
    framework: str
    current_code: str = ""
    feedback_history: list[str] = field(default_factory=list)
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A role's completion, the key it is stored under and the alias of the model that gave it."""

    completion: Completion
    key: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """The code of a reply (None where it holds none) and the static tiers' verdicts on it.

    `problem` tells a programmer what is wrong with it; it is empty where both tiers pass.
    """

    code: str | None
    parses: bool
    structured: bool
    problem: str = ""

    @property
    def sound(self) -> bool:
        """Whether both tiers pass."""
        return self.parses and self.structured


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What an agent did: `messages` were sent, `answer` came back, `output` is what was made of it.

    `output` is code or, from a reviewer, feedback. `should_continue` is false once a reviewer finds nothing to
    change. `draft` is the version of the code that the sample has after this step; `is_correct` is a reviewer's
    judgement, None where its reply could not be read.
    """

    role: RoleName
    output: str
    should_continue: bool
    messages: tuple[Message, ...]
    answer: Answer
    draft: Draft
    is_correct: bool | None = None


Ask = Callable[[tuple[Message, ...]], Awaitable[Answer]]
"""Sends messages to the model of a role."""

Read = Callable[[Completion], Draft]
"""Finds the code of a reply and judges it by the static tiers."""

Observe = Callable[[str], Awaitable[str]]
"""Runs code with the public examples of its case and tells what happened."""
