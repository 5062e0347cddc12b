"""Limits: sliding windows, the pace learned from replies, the order of the queue, the budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from pytest_webbench.completions.limits import JITTER, Budget, Clock, Pace, Ticket, Turnstile, Window
from pytest_webbench.models import InfrastructureError


@dataclass
class Jumping:
    """Time that jumps ahead whenever somebody sleeps."""

    time: float = 1000.0

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture
def time() -> Jumping:
    return Jumping()


def test_no_minute_holds_more_than_the_limit(time: Jumping) -> None:
    async def take() -> list[float]:
        window = Window(40, time.clock)
        moments = []
        for number in range(150):
            await window.take(1)
            moments.append(time.time)
            time.time += (number % 7) * 0.3
        return moments

    moments = asyncio.run(take())
    assert all(sum(start <= moment < start + 60 for moment in moments) <= 40 for start in moments)
    assert moments[-1] - moments[0] < 61 * 3.75 + 5


def test_an_amount_above_the_limit_waits_for_an_empty_window(time: Jumping) -> None:
    async def take() -> float:
        window = Window(100, time.clock)
        await window.take(10)
        await window.take(500)
        return time.time

    assert asyncio.run(take()) == pytest.approx(1061.0)


def test_a_corrected_amount_makes_room(time: Jumping) -> None:
    async def take() -> float:
        window = Window(100, time.clock)
        entry = await window.take(90)
        entry[1] = 20
        await window.take(80)
        return time.time

    assert asyncio.run(take()) == 1000.0


def test_stray_limits_do_not_slow_down_but_a_quarter_of_them_does(time: Jumping) -> None:
    pace = Pace(16, time.clock)
    for _ in range(5):
        pace.limited(0.5)
    assert (pace.width, pace.paused_until) == (16, 0.0)
    pace.limited(0.5)
    assert (pace.width, pace.paused_until) == (8, 1000.0 + 0.5 * JITTER)


def test_one_long_wait_pauses_the_model(time: Jumping) -> None:
    pace = Pace(16, time.clock)
    pace.limited(30.0)
    assert (pace.width, pace.paused_until) == (16, 1000.0 + 30.0 * JITTER)


def test_good_replies_bring_the_width_back(time: Jumping) -> None:
    pace = Pace(4, time.clock)
    for _ in range(6):
        pace.limited(None)
    assert pace.width == 2
    for _ in range(100):
        pace.replied()
    assert pace.width == 4


def test_the_width_never_falls_to_nothing(time: Jumping) -> None:
    pace = Pace(2, time.clock)
    for _ in range(60):
        pace.limited(None)
    assert pace.width == 1


def _passage(
    time: Jumping, tickets: list[Ticket], *, wanted: Ticket | None = None, cancel: int | None = None
) -> list[int]:
    async def run() -> list[int]:
        turnstile = Turnstile(Pace(1, time.clock), asyncio.Semaphore(1), None, None, time.clock)
        passed: list[int] = []

        async def pass_through(ticket: Ticket) -> None:
            await turnstile.enter(ticket)
            passed.append(ticket.order)
            await asyncio.sleep(0)
            turnstile.leave(ticket, None)

        tasks = [asyncio.create_task(pass_through(ticket)) for ticket in tickets]
        await asyncio.sleep(0)
        if wanted:
            turnstile.want(wanted)
        if cancel is not None:
            tasks[cancel].cancel()
        doorman = asyncio.create_task(turnstile.run())
        await asyncio.gather(*tasks, return_exceptions=True)
        doorman.cancel()
        assert turnstile.in_flight == 0
        return passed

    return asyncio.run(run())


def _tickets() -> list[Ticket]:
    return [Ticket(order, wanted=False, tokens=1) for order in range(5)]


def test_the_queue_goes_by_order(time: Jumping) -> None:
    assert _passage(time, _tickets()[::-1]) == [0, 1, 2, 3, 4]


def test_what_somebody_waits_for_goes_first(time: Jumping) -> None:
    tickets = _tickets()
    assert _passage(time, tickets, wanted=tickets[3]) == [3, 0, 1, 2, 4]


def test_a_cancelled_place_is_given_to_the_next(time: Jumping) -> None:
    assert _passage(time, _tickets(), cancel=1) == [0, 2, 3, 4]


def test_a_budget_refuses_what_would_pass_it() -> None:
    async def spend() -> None:
        budget = Budget(1.0)
        async with budget.reserve(0.9):
            budget.spent += 0.9
        async with budget.reserve(0.2):
            pass

    with pytest.raises(InfrastructureError, match=r"budget of 1 USD .*0\.9000") as caught:
        asyncio.run(spend())
    assert caught.value.failure_class == "budget"


def test_a_request_waits_for_others_whose_cost_may_turn_out_lower() -> None:
    async def spend() -> float:
        budget = Budget(1.0)

        async def one() -> None:
            async with budget.reserve(0.9):
                await asyncio.sleep(0.01)
                budget.spent += 0.05

        await asyncio.gather(one(), one())
        return budget.spent

    assert asyncio.run(spend()) == pytest.approx(0.1)


def test_without_a_budget_nothing_is_refused() -> None:
    async def spend() -> None:
        async with Budget(None).reserve(1e9):
            pass

    asyncio.run(spend())
