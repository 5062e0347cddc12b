"""A circuit breaker: tells when failures that pass in general will not pass within this run."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_webbench.models import ConfigError, ProviderError

FRUITLESS = frozenset({"unreachable", "empty_response", "bad_json"})
FRUITLESS_SAMPLES = 5


@dataclass(slots=True)
class Breaker:
    """What the replies of one model so far say of the next ones.

    `longest_retry_after` is the longest wait in seconds that a run puts up with. `connected`: the server once
    replied; `answered`: a completion once came; `failed` counts the samples in a row that ended in one of `FRUITLESS`.
    """

    longest_retry_after: float
    connected: bool = False
    answered: bool = False
    failed: int = 0

    def replied(self) -> None:
        """Note any reply of the server."""
        self.connected = True

    def completed(self) -> None:
        """Note a completion."""
        self.connected = self.answered = True
        self.failed = 0

    def tripped(self, error: ProviderError) -> ConfigError | None:
        """Count a sample's failure; return the error that stops its model where asking on is hopeless."""
        wait = error.retry_after or 0.0
        if error.failure_class == "rate_limited" and wait > self.longest_retry_after:
            return ConfigError("quota_exhausted", f"{error}: it wants to be asked again in {wait:.0f} s")
        if error.failure_class not in FRUITLESS:
            return None
        self.failed += 1
        many = self.failed >= FRUITLESS_SAMPLES
        if error.failure_class == "unreachable" and (many or not self.connected):
            return ConfigError("unreachable", str(error))
        if many and not self.answered:
            return ConfigError(error.failure_class, f"{error}, and so for the first {self.failed} samples")
        return None
