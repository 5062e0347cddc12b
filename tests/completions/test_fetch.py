"""Fetching: one request a key, in order of need, within limits, nothing lost on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Scripted, Seen, completion, error, faulty

from pytest_webbench.completions import limits
from pytest_webbench.completions.fetch import Fetcher, ModelPlan, Price
from pytest_webbench.completions.limits import Clock
from pytest_webbench.completions.retry import RetryPolicy
from pytest_webbench.completions.store import CompletionStore, open_store
from pytest_webbench.models import Completion, ConfigError, InfrastructureError, ProviderError, Request
from pytest_webbench.models.reference import ReferenceProvider

Make = Callable[..., Any]


def samples(ask: Make, count: int, **sampling: Any) -> list[Request]:
    return [ask(sample, **sampling) for sample in range(count)]


def prompts(server: Loopback) -> list[str]:
    return [body["messages"][0]["content"] for body in server.bodies]


def test_the_same_key_is_asked_for_once(fetching: Make, ask: Make) -> None:
    with Loopback(latency=0.05) as server:
        fetcher = fetching(server)
        futures = [fetcher.submit("m", ask()) for _ in range(5)]
        assert len({future.result(20).key for future in futures}) == 1
        again = fetcher.submit("m", ask()).result(20)
        assert len(server.log) == 1
    assert (again.from_store, again.attempts) == (False, 1)


def test_a_stored_completion_is_not_asked_for(fetching: Make, ask: Make) -> None:
    with Loopback() as server:
        fetching(server).submit("m", ask()).result(20)
        fetcher = fetching(server)
        fetched = fetcher.submit("m", ask()).result(20)
        assert len(server.log) == 1
    assert fetched.from_store
    assert (fetcher.progress().stored, fetcher.progress().sent) == (1, 0)


def test_refresh_asks_again_once_a_run(fetching: Make, ask: Make) -> None:
    with Loopback([completion("old"), completion("new")]) as server:
        fetching(server).submit("m", ask()).result(20)
        fetcher = fetching(server, refresh=True)
        fetcher.prefetch([("m", ask())])
        texts = [fetcher.submit("m", ask()).result(20).completion.text for _ in range(2)]
        assert len(server.log) == 2
    assert texts == ["new", "new"]


def test_offline_serves_the_store_and_misses_the_rest(fetching: Make, ask: Make) -> None:
    with Loopback() as server:
        fetching(server).submit("m", ask(0)).result(20)
        fetcher = fetching(server, offline=True)
        fetcher.prefetch([("m", request) for request in samples(ask, 2)])
        assert fetcher.submit("m", ask(0)).result(20).from_store
        with pytest.raises(InfrastructureError, match="offline") as caught:
            fetcher.submit("m", ask(1)).result(20)
        assert len(server.log) == 1
    assert caught.value.failure_class == "not_stored"


def test_concurrency_is_bounded_over_the_run_and_for_the_model(fetching: Make, ask: Make) -> None:
    for options, bound in (({"concurrency": 3}, 3), ({"plan": {"concurrency": 2}}, 2)):
        with Loopback(latency=0.03) as server:
            fetcher = fetching(server, refresh=True, **options)
            for future in [fetcher.submit("m", request) for request in samples(ask, 12)]:
                future.result(20)
            assert server.most_in_flight == bound


def test_what_is_asked_for_goes_ahead_of_what_was_announced(fetching: Make, ask: Make) -> None:
    with Loopback(latency=0.05) as server:
        fetcher = fetching(server, concurrency=1)
        announced = [ask(0, prompt=f"announced {number}") for number in range(7)]
        fetcher.prefetch([("m", request) for request in announced])
        fetcher.submit("m", announced[0]).result(20)
        fetcher.submit("m", announced[5]).result(20)
        fetcher.submit("m", ask(0, prompt="new")).result(20)
        for request in announced:
            fetcher.submit("m", request).result(20)
        order = prompts(server)
    assert order.index("announced 5") <= 2
    assert order.index("new") <= 4
    rest = [prompt for prompt in order if prompt not in {"announced 5", "new"}]
    assert rest == sorted(rest)


def test_what_is_announced_twice_is_asked_for_once(fetching: Make, ask: Make) -> None:
    with Loopback(latency=0.02) as server:
        fetcher = fetching(server)
        requests = samples(ask, 5)
        first = fetcher.submit("m", requests[0])
        for _ in range(2):
            fetcher.prefetch([("m", request) for request in requests * 2])
        first.result(20)
        for request in requests:
            fetcher.submit("m", request).result(20)
        fetcher.prefetch([("m", request) for request in requests])
        assert len(server.log) == 5


def test_faults_cost_no_sample_and_every_request_is_counted(fetching: Make, ask: Make) -> None:
    answer = faulty(lambda seen: completion(), rate_limited=0.1, reset=0.05)
    with Loopback(answer=answer, latency=0.01) as server:
        fetcher = fetching(server, concurrency=32)
        futures = [fetcher.submit("m", request) for request in samples(ask, 200)]
        fetched = [future.result(30) for future in futures]
        progress = fetcher.progress()
        assert len(server.log) == sum(one.attempts for one in fetched) == progress.sent > 200
    assert (progress.done, progress.failed, progress.left, progress.in_flight) == (200, 0, 0, 0)


def test_a_rate_limiter_that_means_it_loses_no_sample(fetching: Make, ask: Make) -> None:
    moments: list[float] = []

    def at_most_five_at_once(seen: Seen) -> Scripted:
        recent = [moment for moment in moments if seen.arrived - moment < 0.1]
        if len(recent) >= 5:
            return error(429, "slow down", {"Retry-After": "20"})
        moments.append(seen.arrived)
        return completion()

    with Loopback(answer=at_most_five_at_once) as server:
        fetcher = fetching(server, concurrency=16)
        futures = [fetcher.submit("m", request) for request in samples(ask, 40)]
        assert all(future.result(30).completion.text for future in futures)


@pytest.mark.parametrize("policy", [RetryPolicy(), RetryPolicy(retries=0), RetryPolicy(retries=1)])
def test_retries_are_bounded(fetching: Make, ask: Make, policy: RetryPolicy) -> None:
    with Loopback([error(500, "down")] * 9) as server:
        with pytest.raises(InfrastructureError, match="down") as caught:
            fetching(server, retry=policy).submit("m", ask()).result(20)
        assert len(server.log) == policy.retries + 1
    assert caught.value.failure_class == "server_error"


def test_waits_grow_and_differ(fetching: Make, ask: Make, fast: Any) -> None:
    with Loopback([error(500, "down")] * 9) as server:
        fetching(server).submit("m", ask()).exception(20)
    first, second, third = fast.waits
    assert 0.25 <= first <= 0.5
    assert 0.5 <= second <= 1.0 <= third <= 2.0


def test_a_rate_limit_beyond_the_cap_is_an_exhausted_quota(fetching: Make, ask: Make) -> None:
    with Loopback([error(429, "daily limit", {"Retry-After": "300"})]) as server:
        fetcher = fetching(server)
        errors = [fetcher.submit("m", ask(sample)).exception(20) for sample in range(2)]
        assert len(server.log) == 1
    assert {one.failure_class for one in errors if isinstance(one, ConfigError)} == {"quota_exhausted"}
    assert "daily limit" in str(errors[0])
    assert "300 s" in str(errors[0])


def test_a_server_error_beyond_the_cap_ends_its_sample_only(fetching: Make, ask: Make) -> None:
    with Loopback([error(503, "maintenance", {"Retry-After": "300"})]) as server:
        fetcher = fetching(server)
        caught = fetcher.submit("m", ask(0)).exception(20)
        assert fetcher.submit("m", ask(1)).result(20).completion.text
        assert len(server.log) == 2
    assert isinstance(caught, InfrastructureError)


def test_the_deadline_bounds_all_attempts_together(fetching: Make, ask: Make) -> None:
    with Loopback(answer=lambda seen: error(500, "down"), latency=0.1) as server:
        policy = RetryPolicy(retries=100, deadline=60.0)
        caught = fetching(server, retry=policy).submit("m", ask()).exception(20)
        assert 2 <= len(server.log) <= 4
    assert isinstance(caught, InfrastructureError)
    assert caught.failure_class == "server_error"


def test_a_server_that_went_away_costs_a_few_samples_before_its_model_stops(fetching: Make, ask: Make) -> None:
    with Loopback() as server:
        fetcher = fetching(server, concurrency=1)
        fetcher.submit("m", ask(0)).result(20)
    errors = [fetcher.submit("m", ask(sample)).exception(20) for sample in range(1, 9)]
    statuses = [one.status for one in errors if isinstance(one, ProviderError)]
    assert statuses == ["infrastructure_error"] * 4 + ["config_error"] * 4


def test_a_model_that_only_ever_sent_nothing_is_stopped(fetching: Make, ask: Make) -> None:
    with Loopback(answer=lambda seen: completion("", usage=None)) as server:
        fetcher = fetching(server, concurrency=1)
        errors = [fetcher.submit("m", request).exception(20) for request in samples(ask, 8)]
        assert len(server.log) == 5 * 4
    assert [one.status for one in errors if isinstance(one, ProviderError)] == [
        *["infrastructure_error"] * 4,
        *["config_error"] * 4,
    ]
    assert "first 5 samples" in str(errors[-1])


def test_a_failure_is_told_once_and_then_asked_again(fetching: Make, ask: Make, store: CompletionStore) -> None:
    with Loopback([error(500, "down")] * 4) as server:
        fetcher = fetching(server)
        fetcher.prefetch([("m", ask())])
        while fetcher.progress().failed == 0:
            time.sleep(0.01)
        assert isinstance(fetcher.submit("m", ask()).exception(20), InfrastructureError)
        assert len(store) == 0
        assert fetcher.submit("m", ask()).result(20).completion.text
        assert len(server.log) == 5
    assert fetcher.progress().failed == 0


def test_a_stopped_model_leaves_the_others_alone(store: CompletionStore, ask: Make, fetching: Make) -> None:
    answers = {ask(0, prompt="q").key: "x = 1"}
    with Loopback(answer=lambda seen: error(401, "no")) as server:
        fetcher = fetching(server)
        models = {"ref": ModelPlan(lambda: ReferenceProvider(answers)), **fetcher._models}
        both = Fetcher(models, store)
        bad, good = both.submit("m", ask()), both.submit("ref", ask(0, prompt="q"))
        assert isinstance(bad.exception(20), ConfigError)
        assert good.result(20).completion.text == "```python\nx = 1\n```"
        assert isinstance(both.submit("m", ask(1)).exception(20), ConfigError)
        assert len(server.log) == 1
        both.close()


def test_requests_per_minute_hold_no_slot_of_other_models(store: CompletionStore, ask: Make, fetching: Make) -> None:
    with Loopback() as server:
        slow = fetching(server, plan={"requests_per_minute": 1})
        answers = {request.key: "x" for request in samples(ask, 30, prompt="q")}
        models = {"ref": ModelPlan(lambda: ReferenceProvider(answers)), **slow._models}
        both = Fetcher(models, store, concurrency=2)
        waiting = [both.submit("m", request) for request in samples(ask, 8)]
        for request in samples(ask, 30, prompt="q"):
            both.submit("ref", request).result(5)
        assert sum(future.done() for future in waiting) <= 1
        both.close()


def test_a_limit_per_minute_is_never_exceeded(
    fetching: Make, ask: Make, fast: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast.speed = 50.0
    monkeypatch.setattr(limits, "MARGIN_SECONDS", 25.0)
    with Loopback() as server:
        fetcher = fetching(server, plan={"requests_per_minute": 10})
        for future in [fetcher.submit("m", request) for request in samples(ask, 25)]:
            future.result(20)
        moments = [seen.arrived for seen in server.log]
    minute = 60 / fast.speed
    assert max(sum(start <= moment < start + minute for moment in moments) for start in moments) <= 10


def test_tokens_per_minute_are_estimated_before_and_corrected_after(fetching: Make, ask: Make, fast: Any) -> None:
    with Loopback() as server:
        fetcher = fetching(server, concurrency=1, plan={"tokens_per_minute": 200})
        for request in samples(ask, 4, max_tokens=100):
            fetcher.submit("m", request).result(20)
    assert fast.waits == []


def test_cost_is_tokens_times_price_and_unknown_stays_unknown(fetching: Make, ask: Make) -> None:
    price = Price(input=1_000_000.0, output=2_000_000.0)
    with Loopback([completion(), completion(usage=None)]) as server:
        fetcher = fetching(server, plan={"price": price})
        costs = [fetcher.submit("m", request).result(20).completion.cost for request in samples(ask, 2)]
    assert costs == [36.0, None]
    assert (fetcher.progress().spend, fetcher.progress().unpriced) == (36.0, 1)


def test_a_budget_ends_the_asking_before_it_is_passed(fetching: Make, ask: Make) -> None:
    price = Price(input=0.0, output=1_000_000.0)
    with Loopback() as server:
        fetcher = fetching(server, plan={"price": price}, budget=30.0)
        futures = [fetcher.submit("m", request) for request in samples(ask, 10, max_tokens=10)]
        errors = [future.exception(20) for future in futures]
        assert 2 <= len(server.log) == sum(one is None for one in errors) <= 3
    assert {one.failure_class for one in errors if isinstance(one, ProviderError)} == {"budget"}
    assert fetcher.progress().spend <= 30.0


def test_closing_keeps_what_arrived_and_ends_what_is_in_flight(
    fetching: Make, ask: Make, store: CompletionStore
) -> None:
    def quick_or_never(seen: Seen) -> Scripted:
        quick = seen.body["messages"][0]["content"] == "quick"
        return completion() if quick else Scripted(json={}, delay=60)

    with Loopback(answer=quick_or_never) as server:
        fetcher = fetching(server, concurrency=4)
        fetcher.submit("m", ask(prompt="quick")).result(20)
        fetcher.prefetch([("m", request) for request in samples(ask, 9)])
        second = fetcher.submit("m", ask(1))
        started = time.monotonic()
        fetcher.close()
        assert time.monotonic() - started < 3
    caught = second.exception(1)
    assert isinstance(caught, InfrastructureError)
    assert caught.failure_class == "interrupted"
    assert len(store) == 1
    assert isinstance(fetcher.submit("m", ask(5)).exception(1), InfrastructureError)


class Broken:
    """A provider with a mistake in it."""

    async def complete(self, request: Request) -> Completion:
        raise KeyError("choices")

    async def close(self) -> None:
        """Nothing is held."""


def test_a_mistake_in_a_provider_reaches_whoever_waits(store: CompletionStore, ask: Make) -> None:
    fetcher = Fetcher({"m": ModelPlan(Broken)}, store)
    assert isinstance(fetcher.submit("m", ask()).exception(20), KeyError)
    fetcher.close()


def test_a_provider_that_cannot_be_made_stops_its_model(store: CompletionStore, ask: Make) -> None:
    made: list[int] = []

    def provider() -> Any:
        made.append(threading.get_ident())
        raise ConfigError("local_model", "not installed")

    fetcher = Fetcher({"m": ModelPlan(provider)}, store)
    errors = [fetcher.submit("m", request).exception(20) for request in samples(ask, 5)]
    fetcher.close()
    assert {str(one) for one in errors} == {"not installed"}
    assert len(made) == 1


def test_an_unknown_model_is_an_error_of_the_caller(store: CompletionStore, ask: Make) -> None:
    with pytest.raises(KeyError):
        Fetcher({}, store).submit("nobody", ask())


def test_nothing_starts_while_everything_is_stored(fetching: Make, ask: Make) -> None:
    with Loopback() as server:
        fetching(server).submit("m", ask()).result(20)
    before = set(threading.enumerate())
    fetcher = fetching("http://127.0.0.1:9")
    fetcher.prefetch([("m", ask())])
    assert fetcher.submit("m", ask()).result(20).from_store
    assert set(threading.enumerate()) <= before


RUN = """
import sys
from pathlib import Path
from pytest_webbench.completions import limits
from pytest_webbench.completions.fetch import Fetcher, ModelPlan
from pytest_webbench.completions.store import CompletionStore, open_store
from pytest_webbench.models import Message, Parameters, Request
from pytest_webbench.models.openai import OpenAIProvider
url, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
plan = ModelPlan(lambda: OpenAIProvider("m", url, None))
fetcher = Fetcher({"m": plan}, open_store(path), concurrency=8)
asks = [("m", Request((Message("user", f"prompt {n}"),), "m", "e", Parameters(), 0)) for n in range(count)]
fetcher.prefetch(asks)
for ask in asks:
    fetcher.submit(*ask).result()
