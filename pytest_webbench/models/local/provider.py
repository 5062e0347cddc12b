"""The local provider: an OpenAI-compatible one whose server is a child of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from pytest_webbench.models import Completion, InfrastructureError, ProviderError, Request
from pytest_webbench.models.local.server import LocalServer, runtime
from pytest_webbench.models.local.weights import Weights
from pytest_webbench.models.openai import OpenAIProvider

DEFAULT_CONTEXT = 4096
DEFAULT_TIMEOUT = 600.0


def local_endpoint(weights: Weights) -> str:
    """Return what stands for the URL in completion keys: the weights' SHA-256 and the runtime."""
    return f"{weights.sha256} {runtime()}"


class LocalProvider:
    """Asks a model file on this machine; its server starts with the first request and ends with `close`.

    `context` is in tokens, `timeout` in seconds for one request. Requests sent one at a time are
    reproducible. `server` makes the child process for a model file.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        context: int = DEFAULT_CONTEXT,
        threads: int | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        server: Callable[[Path, int, int | None], LocalServer] = LocalServer,
    ) -> None:
        self._weights = weights
        self._context = context
        self._threads = threads
        self._timeout = timeout
        self._make_server = server
        self._starting = asyncio.Lock()
        self._server: LocalServer | None = None
        self._remote: OpenAIProvider | None = None

    async def complete(self, request: Request) -> Completion:
        """Return the model's answer; a server that died is started again with the next request."""
        remote, server = await self._started(request.model_id)
        try:
            return await remote.complete(request)
        except ProviderError as error:
            broke = error.failure_class in ("connection", "unreachable")
            if not (broke and await asyncio.to_thread(server.ended)):
                raise
            message = f"the local model's server ended: {server.failure()}"
            raise InfrastructureError("local_server", message, retryable=True) from error

    async def close(self) -> None:
        """End the server."""
        server, remote = self._server, self._remote
        self._server = self._remote = None
        if remote is not None:
            await remote.close()
        if server is not None:
            await asyncio.to_thread(server.stop)

    async def _started(self, model_id: str) -> tuple[OpenAIProvider, LocalServer]:
        async with self._starting:
            if self._server is not None and not self._server.alive:
                await self.close()
            if self._remote is None or self._server is None:
                model = await asyncio.to_thread(self._weights.file)
                self._server = self._make_server(model, self._context, self._threads)
                await asyncio.to_thread(self._server.start)
                self._remote = OpenAIProvider(model_id, self._server.url, self._server.key, timeout=self._timeout)
            return self._remote, self._server
