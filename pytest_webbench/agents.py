"""Agent samples in a run: each is a coroutine on the fetcher's loop whose calls are ordinary completions.

So a role's call is stored, resumed, limited, priced and counted like any other, and an agent that waits for a
model holds nothing. What comes of the loop is stored too, under the sample's own key.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_webbench.cases import Case
from pytest_webbench.completions.fetch import Fetched, Fetcher
from pytest_webbench.extraction import Code, extract_code
from pytest_webbench.model_table import DEFAULT_ITERATIONS
from pytest_webbench.models import Completion, InfrastructureError, Message, Parameters, ProviderError, Request
from pytest_webbench.models.agent import (
    AgentContext,
    Answer,
    CodeGenAgent,
    DebuggerAgent,
    Draft,
    Orchestrator,
    ReviewerAgent,
)
from pytest_webbench.models.agent.context import RoleName
from pytest_webbench.models.agent.roles import prompts_sha
from pytest_webbench.prompts import without_system
from pytest_webbench.tiers import structure, syntax

if TYPE_CHECKING:
    from pytest_webbench.observation import Observer

NO_CODE = "the answer holds no Python code"
CUT = "the answer was cut off before the code was complete, so the file must be shorter"


@dataclass(frozen=True, slots=True)
class Player:
    """The model that plays a role: alias, provider's id, endpoint, and what is sent with each request."""

    alias: str
    model_id: str
    endpoint: str
    parameters: Parameters
    system_role: bool = True

    def request(self, messages: tuple[Message, ...], sample: int) -> Request:
        """Return the request for a sample: seed = base seed + sample index."""
        seed = self.parameters.seed
        parameters = replace(self.parameters, seed=None if seed is None else seed + sample)
        sent = messages if self.system_role else without_system(messages)
        return Request(sent, self.model_id, self.endpoint, parameters, sample)


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """How an agent works: who plays which role, for how many iterations; `observe`: reviews see examples run."""

    players: Mapping[RoleName, Player]
    max_iterations: int = DEFAULT_ITERATIONS
    observe: bool = False

    @property
    def endpoint(self) -> str:
        """What tells the completions of different agents apart: a hash of everything that makes the agent."""
        about = [{role: asdict(player) for role, player in self.players.items()}, self.max_iterations, self.observe]
        text = json.dumps([*about, prompts_sha()], sort_keys=True)
        return f"agent:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(slots=True, eq=False)
class _Job:
    """One agent sample on its way; `calling` is what its loop waits for, `urgent` that somebody waits for it."""

    urgent: bool
    future: Future[Fetched] = field(default_factory=Future)
    calling: tuple[str, Request] | None = None


class Agents:
    """Turns an agent's requests into completions, as the fetcher does for a model's. Any thread may call it.

    `labels` gets what a person calls each role's call, by completion key. `observer` runs public examples.
    """

    def __init__(
        self, plans: Mapping[str, AgentPlan], fetcher: Fetcher, labels: dict[str, str], observer: Observer | None
    ) -> None:
        self._plans = plans
        self._fetcher = fetcher
        self._labels = labels
        self._observer = observer
        self._lock = threading.RLock()  # a sample that ends as soon as it begins is settled by who begins it
        self._cases: dict[str, Case] = {}
        self._jobs: dict[str, _Job] = {}

    def __contains__(self, alias: str) -> bool:
        return alias in self._plans

    def announce(self, alias: str, request: Request, case: Case) -> None:
        """Start on a sample that will be needed."""
        key = request.key
        self._cases[key] = case
        with self._lock:
            if key not in self._jobs and self._fetcher.known(key) is None:
                self._begin(alias, request, urgent=False)

    def submit(self, alias: str, request: Request) -> Future[Fetched]:
        """Return the future of an announced sample's completion; its result may raise a `ProviderError`."""
        key = request.key
        with self._lock:
            job = self._jobs.get(key)
            if job is None and (fetched := self._fetcher.known(key)):
                done: Future[Fetched] = Future()
                done.set_result(fetched)
                return done
            if job is None:
                job = self._begin(alias, request, urgent=True)
            job.urgent = True
            if job.future.done():
                self._jobs.pop(key, None)
            elif (calling := job.calling) is not None:
                self._fetcher.submit(*calling)
            return job.future

    def _begin(self, alias: str, request: Request, *, urgent: bool) -> _Job:
        job = self._jobs[request.key] = _Job(urgent)
        job.future.set_running_or_notify_cancel()
        working = self._fetcher.start(_Sample(self, job, alias, request, self._cases[request.key]).run())
        working.add_done_callback(lambda done: self._settle(request.key, job, done))
        return job

    def _settle(self, key: str, job: _Job, done: Future[Fetched]) -> None:
        """Hand on what came; a failure that nobody waits for yet is kept for the first who asks."""
        error = _interrupted() if done.cancelled() else done.exception()
        with self._lock:
            if error is None or job.urgent:
                self._jobs.pop(key, None)
        if error is None:
            job.future.set_result(done.result())
        else:
            job.future.set_exception(error)

    # From here on everything runs on the fetcher's event loop.

    async def play(self, job: _Job, player: Player, request: Request, label: str) -> Fetched:
        """Return a role's completion: an ordinary one."""
        self._labels[request.key] = label
        job.calling = (player.alias, request)
        try:
            return await asyncio.wrap_future(self._fetcher.submit(player.alias, request, urgent=job.urgent))
        finally:
            job.calling = None

    def plan(self, alias: str) -> AgentPlan:
        """Return how an agent works."""
        return self._plans[alias]

    def keep(self, request: Request, fetched: Fetched) -> None:
        """Store a sample's completion."""
        self._fetcher.keep(request, fetched)

    async def observe(self, case: Case, code: Code) -> str:
        """Run the case's public examples, in a thread of their own."""
        if self._observer is None:
            raise InfrastructureError("sandbox", "this run has no sandbox for the agents' examples")
        return await self._observer.observe(case, code)