fetcher.close()
"""


def answered(log: list[Seen], before: float) -> set[str]:
    """Return the prompts whose completion had left the server a moment before a point in time."""
    done = [seen for seen in log if seen.status == 200 and (seen.replied or before) < before - 0.2]
    return {seen.body["messages"][0]["content"] for seen in done}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_loses_nothing_that_had_arrived_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    command = [sys.executable, "-c", RUN, "URL", str(path), "60"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Loopback(answer=faulty(lambda seen: completion(), rate_limited=0.1), latency=0.1) as server:
        command[3] = server.url
        kept: set[str] = set()
        for killed_after in (30, 45):
            start = len(server.log)
            run = subprocess.Popen(command, env=env)
            while sum(seen.status == 200 for seen in server.log) < killed_after and run.poll() is None:
                time.sleep(0.005)
            os.kill(run.pid, signal.SIGKILL)
            killed = time.monotonic()
            run.wait()
            assert not kept & set(prompts(server)[start:])
            kept |= answered(server.log[start:], killed)
            with open_store(path) as store:
                assert kept <= {row.request.messages[0].content for row in store}
        start = len(server.log)
        assert subprocess.run(command, env=env, check=False).returncode == 0
        assert kept
        assert not kept & set(prompts(server)[start:])
    with open_store(path) as store:
        assert len(store) == 60


def test_closing_while_a_provider_is_being_made_waits_for_no_model(store: CompletionStore, ask: Make) -> None:
    closed: list[bool] = []

    class Slow:
        async def complete(self, request: Request) -> Completion:
            raise AssertionError("asked after the end")

        async def close(self) -> None:
            closed.append(True)

    def provider() -> Slow:
        time.sleep(0.3)
        return Slow()

    fetcher = Fetcher({"m": ModelPlan(provider)}, store)
    future = fetcher.submit("m", ask())
    time.sleep(0.1)
    fetcher.close()
    assert isinstance(future.exception(1), InfrastructureError)
    assert closed == [True]


def test_the_clock_is_real_by_default() -> None:
    assert Clock().now() == pytest.approx(time.monotonic(), abs=5)
