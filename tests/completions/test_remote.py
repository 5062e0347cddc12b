"""Completions for workers, over a channel that carries plain data only."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import execnet
import pytest

from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.completions.remote import RemoteFetcher, serve
from pytest_webbench.models import Completion, ConfigError, InfrastructureError, ProviderError, Request
from pytest_webbench.models.agent.orchestrator import STEPS


class Side:
    """One end of a channel; everything goes through execnet's own serialiser."""

    def __init__(self) -> None:
        self.inbox: queue.Queue[bytes | None] = queue.Queue()
        self.peer: Side
        self.gone = False

    def send(self, item: object) -> None:
        if self.gone:
            raise OSError("cannot send (already closed?)")
        self.peer.inbox.put(execnet.dumps(item))

    def receive(self, timeout: float | None = None) -> Any:
        data = self.inbox.get(timeout=timeout)
        if data is None:
            raise EOFError
        return execnet.loads(data)

    def setcallback(self, callback: Callable[[Any], None]) -> None:
        def deliver() -> None:
            while (data := self.inbox.get()) is not None:
                callback(execnet.loads(data))

        threading.Thread(target=deliver, daemon=True).start()


@pytest.fixture
def sides() -> tuple[Side, Side]:
    worker, controller = Side(), Side()
    worker.peer, controller.peer = controller, worker
    return worker, controller


def future_of(outcome: Fetched | ProviderError) -> Future[Fetched]:
    future: Future[Fetched] = Future()
    if isinstance(outcome, Fetched):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)
    return future


def test_a_completion_arrives_as_it_was_but_for_the_raw_response(
    sides: tuple[Side, Side], ask: Callable[..., Request]
) -> None:
    seen: list[tuple[str, Request]] = []
    completion = Completion("text \u00e9", "stop", input_tokens=3, cost=0.5, flags=("cut",), raw={"id": 1})

    def submit(alias: str, request: Request) -> Future[Fetched]:
        seen.append((alias, request))
        return future_of(Fetched(request.key, completion, from_store=False, attempts=2, waited_seconds=1.5))

    worker, controller = sides
    serve(controller, submit)
    request = ask(temperature=0.8, seed=1)
    fetched = RemoteFetcher(worker).ask("m", request)
    assert seen == [("m", request)]
    assert fetched.key == request.key
    assert (fetched.completion.text, fetched.completion.flags, fetched.completion.raw) == ("text \u00e9", ("cut",), {})
    assert (fetched.from_store, fetched.attempts, fetched.completion.cost) == (False, 2, 0.5)


@pytest.mark.parametrize("error", [ConfigError("auth", "bad key"), InfrastructureError("timeout", "too slow")])
def test_an_error_keeps_its_kind(sides: tuple[Side, Side], ask: Callable[..., Request], error: ProviderError) -> None:
    worker, controller = sides
    serve(controller, lambda alias, request: future_of(error))
    with pytest.raises(type(error), match=str(error)) as caught:
        RemoteFetcher(worker).ask("m", ask())
    assert caught.value.failure_class == error.failure_class


def test_a_fault_of_the_controller_is_told_and_leaves_no_worker_waiting(
    sides: tuple[Side, Side], ask: Callable[..., Request]
) -> None:
    def submit(alias: str, request: Request) -> Future[Fetched]:
        if alias == "unknown":
            raise KeyError(alias)
        return future_of(Fetched("k", Completion("x", "stop", raw={STEPS: [object()]}), from_store=False))

    serve(sides[1], submit)
    for alias in ("unknown", "unsendable"):
        with pytest.raises(InfrastructureError) as told:
            RemoteFetcher(sides[0]).ask(alias, ask())
        assert told.value.failure_class == "internal"


def test_a_controller_that_is_gone_is_an_infrastructure_error(
    sides: tuple[Side, Side], ask: Callable[..., Request]
) -> None:
    worker, _ = sides
    worker.inbox.put(None)
    with pytest.raises(InfrastructureError, match="the controller is gone"):
        RemoteFetcher(worker).ask("m", ask())


def _ask_in_vain(worker: Side, request: Request) -> None:
    with pytest.raises(InfrastructureError):
        RemoteFetcher(worker).ask("m", request)


def test_a_worker_that_is_gone_does_not_disturb_the_controller(
    sides: tuple[Side, Side], ask: Callable[..., Request]
) -> None:
    worker, controller = sides
    answered = threading.Event()

    def submit(alias: str, request: Request) -> Future[Fetched]:
        controller.gone = True
        answered.set()
        return future_of(InfrastructureError("timeout", "too slow"))

    serve(controller, submit)
    asking = threading.Thread(target=_ask_in_vain, args=(worker, ask()))
    asking.start()
    assert answered.wait(5)
    worker.inbox.put(None)
    asking.join(5)
    assert not asking.is_alive()
