"""Gets completions: from the store, else from the models, concurrently and within their limits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pytest_webbench.completions.batches import Batch, Batches, Companion, shared_usage
from pytest_webbench.completions.breaker import Breaker
from pytest_webbench.completions.estimates import Price, highest_cost, most_output_tokens, most_tokens
from pytest_webbench.completions.limits import Budget, Clock, Pace, Ticket, Turnstile, Window
from pytest_webbench.completions.progress import FetchProgress, Tally
from pytest_webbench.completions.retry import Patience, RetryPolicy
from pytest_webbench.completions.store import CompletionStore, StoreError
from pytest_webbench.completions.suspicions import suspicions
from pytest_webbench.models import (
    Completion,
    ConfigError,
    InfrastructureError,
    Provider,
    ProviderError,
    Request,
    SeveralProvider,
)

DEFAULT_CONCURRENCY = 16
CLOSE_SECONDS = 1.0
CLAIMED_SECONDS = 0.5
STORE_SECONDS = 5.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class ModelPlan:
    """How to ask one model. `provider` is called once, off the event loop, before the first request.

    Aliases with one and the same plan share its provider and its limits.

    `retries` takes the place of the policy's; with `n_per_request` above 1 one request may ask for several
    samples of a prompt, and the provider must be a `SeveralProvider`.
    """

    provider: Callable[[], Provider]
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: Price | None = None
    retries: int | None = None
    n_per_request: int = 1


@dataclass(frozen=True, slots=True)
class Fetched:
    """A completion and how it came; `waited_seconds` are the waits between attempts."""

    key: str
    completion: Completion
    from_store: bool
    attempts: int = 0
    waited_seconds: float = 0.0


@dataclass(slots=True, eq=False)
class _Job:
    alias: str
    plan: ModelPlan
    request: Request
    key: str
    ticket: Ticket
    awaited: bool = False
    future: Future[Fetched] = field(default_factory=Future)
    task: asyncio.Task[Fetched] | None = None
    sending: bool = False
    leading: Ticket | None = None


@dataclass(slots=True, eq=False)
class _Lane:
    """What the requests of one model share.

    `stopped` is why nothing more is sent to it; `known_models` are the names that the server gave its model.
    """

    plan: ModelPlan
    turnstile: Turnstile
    batches: Batches
    breaker: Breaker
    doorman: asyncio.Task[None]
    provider: asyncio.Task[Provider] | None = None
    stopped: ConfigError | None = None
    known_models: frozenset[str] = frozenset()
    jobs: set[_Job] = field(default_factory=set)


class Fetcher:
    """Turns requests into completions. Lives in the main process; any thread may call it.

    A request is sent only if its key is not stored (with `refresh`: not yet answered in this run) and
    not already on its way, here or in another run that shares the store. What `submit` asks for goes
    ahead of what `prefetch` announced. A `ConfigError` stops its model: nothing more is sent to it, and
    every further `submit` gets that error.
    `budget` is in USD. The event loop starts with the first request that must be sent.
    """

    def __init__(
        self,
        models: Mapping[str, ModelPlan],
        store: CompletionStore,
        *,
        concurrency: int = DEFAULT_CONCURRENCY,
        offline: bool = False,
        refresh: bool = False,
        budget: float | None = None,
        retry: RetryPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._models = models
        self._store = store
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._offline = offline
        self._refresh = refresh
        self._policy = retry or RetryPolicy()
        self._clock = clock or Clock()
        self._budget = Budget(budget)
        self._tally = Tally(self._clock.now)
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._answered: dict[str, Fetched] = {}
        self._order = 0
        self._lanes: dict[ModelPlan, _Lane] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, alias: str, request: Request, *, urgent: bool = True) -> Future[Fetched]:
        """Return the future of a completion that somebody waits for; what is not `urgent` does not go ahead.

        Its result may raise a `ProviderError`; an unknown alias is a `KeyError` at once.
        """
        key = request.key
        with self._lock:
            job = self._jobs.get(key)
            if job is None and (fetched := self._known(key)):
                return _done(fetched)
            if job is None:
                job = self._ask(alias, request, wanted=urgent)
            elif job.future.done():
                del self._jobs[key]
            elif urgent:
                self._want(job)
            job.awaited = True
            return job.future

    def known(self, key: str) -> Fetched | None:
        """Return a completion that is stored (with `refresh`: that was made in this run)."""
        with self._lock:
            return self._known(key)

    def keep(self, request: Request, fetched: Fetched) -> None:
        """Store a completion that was composed of others, which have been counted and paid for."""
        self._store.put(request, fetched.completion)
        with self._lock:
            self._answered[fetched.key] = replace(fetched, completion=_NOTHING)

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine on the event loop; `close` cancels it."""
        with self._lock:
            if not self._closed:
                return asyncio.run_coroutine_threadsafe(work, self._running())
        work.close()
        future: Future[Result] = Future()
        future.set_exception(_interrupted())
        return future

    def prefetch(self, asks: Iterable[tuple[str, Request]]) -> None:
        """Announce completions that will be needed, in the order of need."""
        by_key = {request.key: (alias, request) for alias, request in asks}
        with self._lock:
            known = set() if self._refresh else set(self._store.get_many(by_key))
            self._tally.stored(known)
            for key, (alias, request) in by_key.items():
                if key not in known and key not in self._jobs and key not in self._answered:
                    self._ask(alias, request, wanted=False)

    def progress(self) -> FetchProgress:
        """Return where the work stands."""
        return self._tally.progress(self._budget.spent)

    def close(self) -> None:
        """Cancel what is in flight and release the providers, within seconds; what had arrived is stored."""
        with self._lock:
            already, self._closed = self._closed, True
            loop, thread = self._loop, self._thread
        if already or loop is None or thread is None:
            return
        ending = asyncio.run_coroutine_threadsafe(self._shut_down(), loop)
        with suppress(TimeoutError):  # held up by a store that does not answer, it ends with the process
            ending.result(CLOSE_SECONDS + STORE_SECONDS)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _known(self, key: str) -> Fetched | None:
        answered = self._answered.get(key)
        if answered is None and self._refresh:
            return None
        completion = self._store.get(key)
        if completion is None:
            return None
        if answered is not None:
            return replace(answered, completion=completion)
        self._tally.stored({key})
        return Fetched(key, completion, from_store=True)

    def _ask(self, alias: str, request: Request, *, wanted: bool) -> _Job:
        self._order += 1
        ticket = Ticket(self._order, wanted, most_tokens(request))
        job = _Job(alias, self._models[alias], request, request.key, ticket)
        job.future.set_running_or_notify_cancel()
        if self._offline or self._closed:
            job.future.set_exception(_offline() if self._offline else _interrupted())
            return job
        self._jobs[job.key] = job
        self._tally.asked(job.key)
        self._running().call_soon_threadsafe(self._launch, job)
        return job

    def _want(self, job: _Job) -> None:
        def move_ahead() -> None:
            if lane := self._lanes.get(job.plan):
                lane.turnstile.want(job.leading or job.ticket)

        job.ticket.wanted = True
        self._running().call_soon_threadsafe(move_ahead)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="webbench-fetch", daemon=True)
            self._thread.start()
        return self._loop

    # From here on everything runs on the event loop.

    def _lane(self, job: _Job) -> _Lane:
        plan, clock = job.plan, self._clock
        if plan not in self._lanes:
            width = min(plan.concurrency or self._concurrency, self._concurrency)
            requests = Window(plan.requests_per_minute, clock) if plan.requests_per_minute else None
            tokens = Window(plan.tokens_per_minute, clock) if plan.tokens_per_minute else None
            turnstile = Turnstile(Pace(width, clock), self._slots, requests, tokens, clock)
            known = self._store.models_returned(job.request.endpoint, job.request.model_id)
            doorman = asyncio.get_running_loop().create_task(turnstile.run())
            breaker = Breaker(self._policy.longest_retry_after)
            batches = Batches(plan.n_per_request)
            self._lanes[plan] = _Lane(plan, turnstile, batches, breaker, doorman, known_models=known)
        return self._lanes[plan]

    def _launch(self, job: _Job) -> None:
        try:
            lane = self._lane(job)
        except StoreError as error:
            with self._lock:
                self._jobs.pop(job.key, None)
            self._tally.failed(job.key)
            job.future.set_exception(_unusable(error))
            return
        lane.jobs.add(job)
        job.task = asyncio.get_running_loop().create_task(self._run(lane, job))
        job.task.add_done_callback(lambda task: self._settle(lane, job, task))

    async def _run(self, lane: _Lane, job: _Job) -> Fetched:
        place = lane.batches.join(job.request, job.ticket)
        while isinstance(place, Companion):
            self._follow(lane, job, place.batch.ticket)
            if (completion := await place.gift) is not None:
                return Fetched(job.key, completion, False)
            place = lane.batches.join(job.request, job.ticket)
        job.leading = None
        try:
            return await self._persist(lane, job, place)
        finally:
            place.release()

    def _follow(self, lane: _Lane, job: _Job, leading: Ticket) -> None:
        job.leading = leading
        leading.tokens += most_output_tokens(job.request)
        if job.ticket.wanted:
            lane.turnstile.want(leading)

    async def _persist(self, lane: _Lane, job: _Job, batch: Batch) -> Fetched:
        retries = self._policy.retries if lane.plan.retries is None else lane.plan.retries
        policy = replace(self._policy, retries=retries)
        patience = Patience(policy, self._clock, lambda: lane.stopped is None)
        try:
            completion: Completion = await patience.retrying()(self._attempt, lane, job, batch, patience)
        except ProviderError as error:
            final = self._final(lane, error, patience)
            raise final from None if final is error else error
        except StoreError as error:
            lane.stopped = lane.stopped or _unusable(error)
            self._stop(lane, lane.stopped)
            raise lane.stopped from error
        return Fetched(job.key, completion, not patience.attempts, patience.attempts, patience.waited)

    async def _attempt(self, lane: _Lane, job: _Job, batch: Batch, patience: Patience) -> Completion:
        if lane.stopped is not None:
            raise lane.stopped
        tokens: int | None = None
        provider = await self._provider(lane)
        if (found := await self._turn(lane, job)) is not None:
            return found
        batch.sent = True
        asked = [job.request, *(companion.request for companion in batch.waiting)]
        try:
            async with self._budget.reserve(highest_cost(lane.plan.price, job.request, len(asked))):
                first, *others = await self._send(provider, lane, job, asked, patience)
                tokens = _used([first, *others])
        finally:
            lane.turnstile.leave(job.ticket, tokens)
            self._store.release(job.key)
        for companion, completion in zip(batch.waiting, others, strict=False):
            companion.gift.set_result(completion)
        return first

    async def _turn(self, lane: _Lane, job: _Job) -> Completion | None:
        """Wait until it is this request's turn, or until another run that shares the store has its completion."""
        while True:
            await lane.turnstile.enter(job.ticket)
            try:
                claimed = self._store.claim(job.key)
                found = None if self._refresh else self._store.get(job.key)
            except BaseException:
                lane.turnstile.back_out(job.ticket)
                raise
            if claimed and found is None:
                return None
            lane.turnstile.back_out(job.ticket)
            if claimed:
                self._store.release(job.key)
            if found is not None:
                self._tally.found(job.key)
                return found
            await self._clock.sleep(CLAIMED_SECONDS)

    async def _send(
        self, provider: Provider, lane: _Lane, job: _Job, asked: Sequence[Request], patience: Patience
    ) -> list[Completion]:
        left = patience.begin()
        job.sending = True
        self._tally.sent(job.alias, job.key)
        try:
            async with asyncio.timeout(left):
                completions = await _completions(provider, asked)
        except TimeoutError as error:
            message = f"no answer within the deadline of {self._policy.deadline:g} s"
            raise InfrastructureError("timeout", message) from error
        except ProviderError as error:
            self._note(lane, error)
            raise
        finally:
            job.sending = False
            self._tally.returned(job.key)
        lane.turnstile.pace.replied()
        lane.breaker.completed()
        return [self._keep(lane, *pair) for pair in zip(asked, completions, strict=False)]

    def _keep(self, lane: _Lane, request: Request, completion: Completion) -> Completion:
        price = lane.plan.price
        cost = price.cost(completion.input_tokens, completion.output_tokens) if price else completion.cost
        flags = (*completion.flags, *suspicions(request, completion, lane.known_models))
        if not lane.known_models and completion.model_returned:
            lane.known_models = frozenset({completion.model_returned})
        now = datetime.now(UTC).isoformat(timespec="seconds")
        kept = replace(completion, cost=cost, flags=flags, created_at=now)
        self._budget.spent += cost or 0.0
        self._store.put(request, kept)
        self._tally.answered(request.key, kept)
        return kept

    async def _provider(self, lane: _Lane) -> Provider:
        if lane.provider is None:
            lane.provider = asyncio.get_running_loop().create_task(asyncio.to_thread(lane.plan.provider))
        return await asyncio.shield(lane.provider)

    def _note(self, lane: _Lane, error: ProviderError) -> None:
        if error.failure_class == "rate_limited":
            if (error.retry_after or 0.0) <= self._policy.longest_retry_after:
                lane.turnstile.pace.limited(error.retry_after)
        elif error.failure_class != "unreachable":
            lane.turnstile.pace.replied()
            lane.breaker.replied()

    def _final(self, lane: _Lane, error: ProviderError, patience: Patience) -> ProviderError:
        if lane.stopped is not None:
            return lane.stopped
        error = lane.breaker.tripped(error) or error
        if isinstance(error, ConfigError) and error.stops_model:
            self._stop(lane, error)
        elif patience.attempts > 1:
            error.args = (f"{error} ({patience.attempts} attempts)",)
        return error

    def _stop(self, lane: _Lane, error: ConfigError) -> None:
        lane.stopped = error
        current = asyncio.current_task()
        for job in lane.jobs:
            if job.task is not None and job.task is not current and not job.sending:
                job.task.cancel()

    def _settle(self, lane: _Lane, job: _Job, task: asyncio.Task[Fetched]) -> None:
        error = (lane.stopped or _interrupted()) if task.cancelled() else task.exception()
        with self._lock:
            lane.jobs.discard(job)
            if error is None:
                self._answered[job.key] = replace(task.result(), completion=_NOTHING)
            else:
                self._tally.failed(job.key)
            if error is None or job.awaited:
                self._jobs.pop(job.key, None)
        if error is None:
            job.future.set_result(task.result())
        else:
            job.future.set_exception(error)

    async def _shut_down(self) -> None:
        lanes = self._lanes.values()
        making = [lane.provider for lane in lanes if lane.provider is not None]
        ending = asyncio.all_tasks() - {asyncio.current_task(), *making}
        for task in ending:
            task.cancel()
        if ending or making:
            await asyncio.wait([*ending, *making], timeout=CLOSE_SECONDS)
        for provider in making:
            if provider.done() and provider.exception() is None:
                await provider.result().close()
            provider.cancel()


_NOTHING = Completion(text=None, finish_reason=None)


async def _completions(provider: Provider, asked: Sequence[Request]) -> list[Completion]:
    """Return a completion for each request, or for the first ones only: they differ in their sample alone."""
    if len(asked) == 1:
        return [await provider.complete(asked[0])]
    several = cast(SeveralProvider, provider)
    return shared_usage((await several.complete_several(asked[0], len(asked)))[: len(asked)])


def _used(completions: Sequence[Completion]) -> int | None:
    counts = [count for one in completions for count in (one.input_tokens, one.output_tokens)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _done(fetched: Fetched) -> Future[Fetched]:
    future: Future[Fetched] = Future()
    future.set_result(fetched)
    return future


def _offline() -> InfrastructureError:
    return InfrastructureError("not_stored", "no stored completion for this sample: run without --webbench-offline")


def _unusable(error: StoreError) -> ConfigError:
    return ConfigError("store", f"{error}; what is stored is kept, the same command goes on from there")


def _interrupted() -> InfrastructureError:
    return InfrastructureError("interrupted", "the run ended before the model answered")
