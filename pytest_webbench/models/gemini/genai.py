"""Gemini by google-genai, the successor of google-generativeai."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pytest_webbench.models import Completion, ConfigError, InfrastructureError, Request
from pytest_webbench.models.gemini import DEFAULT_TIMEOUT
from pytest_webbench.models.gemini.answers import (
    API_VERSION,
    asked_of,
    completion_of,
    error_of,
    system_text,
    turns,
    without_key,
)
from pytest_webbench.models.transport import connection_failure, http_client, time_out


class GenAIProvider:
    """Asks one model; `timeout` bounds a whole request, in seconds."""

    def __init__(
        self,
        model_id: str,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        key_name: str = "the API key",
    ) -> None:
        from google import genai
        from google.genai import types

        self._asked = asked_of(base_url, model_id, key_name)
        self._key = api_key
        self._timeout = timeout
        self._sdk = f"google-genai {version('google-genai')}"
        self._http = http_client(base_url, timeout)
        options = types.HttpOptions(base_url=base_url, api_version=API_VERSION, httpx_async_client=self._http)
        self._client = genai.Client(vertexai=False, api_key=api_key or "none", http_options=options)

    async def complete(self, request: Request) -> Completion:
        """Return the model's answer; raise `ProviderError` with the failure class of what went wrong."""
        started = time.monotonic()
        body = await self._body(request)
        completion = completion_of(body, self._asked)
        return replace(completion, latency_seconds=time.monotonic() - started, sdk=self._sdk)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _body(self, request: Request) -> dict[str, Any]:
        import httpx2
        from google.genai import errors

        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.aio.models.generate_content(
                    model=request.model_id, contents=_contents(request), config=_config(request)
                )
        except errors.APIError as error:
            failure = error_of(error.code, _error_body(error), _headers(error), self._asked)
            raise without_key(failure, self._key) from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise time_out(error, time.monotonic() - started, self._timeout, self._asked) from error
        except httpx2.HTTPError as error:
            raise connection_failure(error, self._asked) from error
        except ValueError as error:
            message = f"{self._asked.host} sent no answer of the Gemini API"
            raise InfrastructureError("bad_json", message, retryable=True) from error
        left_out = {"sdk_http_response", "automatic_function_calling_history", "parsed"}
        body: dict[str, Any] = response.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=left_out)
        return body


def _contents(request: Request) -> Any:
    from google.genai import types

    return [types.Content(role=role, parts=[types.Part(text=text)]) for role, text in turns(request.messages)]


def _config(request: Request) -> Any:
    from google.genai import types

    parameters = request.parameters
    given: dict[str, Any] = {
        "system_instruction": system_text(request.messages) or None,
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_output_tokens": parameters.max_tokens,
        "seed": parameters.seed,
        **dict(parameters.extra),
    }
    try:
        return types.GenerateContentConfig(**given)
    except ValueError as error:
        raise ConfigError("bad_parameter", f"google-genai knows no such parameter: {error}") from error


def _error_body(error: Any) -> object:
    """Return the server's JSON; the SDK puts any other body into a dictionary of its own."""
    details = error.details
    if isinstance(details, dict) and "error" not in details and "message" in details:
        return str(details["message"])
    return details


def _headers(error: Any) -> dict[str, str]:
    headers = getattr(error.response, "headers", None) or {}
    return {name.lower(): value for name, value in headers.items()}
