"""What a model's requests wait for: concurrency, requests and tokens per minute, a budget, a slower pace."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pytest_webbench.models import InfrastructureError

MINUTE = 60.0
MARGIN_SECONDS = 1.0
RECENT_REPLIES = 20
STRAY_SHARE = 0.25
LONG_WAIT_SECONDS = 5.0
DEFAULT_PAUSE_SECONDS = 1.0
JITTER = 1.05


@dataclass(frozen=True, slots=True)
class Clock:
    """Time in seconds and the way to let it pass."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Window:
    """At most `limit` units within any minute: a sliding window, with a margin for travel times.

    A leaky bucket would let a burst and a minute's refill through within one minute, twice the limit.
    """

    def __init__(self, limit: float, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._taken: deque[list[float]] = deque()

    async def take(self, amount: float) -> list[float]:
        """Wait until `amount` fits, and take it; return the entry, `[time, amount]`, to be corrected."""
        amount = min(amount, self._limit)
        while self._sum() + amount > self._limit:
            await self._clock.sleep(self._taken[0][0] + MINUTE + MARGIN_SECONDS - self._clock.now())
        entry = [self._clock.now(), amount]
        self._taken.append(entry)
        return entry

    def _sum(self) -> float:
        horizon = self._clock.now() - MINUTE - MARGIN_SECONDS
        while self._taken and self._taken[0][0] <= horizon:
            self._taken.popleft()
        return sum(amount for _, amount in self._taken)


class Pace:
    """How many requests a model bears at once, learned from its replies.

    Slows down when more than a quarter of the last 20 replies were 429s, or when the server asks for a
    long wait; gains one request of width after as many good replies as it is wide. A pause outlasts every
    jittered wait, so that those that were turned away are back in the queue, and first, when it ends.
    """

    def __init__(self, width: int, clock: Clock) -> None:
        self.width = width
        self.paused_until = 0.0
        self._full = width
        self._clock = clock
        self._recent: deque[bool] = deque(maxlen=RECENT_REPLIES)
        self._good = 0

    def replied(self) -> None:
        """Note a reply that is not a 429."""
        self._recent.append(False)
        self._good += 1
        if self._good >= self.width and self.width < self._full:
            self.width, self._good = self.width + 1, 0

    def limited(self, retry_after: float | None) -> None:
        """Note a 429."""
        self._recent.append(True)
        self._good = 0
        crowded = sum(self._recent) > STRAY_SHARE * RECENT_REPLIES
        if crowded:
            self.width = max(1, self.width // 2)
            self._recent.clear()
        if crowded or (retry_after or 0.0) >= LONG_WAIT_SECONDS:
            pause = DEFAULT_PAUSE_SECONDS if retry_after is None else retry_after
            self.paused_until = max(self.paused_until, self._clock.now() + pause * JITTER)


@dataclass(slots=True, eq=False)
class Ticket:
    """A place in a model's queue: `wanted` ones first, then by `order`; `tokens` is an estimate."""

    order: int
    wanted: bool
    tokens: float
    turn: asyncio.Future[None] | None = field(default=None, repr=False)
    place: list[float] | None = field(default=None, repr=False)
    spent: list[float] | None = field(default=None, repr=False)

    @property
    def waits(self) -> bool:
        """Whether it stands in the queue."""
        return self.turn is not None and not self.turn.done()


class Turnstile:
    """Lets one model's requests through, the most wanted first, whenever every limit allows one more.

    A request that waits here holds nothing: the slot of the run is taken last, and only for the request
    that goes through. `run` is the loop that lets them through.
    """

    def __init__(
        self,
        pace: Pace,
        slots: asyncio.Semaphore,
        requests: Window | None,
        tokens: Window | None,
        clock: Clock,
    ) -> None:
        self.pace = pace
        self.in_flight = 0
        self._slots = slots
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._queue: list[tuple[bool, int, int, Ticket]] = []
        self._pushed = 0
        self._somebody = asyncio.Event()
        self._left = asyncio.Event()

    async def enter(self, ticket: Ticket) -> None:
        """Wait for the ticket's turn; `leave` must follow."""
        ticket.turn = asyncio.get_running_loop().create_future()
        self._push(ticket)
        try:
            await ticket.turn
        except asyncio.CancelledError:
            if not ticket.turn.cancelled():
                self.leave(ticket, None)
            raise

    def leave(self, ticket: Ticket, tokens: int | None) -> None:
        """Make room for the next; `tokens` is what the request really used, where known."""
        if tokens is not None and ticket.spent is not None:
            ticket.spent[1] = tokens
        self.in_flight -= 1
        self._slots.release()
        self._left.set()

    def back_out(self, ticket: Ticket) -> None:
        """Make room for the next without having used the turn."""
        if ticket.place is not None:
            ticket.place[1] = 0
        self.leave(ticket, 0)

    def want(self, ticket: Ticket) -> None:
        """Move a ticket ahead of those that nobody waits for yet."""
        ticket.wanted = True
        if ticket.waits:
            self._push(ticket)

    async def run(self) -> None:
        """Let requests through, for ever."""
        while True:
            await self._somebody.wait()
            await self._room()
            first = self._first()
            spent = await self._tokens.take(first.tokens) if first and self._tokens else None
            place = await self._requests.take(1) if first and self._requests else None
            await self._slots.acquire()
            self._let_through(place, spent)

    async def _room(self) -> None:
        while True:
            pause = self.pace.paused_until - self._clock.now()
            if pause > 0:
                await self._clock.sleep(pause)
            elif self.in_flight >= self.pace.width:
                self._left.clear()
                await self._left.wait()
            else:
                return

    def _let_through(self, place: list[float] | None, spent: list[float] | None) -> None:
        ticket = self._first()
        if ticket is None or ticket.turn is None:
            self._slots.release()
            return
        heapq.heappop(self._queue)
        self.in_flight += 1
        ticket.place, ticket.spent = place, spent
        ticket.turn.set_result(None)

    def _first(self) -> Ticket | None:
        while self._queue and not self._queue[0][3].waits:
            heapq.heappop(self._queue)
        if not self._queue:
            self._somebody.clear()
            return None
        return self._queue[0][3]

    def _push(self, ticket: Ticket) -> None:
        self._pushed += 1
        heapq.heappush(self._queue, (not ticket.wanted, ticket.order, self._pushed, ticket))
        self._somebody.set()


class Budget:
    """Keeps the run's spend below `limit` USD, counting each request in flight at its highest cost."""

    def __init__(self, limit: float | None) -> None:
        self.spent = 0.0
        self._limit = limit
        self._reserved = 0.0
        self._settled = asyncio.Event()

    @asynccontextmanager
    async def reserve(self, cost: float | None) -> AsyncIterator[None]:
        """Hold `cost` while a request is in flight; raise `InfrastructureError` where it would not fit."""
        amount = cost or 0.0
        await self._fits(amount)
        self._reserved += amount
        try:
            yield
        finally:
            self._reserved -= amount
            self._settled.set()

    async def _fits(self, amount: float) -> None:
        while self._limit is not None and self.spent + self._reserved + amount > self._limit:
            if self.spent + amount > self._limit or self._reserved <= 0:
                raise InfrastructureError(
                    "budget", f"the budget of {self._limit:g} USD is used up ({self.spent:.4f} USD spent)"
                )
            self._settled.clear()
            await self._settled.wait()
