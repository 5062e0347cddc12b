"""What the tests of fetching share: fast time, requests, a fetcher in front of a loopback server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback

from pytest_webbench.completions.fetch import Fetcher, ModelPlan
from pytest_webbench.completions.limits import Clock
from pytest_webbench.completions.store import CompletionStore, open_store
from pytest_webbench.models import Message, Parameters, Request
from pytest_webbench.models.openai import OpenAIProvider


@dataclass
class FastTime:
    """Seconds that pass `speed` times as fast as real ones; `waits` are those that were asked for."""

    speed: float = 200.0
    waits: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: time.monotonic() * self.speed, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(seconds / self.speed)


@pytest.fixture
def fast() -> FastTime:
    return FastTime()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CompletionStore]:
    with open_store(tmp_path / "completions.sqlite") as opened:
        yield opened


@pytest.fixture
def ask() -> Callable[..., Request]:
    """Make the request for a sample of one prompt."""

    def make(sample: int = 0, *, prompt: str = "Write a Flask app.", endpoint: str = "e", **sampling: Any) -> Request:
        messages = (Message("user", prompt),)
        return Request(messages, "acme/coder-1", endpoint, Parameters(**sampling), sample)

    return make


@pytest.fixture
def fetching(store: CompletionStore, fast: FastTime) -> Iterator[Callable[..., Fetcher]]:
    """Make a fetcher whose model `m` is served by a loopback server; keywords go to plan and fetcher."""
    made: list[Fetcher] = []

    def make(
        server: Loopback | str,
        *,
        key: str | None = None,
        plan: dict[str, Any] | None = None,
        timeout: float = 5.0,
        **more: Any,
    ) -> Fetcher:
        url = server if isinstance(server, str) else server.url

        def provider() -> OpenAIProvider:
            return OpenAIProvider("acme/coder-1", url, key, timeout=timeout, key_name="ACME_KEY")

        models = {"m": ModelPlan(provider, **(plan or {}))}
        fetcher = Fetcher(models, store, **{"clock": fast.clock, **more})
        made.append(fetcher)
        return fetcher

    yield make
    for fetcher in made:
        fetcher.close()