@dataclass(slots=True)
class _Sample:
    """The loop of one sample: gives the agents a model to ask, a reader of code and, perhaps, examples to run."""

    agents: Agents
    job: _Job
    alias: str
    request: Request
    case: Case
    calls: list[Fetched] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)

    async def run(self) -> Fetched:
        plan, opening = self.agents.plan(self.alias), self.request.messages
        orchestrator = Orchestrator(
            CodeGenAgent(lambda messages: self._ask("codegen", messages), self._read, opening),
            ReviewerAgent(lambda messages: self._ask("reviewer", messages), self._observe if plan.observe else None),
            DebuggerAgent(lambda messages: self._ask("debugger", messages), self._read),
            plan.max_iterations,
        )
        outcome = await orchestrator.run(AgentContext(opening[-1].content, self.case.framework))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        fetched = Fetched(
            self.request.key,
            replace(outcome.completion, created_at=now),
            from_store=all(call.from_store for call in self.calls),
            attempts=sum(call.attempts for call in self.calls),
            waited_seconds=sum(call.waited_seconds for call in self.calls),
        )
        self.agents.keep(self.request, fetched)
        return fetched

    async def _ask(self, role: RoleName, messages: tuple[Message, ...]) -> Answer:
        player = self.agents.plan(self.alias).players[role]
        label = f"{self.case.name} {self.alias} sample-{self.request.sample} {role}"
        try:
            fetched = await self.agents.play(self.job, player, player.request(messages, self.request.sample), label)
        except ProviderError as error:
            raise _of_role(role, player.alias, error) from error
        self.calls.append(fetched)
        return Answer(fetched.completion, fetched.key, player.alias)

    def _read(self, completion: Completion) -> Draft:
        draft, code = read_draft(completion, self.case.framework)
        self.codes[code.text or ""] = code
        return draft

    async def _observe(self, code: str) -> str:
        return await self.agents.observe(self.case, self.codes[code])


def read_draft(completion: Completion, framework: str) -> tuple[Draft, Code]:
    """Return the code of a reply with the verdicts of the static tiers, and the code with its files."""
    code = extract_code(completion.text, framework, completion.finish_reason)
    cut = CUT if code.failure_class == "truncated" else ""
    if code.text is None:
        return Draft(None, False, False, cut or NO_CODE), code
    parsed, structured = syntax.check(code.text), structure.check(code.text, framework)
    problem = cut or parsed.message or structured.message
    return Draft(code.text, parsed.passed, structured.passed, problem), code


def _of_role(role: RoleName, alias: str, error: ProviderError) -> ProviderError:
    """Return the same kind of error, named after the role that met it."""
    kind = type(error)
    return kind(error.failure_class, f"{role} ({alias}): {error}")


def _interrupted() -> InfrastructureError:
    return InfrastructureError("interrupted", "the run ended before the agent had finished")
