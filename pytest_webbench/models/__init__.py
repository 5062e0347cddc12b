"""What goes to a model and what comes back: the words every provider shares.

A provider turns a `Request` into a `Completion` or raises a `ProviderError`. It translates and does
nothing else: retries, limits, storage and progress belong to `pytest_webbench.completions`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, Self

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Parameters:
    """Sampling parameters; `None` means: not sent, the server's own default holds."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra: tuple[tuple[str, str | int | float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One completion to ask for.

    `endpoint` tells apart servers that offer the same model id: the base URL without trailing slash,
    or, for a local model, the SHA-256 of its weights and the runtime's version.
    """

    messages: tuple[Message, ...]
    model_id: str
    endpoint: str
    parameters: Parameters
    sample: int

    @property
    def key(self) -> str:
        """SHA-256 (hex) of everything that changes the request, and of nothing else."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as it arrived; `None` is unknown, never zero.

    `text` is the answer alone, without reasoning; `blocked` names the provider's filter that held the
    answer back (`content_filter`, `safety`, `recitation`, `prompt_blocked`); `latency_seconds` is the
    time of the request that succeeded, without waits and retries; `cost` is in USD.
    """

    text: str | None
    finish_reason: str | None
    refusal: bool = False
    blocked: str | None = None
    model_returned: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_seconds: float | None = None
    cost: float | None = None
    sdk: str | None = None
    created_at: str | None = None
    flags: tuple[str, ...] = ()
    raw: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild a completion from `to_json`'s object."""
        return replace(cls(**data), flags=tuple(data.get("flags", ())))


class ProviderError(Exception):
    """A request that brought no completion. `failure_class` is one word of the outcome taxonomy."""

    status = "infrastructure_error"

    def __init__(
        self,
        failure_class: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.failure_class = failure_class
        self.retryable = retryable
        self.retry_after = retry_after


class InfrastructureError(ProviderError):
    """The network's or the server's fault; `retryable` says whether asking again can help."""


class ConfigError(ProviderError):
    """The user's set-up is at fault (key, URL, model id, parameter): stops the model, never retried."""

    status = "config_error"

    @property
    def stops_model(self) -> bool:
        """Whether no other request can succeed; a request too long concerns its case only."""
        return self.failure_class != "context_length"


class Provider(Protocol):
    """Asks one model. Created in the main process only; used on one asyncio loop."""

    async def complete(self, request: Request) -> Completion:
        """Return the model's completion; raise `ProviderError` for anything else."""

    async def close(self) -> None:
        """Release connections, and the server where the provider started one."""


class SeveralProvider(Provider, Protocol):
    """A provider whose server can answer one request several times."""

    async def complete_several(self, request: Request, count: int) -> list[Completion]:
        """Return at least one completion, and as many as came back: `count` were asked for.

        The first carries the tokens of the whole request.
        """
