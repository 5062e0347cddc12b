"""Completions for workers: a worker asks over an execnet channel, the controller's fetcher answers.

Nothing else is shared, so workers may be other hosts.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Protocol

from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.models import (
    Completion,
    ConfigError,
    InfrastructureError,
    Message,
    Parameters,
    ProviderError,
    Request,
)
from pytest_webbench.models.agent.orchestrator import STEPS

Submit = Callable[[str, Request], "Future[Fetched]"]


class Channel(Protocol):
    """The part of `execnet.Channel` that is used."""

    def send(self, item: object) -> None:
        """Send plain data to the other side."""

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for the other side's next data; raises EOFError when it is gone."""

    def setcallback(self, callback: Callable[[Any], None]) -> None:
        """Have `callback` called with all data from now on."""


class RemoteFetcher:
    """The worker's side: asks for one completion at a time."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def ask(self, alias: str, request: Request) -> Fetched:
        """Return the completion; raise the `ProviderError` that the controller met."""
        with self._lock:
            number = next(self._numbers)
            try:
                self._channel.send({"number": number, "alias": alias, "request": _request_to_plain(request)})
                reply = self._receive(number)
            except (EOFError, OSError) as error:
                raise InfrastructureError("lost", f"the controller is gone: {error}") from None
        if "error" in reply:
            raise _error_from_plain(reply["error"])
        fetched = json.loads(reply["fetched"])
        return Fetched(**{**fetched, "completion": Completion.from_json(fetched["completion"])})

    def _receive(self, number: int) -> dict[str, Any]:
        while True:
            reply: dict[str, Any] = self._channel.receive()
            if reply["number"] == number:
                return reply


def serve(channel: Channel, submit: Submit) -> None:
    """The controller's side: answer everything that comes over `channel` by `submit`."""

    def on_request(message: dict[str, Any]) -> None:
        try:
            future = submit(message["alias"], _request_from_plain(message["request"]))
        except Exception as error:  # whatever it is: a worker that gets no answer waits for ever
            future = _failed(error)
        future.add_done_callback(lambda done: _reply(channel, message["number"], done))

    channel.setcallback(on_request)


def _failed(error: Exception) -> Future[Fetched]:
    future: Future[Fetched] = Future()
    future.set_exception(error)
    return future


def _reply(channel: Channel, number: int, future: Future[Fetched]) -> None:
    with suppress(OSError):  # the worker is gone: its samples are reported as lost
        channel.send({"number": number, **_outcome(future)})


def _outcome(future: Future[Fetched]) -> dict[str, Any]:
    try:
        return {"fetched": _fetched_to_json(future.result())}
    except ProviderError as error:
        return {"error": _error_to_plain(error)}
    except Exception as error:
        return {"error": _error_to_plain(InfrastructureError("internal", repr(error)))}


def _fetched_to_json(fetched: Fetched) -> str:
    """Return JSON in ASCII, which also holds what UTF-8 cannot; of the raw response an agent's steps alone travel."""
    raw = {name: value for name, value in fetched.completion.raw.items() if name == STEPS}
    return json.dumps(asdict(replace(fetched, completion=replace(fetched.completion, raw=raw))))


def _request_to_plain(request: Request) -> dict[str, Any]:
    plain = asdict(request)
    plain["messages"] = [(message.role, message.content) for message in request.messages]
    return plain


def _request_from_plain(plain: dict[str, Any]) -> Request:
    parameters = plain["parameters"]
    return Request(
        messages=tuple(Message(role, content) for role, content in plain["messages"]),
        model_id=plain["model_id"],
        endpoint=plain["endpoint"],
        parameters=Parameters(**{**parameters, "extra": tuple(tuple(pair) for pair in parameters["extra"])}),
        sample=plain["sample"],
    )


def _error_to_plain(error: ProviderError) -> dict[str, Any]:
    message = str(error).encode("utf-8", "replace").decode()
    return {"status": error.status, "failure_class": error.failure_class, "message": message}


def _error_from_plain(plain: dict[str, Any]) -> ProviderError:
    kind = ConfigError if plain["status"] == "config_error" else InfrastructureError
    return kind(plain["failure_class"], plain["message"])
