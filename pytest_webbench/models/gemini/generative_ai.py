"""Gemini by google-generativeai, over REST: its client blocks, so that each request gets a thread."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pytest_webbench.models import Completion, ConfigError, InfrastructureError, Request
from pytest_webbench.models.gemini import DEFAULT_TIMEOUT
from pytest_webbench.models.gemini.answers import (
    asked_of,
    completion_of,
    error_of,
    resource,
    system_text,
    turns,
    without_key,
)
from pytest_webbench.models.transport import connection_failure, is_loopback, time_out

CONNECTIONS = 64


class GenerativeAIProvider:
    """Asks one model. The SDK knows no seed: samples differ by chance alone, flagged `seed_dropped`."""

    def __init__(
        self,
        model_id: str,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        key_name: str = "the API key",
    ) -> None:
        self._asked = asked_of(base_url, model_id, key_name)
        self._key = api_key
        self._timeout = timeout
        self._sdk = f"google-generativeai {version('google-generativeai')}"
        self._client = _client(base_url, api_key or "none")

    async def complete(self, request: Request) -> Completion:
        """Return the model's answer; raise `ProviderError` with the failure class of what went wrong."""
        started = time.monotonic()
        call = self._call(request)
        try:
            async with asyncio.timeout(self._timeout):
                body = await _in_thread(call)
        except TimeoutError as error:
            raise time_out(error, time.monotonic() - started, self._timeout, self._asked) from error
        dropped = () if request.parameters.seed is None else ("seed_dropped",)
        completion = completion_of(body, self._asked, dropped)
        return replace(completion, latency_seconds=time.monotonic() - started, sdk=self._sdk)

    async def close(self) -> None:
        """Close the connections."""
        self._client.transport.close()

    def _call(self, request: Request) -> Callable[[], dict[str, Any]]:
        import requests
        from google.ai import generativelanguage as glm
        from google.api_core.exceptions import GoogleAPICallError
        from google.protobuf.json_format import MessageToDict, ParseError

        message = _message(request)

        def call() -> dict[str, Any]:
            try:
                response = self._client.generate_content(message, retry=None, timeout=self._timeout)
            except GoogleAPICallError as error:
                failure = error_of(*_parts(error.response), self._asked)
                raise without_key(failure, self._key) from error
            except requests.Timeout as error:
                raise time_out(error, self._timeout, self._timeout, self._asked) from error
            except requests.RequestException as error:
                raise connection_failure(error, self._asked) from error
            except ParseError as error:
                text = f"{self._asked.host} sent no answer of the Gemini API"
                raise InfrastructureError("bad_json", text, retryable=True) from error
            body: dict[str, Any] = MessageToDict(glm.GenerateContentResponse.pb(response))
            return body

        return call


def _client(base_url: str, api_key: str) -> Any:
    """Return a REST client of its own: `genai.configure` would set one for the whole process."""
    import requests
    from google.ai import generativelanguage as glm
    from google.api_core.client_options import ClientOptions

    options = ClientOptions(api_key=api_key, api_endpoint=base_url)
    client = glm.GenerativeServiceClient(transport="rest", client_options=options)
    transport: Any = client.transport
    session = transport._session
    session.mount(f"{base_url}/", requests.adapters.HTTPAdapter(pool_maxsize=CONNECTIONS))
    session.trust_env = not is_loopback(base_url)
    session.verify = os.environ.get("SSL_CERT_FILE") or True
    return client


def _message(request: Request) -> Any:
    from google.ai import generativelanguage as glm

    parameters, system = request.parameters, system_text(request.messages)
    sampling = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_output_tokens": parameters.max_tokens,
        **dict(parameters.extra),
    }
    given = {name: value for name, value in sampling.items() if value is not None}
    try:
        config = glm.GenerationConfig(**given)
    except (TypeError, ValueError) as error:
        raise ConfigError("bad_parameter", f"google-generativeai knows no such parameter: {error}") from error
    return glm.GenerateContentRequest(
        model=resource(request.model_id),
        contents=[glm.Content(role=role, parts=[glm.Part(text=text)]) for role, text in turns(request.messages)],
        system_instruction=glm.Content(parts=[glm.Part(text=system)]) if system else None,
        generation_config=config,
    )


def _parts(response: Any) -> tuple[int, object, dict[str, str]]:
    headers = {name.lower(): value for name, value in response.headers.items()}
    try:
        return response.status_code, response.json(), headers
    except ValueError:
        return response.status_code, response.text, headers


async def _in_thread(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Await a blocking call in a thread that nobody waits for when the run ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[dict[str, Any]] = loop.create_future()

    def settle(body: dict[str, Any] | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif body is not None:
            future.set_result(body)

    def run() -> None:
        body, failure = None, None
        try:
            body = call()
        except Exception as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, body, failure)

    threading.Thread(target=run, name="webbench-gemini", daemon=True).start()
    return await future
