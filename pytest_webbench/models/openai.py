"""Any OpenAI-compatible server, by the openai SDK: NIM, OpenAI, vLLM, Ollama, llama.cpp, OpenRouter ...

The SDK sends; bodies are read here as JSON from bytes, since servers return what the SDK's types do not
foresee. What a server refuses (`max_tokens`, a temperature, calls without a stream) is learned once.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_webbench.models import Completion, InfrastructureError, ProviderError, Request
from pytest_webbench.models.failures import (
    Asked,
    blocked_by,
    error_field,
    from_status,
    redact,
    server_text,
    wrong_url,
)
from pytest_webbench.models.replies import all_choices
from pytest_webbench.models.streams import assembled, is_stream
from pytest_webbench.models.transport import clean_base_url, connection_failure, http_client, time_out

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

DEFAULT_TIMEOUT = 300.0

_REFUSED = re.compile(
    r"unsupported|not support|not permitted|unrecognized|unknown|unexpected|not allowed|extra inputs",
    re.IGNORECASE,
)
_STREAM_ONLY = re.compile(
    r"non-?stream|only supports? stream|stream(ing)?( mode)? (is )?required|stream must be|requires? stream",
    re.IGNORECASE,
)
_DROPPABLE = ("temperature", "top_p", "seed", "n")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server was found to want, as far as it differs from the usual."""

    max_tokens_name: str = "max_tokens"
    dropped: frozenset[str] = frozenset()
    stream: bool = False

    def body(self, request: Request, count: int = 1) -> dict[str, Any]:
        """Return the JSON body that asks for `request`, `count` times over."""
        parameters = request.parameters
        sampling = {
            "n": count if count > 1 else None,
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            "seed": parameters.seed,
            self.max_tokens_name: parameters.max_tokens,
        }
        sent = {name: value for name, value in sampling.items() if value is not None and name not in self.dropped}
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        streaming = {"stream": True, "stream_options": {"include_usage": True}} if self.stream else {}
        return {"model": request.model_id, "messages": messages} | sent | streaming | dict(parameters.extra)

    def adapted(self, body: object) -> Dialect | None:
        """Return the dialect that the refusal `body` asks for; `None` where it asks for no known one."""
        text = json.dumps(body, ensure_ascii=False)
        if self.max_tokens_name == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, max_tokens_name="max_completion_tokens")
        if not self.stream and _STREAM_ONLY.search(text):
            return replace(self, stream=True)
        if _REFUSED.search(text):
            for name in _DROPPABLE:
                named = error_field(body, "param") == name or re.search(rf"['\"`]{name}\b", text)
                if name not in self.dropped and named:
                    return replace(self, dropped=self.dropped | {name})
        return None


class OpenAIProvider:
    """Asks one model of one server. `timeout` bounds a whole request, in seconds.

    `key_name` is what messages call the key, such as its environment variable.
    """

    def __init__(
        self,
        model_id: str,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        key_name: str = "the API key",
        stream: bool = False,
    ) -> None:
        import openai

        base = clean_base_url(base_url)
        self._asked = Asked(f"{base}/chat/completions", model_id, key_name)
        self._sdk = f"openai {openai.__version__}"
        self._timeout = timeout
        self._key = api_key
        self._headers = {} if api_key else {"Authorization": openai.omit}
        self._dialect = Dialect(stream=stream)
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=base,
            api_key=api_key or "none",
            max_retries=0,
            http_client=http_client(base, timeout),
        )

    async def complete(self, request: Request) -> Completion:
        """Return the model's answer; raise `ProviderError` with the failure class of what went wrong."""
        return (await self.complete_several(request, 1))[0]

    async def complete_several(self, request: Request, count: int) -> list[Completion]:
        """Return the answers that came back to one request for `count` of them."""
        while True:
            dialect = self._dialect
            started = time.monotonic()
            status, headers, content = await self._post(dialect.body(request, count))
            latency = time.monotonic() - started
            body = _decoded(content)
            if status in (400, 422) and (better := dialect.adapted(body)):
                self._dialect = better
                continue
            answers = self._completions(status, headers, body, dialect)
            return [replace(answer, latency_seconds=latency, sdk=self._sdk) for answer in answers]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _post(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        import openai

        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(
                    "/chat/completions",
                    body=body,
                    cast_to=_raw_response(),
                    options={"headers": self._headers},
                )
                return _parts(response)
        except openai.APIStatusError as error:
            return _parts(error.response)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise time_out(error, time.monotonic() - started, self._timeout, self._asked) from error
        except openai.APIConnectionError as error:
            raise connection_failure(error, self._asked) from error

    def _completions(self, status: int, headers: dict[str, str], body: object, dialect: Dialect) -> list[Completion]:
        if isinstance(body, dict) and _usable(body) and status < 400:
            return self._answers(body, dialect)
        raw = body if isinstance(body, dict) else {}
        if (status < 400 or status in (400, 403, 422)) and (filter_name := blocked_by(body)):
            return [Completion(text=None, finish_reason=None, blocked=filter_name, raw=raw)]
        if status >= 400:
            raise self._safe(from_status(status, body, headers, self._asked))
        raise self._safe(self._unusable(status, headers, body))

    def _answers(self, body: dict[str, Any], dialect: Dialect) -> list[Completion]:
        dropped = tuple(f"{name}_dropped" for name in sorted(dialect.dropped))
        completions = [
            Completion(
                text=reply.text,
                finish_reason=reply.finish_reason,
                refusal=reply.refusal,
                blocked=reply.blocked,
                model_returned=reply.model,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                flags=(*reply.flags, *dropped),
                raw=body,
            )
            for reply in all_choices(body)
        ]
        if _says_nothing(completions[0]):
            raise InfrastructureError("empty_response", f"{self._asked.host} sent an empty answer", retryable=True)
        return completions

    def _unusable(self, status: int, headers: dict[str, str], body: object) -> ProviderError:
        host = self._asked.host
        if isinstance(body, dict) and body.get("error"):
            code = error_field(body, "code")
            meant = int(code) if re.fullmatch(r"[45]\d\d", code) else 502
            return from_status(meant, body, headers, self._asked)
        if isinstance(body, dict) and "choices" in body:
            return InfrastructureError("empty_response", f"{host} sent no choices", retryable=True)
        if isinstance(body, str) and re.search(r"<html|<!doctype", body, re.IGNORECASE):
            return wrong_url(status, self._asked)
        text = redact(server_text(body))
        return InfrastructureError("bad_json", f"{host} sent no chat completion: {text}", retryable=True)

    def _safe(self, error: ProviderError) -> ProviderError:
        if self._key and self._key in str(error):
            error.args = (str(error).replace(self._key, "[removed]"),)
        return error


def _raw_response() -> type[httpx2.Response]:
    import httpx2

    return httpx2.Response


def _parts(response: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return response.status_code, headers, response.content


def _decoded(content: bytes) -> object:
    if is_stream(content):
        return assembled(content.decode("utf-8", "replace"))
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")


def _usable(body: dict[str, Any]) -> bool:
    choices = body.get("choices")
    return isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)


def _says_nothing(completion: Completion) -> bool:
    """Tell a failed response from a model that chose to say nothing: the latter used tokens."""
    silent = not (completion.text or "").strip() and not completion.output_tokens
    return silent and completion.finish_reason in (None, "stop") and not (completion.blocked or completion.refusal)
