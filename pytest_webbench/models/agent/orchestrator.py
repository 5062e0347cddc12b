"""The loop: generate, then review and debug until a review finds nothing or the iterations are used up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from pytest_webbench.models import Completion
from pytest_webbench.models.agent.context import AgentContext, AgentResult
from pytest_webbench.models.agent.roles import CodeGenAgent, DebuggerAgent, ReviewerAgent

DEBUG_RETRIES = 2
STEPS = "agent_steps"
REVISED = "revised"
SDK = "agent"
Number = TypeVar("Number", int, float)


@dataclass(slots=True)
class Orchestrator:
    """Leads the agents of one sample.

    Iteration 0 generates. Each of at most `max_iterations` further ones begins with a review; the loop ends where
    the review finds nothing, otherwise the debugger corrects. Code that fails syntax or structure is not worth a
    review: it is generated anew. A debugger whose reply does not parse is asked again, at most `DEBUG_RETRIES`
    times an iteration. A last version is not reviewed: nothing would follow from it.
    """

    codegen: CodeGenAgent
    reviewer: ReviewerAgent
    debugger: DebuggerAgent
    max_iterations: int
    steps: list[tuple[int, AgentResult]] = field(default_factory=list)

    async def run(self, context: AgentContext) -> Outcome:
        """Return every step and the best version; what a role's model raises goes through."""
        versions = [await self._write(context, self.codegen.run)]
        while context.iteration < self.max_iterations:
            written = versions[-1]
            revise: Callable[[AgentContext], Awaitable[AgentResult]] = self.codegen.run
            feedback = written.draft.problem
            if written.draft.sound:
                review = self._noted(context, await self.reviewer.run(context, written.draft))
                if not review.should_continue:
                    break
                revise, feedback = self._debug, review.output
            context.feedback_history.append(feedback)
            context.iteration += 1
            versions.append(await self._write(context, revise))
        return Outcome(tuple(self.steps), tuple(versions))

    async def _write(
        self, context: AgentContext, write: Callable[[AgentContext], Awaitable[AgentResult]]
    ) -> AgentResult:
        written = self._noted(context, await write(context))
        context.current_code = written.output
        return written

    async def _debug(self, context: AgentContext) -> AgentResult:
        written = await self.debugger.run(context)
        for _ in range(DEBUG_RETRIES):
            if written.draft.parses:
                break
            self._noted(context, written)
            written = await self.debugger.retry(written)
        return written

    def _noted(self, context: AgentContext, result: AgentResult) -> AgentResult:
        self.steps.append((context.iteration, result))
        return result


@dataclass(frozen=True, slots=True)
class Outcome:
    """All steps of a sample, each with its iteration, and the versions of its code in order."""

    steps: tuple[tuple[int, AgentResult], ...]
    versions: tuple[AgentResult, ...]

    @property
    def best(self) -> AgentResult:
        """The latest version that passes both tiers, else the latest that parses, else the latest."""
        newest = self.versions[::-1]
        sound = (version for version in newest if version.draft.sound)
        parsing = (version for version in newest if version.draft.parses)
        return next(sound, None) or next(parsing, None) or newest[0]

    @property
    def completion(self) -> Completion:
        """The sample's completion: the best version's reply, with the tokens, cost and time of all steps.

        `raw` holds the steps (see `steps_of`). The flag `revised` tells that the code is not that of iteration 0.
        """
        best, made = self.best.answer.completion, [result.answer.completion for _, result in self.steps]
        flags = dict.fromkeys(flag for one in made for flag in one.flags)
        if self.best.output != self.versions[0].output:
            flags[REVISED] = None
        return Completion(
            text=best.text,
            finish_reason=best.finish_reason,
            refusal=best.refusal,
            blocked=best.blocked,
            model_returned=best.model_returned,
            input_tokens=_sum([one.input_tokens for one in made]),
            output_tokens=_sum([one.output_tokens for one in made]),
            latency_seconds=_sum([one.latency_seconds for one in made]),
            cost=_sum([one.cost for one in made]),
            sdk=SDK,
            flags=tuple(flags),
            raw={STEPS: [_plain(iteration, result) for iteration, result in self.steps]},
        )


def steps_of(completion: Completion) -> list[dict[str, Any]]:
    """Return the steps of an agent's completion, in order; none for any other completion.

    Each has the fields of `records.Step` and, beside them, `messages`, `reply` and, from a programmer, `code`.
    """
    steps: list[dict[str, Any]] = completion.raw.get(STEPS, [])
    return steps


def _plain(iteration: int, result: AgentResult) -> dict[str, Any]:
    completion, draft = result.answer.completion, result.draft
    return {
        "iteration": iteration,
        "role": result.role,
        "model": result.answer.model,
        "completion_key": result.answer.key,
        "syntax": "passed" if draft.parses else "failed",
        "structure": "passed" if draft.structured else "failed",
        "is_correct": result.is_correct,
        "finish_reason": completion.finish_reason,
        "input_tokens": completion.input_tokens,
        "output_tokens": completion.output_tokens,
        "cost": completion.cost,
        "latency_seconds": completion.latency_seconds,
        "messages": [asdict(message) for message in result.messages],
        "reply": completion.text,
        "code": None if result.role == "reviewer" else draft.code,
    }


def _sum(values: list[Number | None]) -> Number | None:
    """Return the sum, None where a part is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
