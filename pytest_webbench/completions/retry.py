"""When to ask again, and how long to wait before: strategies for tenacity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import uniform

from tenacity import AsyncRetrying, RetryCallState

from pytest_webbench.completions.limits import JITTER, Clock
from pytest_webbench.models import ProviderError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long one completion is tried for; times in seconds.

    `deadline` bounds requests and waits together from the first request on; a server that asks for more
    than `longest_retry_after` is not asked again. A request that ran into its time-out is repeated once.
    """

    retries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 20.0
    longest_retry_after: float = 120.0
    deadline: float = 900.0
    timeouts: int = 2


@dataclass(slots=True)
class Patience:
    """The state of the policy for one completion."""

    policy: RetryPolicy
    clock: Clock
    may_go_on: Callable[[], bool]
    attempts: int = 0
    waited: float = 0.0
    started: float | None = None
    _timeouts: int = field(default=0, repr=False)

    def retrying(self) -> AsyncRetrying:
        """Return tenacity's loop over the attempts; the last error is raised as it is."""
        return AsyncRetrying(sleep=self._sleep, wait=self._wait, stop=self._stop, retry=self._retry, reraise=True)

    def begin(self) -> float:
        """Note an attempt; return the seconds left before the deadline."""
        now = self.clock.now()
        self.started = now if self.started is None else self.started
        self.attempts += 1
        return self.started + self.policy.deadline - now

    def _retry(self, state: RetryCallState) -> bool:
        error = _error(state)
        self._timeouts += error is not None and error.failure_class == "timeout"
        return error is not None and error.retryable and self.may_go_on()

    def _wait(self, state: RetryCallState) -> float:
        error = _error(state)
        if error is not None and error.retry_after:
            return error.retry_after * uniform(1.0, JITTER)
        longest = self.policy.first_wait * 2.0 ** (self.attempts - 1)
        return uniform(0.5, 1.0) * min(longest, self.policy.longest_wait)

    def _stop(self, state: RetryCallState) -> bool:
        error = _error(state)
        left = (self.started or 0.0) + self.policy.deadline - self.clock.now()
        return (
            self.attempts > self.policy.retries
            or self._timeouts >= self.policy.timeouts
            or state.upcoming_sleep >= left
            or (error is not None and (error.retry_after or 0.0) > self.policy.longest_retry_after)
        )

    async def _sleep(self, seconds: float) -> None:
        self.waited += seconds
        await self.clock.sleep(seconds)


def _error(state: RetryCallState) -> ProviderError | None:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, ProviderError) else None
