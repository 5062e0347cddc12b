"""Agents between the fetcher and those who wait: who goes first, what is kept, what a failure leaves behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Scripted, Seen, completion, error
from project import write_case

from pytest_webbench.agents import AgentPlan, Agents, Player
from pytest_webbench.cases import Case, load_case
from pytest_webbench.completions.fetch import Fetcher, ModelPlan
from pytest_webbench.completions.store import CompletionStore, open_store
from pytest_webbench.models import InfrastructureError, Message, Parameters, Request
from pytest_webbench.models.agent.context import RoleName
from pytest_webbench.models.openai import OpenAIProvider

ROLES: tuple[RoleName, ...] = ("codegen", "reviewer", "debugger")


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_case(write_case(tmp_path, "alpha"))


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Callable[..., tuple[Agents, Fetcher]]]:
    """Make the agent `team`, whose one model is served by a loopback server."""
    made: list[tuple[Fetcher, CompletionStore]] = []

    def make(server: Loopback, labels: dict[str, str] | None = None, **options: Any) -> tuple[Agents, Fetcher]:
        store = open_store(tmp_path / "store.sqlite")
        model = ModelPlan(lambda: OpenAIProvider("m", server.url, None, timeout=5.0, key_name="KEY"), retries=0)
        fetcher = Fetcher({"m": model}, store, **options)
        made.append((fetcher, store))
        players = {role: Player("m", "m", server.url, Parameters(temperature=0.2)) for role in ROLES}
        return Agents({"team": AgentPlan(players, 1)}, fetcher, {} if labels is None else labels, None), fetcher

    yield make
    for fetcher, store in made:
        fetcher.close()
        store.close()


def ask(number: int, sample: int = 0) -> Request:
    return Request((Message("user", f"Task {number}."),), "agent_system", "agent", Parameters(), sample)


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def task(seen: Seen) -> str:
    text = seen.body["messages"][0]["content"]
    return text[text.index("Task ") :][:6]


def test_what_somebody_waits_for_goes_ahead_of_what_was_announced(team: Any, case: Case) -> None:
    labels: dict[str, str] = {}
    with Loopback(latency=0.05) as server:
        agents, _ = team(server, labels, concurrency=1)
        for number in range(6):
            agents.announce("team", ask(number), case)
        wait_until(lambda: len(labels) == 6)
        agents.submit("team", ask(5)).result(20)
        ahead = [task(seen) for seen in server.log]
    assert ahead.count("Task 5") == 3
    assert len(ahead) <= 6


def test_a_sample_announced_twice_or_asked_for_twice_is_worked_on_once(team: Any, case: Case) -> None:
    with Loopback(latency=0.02) as server:
        agents, _ = team(server)
        for _ in range(2):
            agents.announce("team", ask(0), case)
        results = [agents.submit("team", ask(0)).result(20) for _ in range(2)]
        agents.announce("team", ask(0), case)
        assert len(server.log) == 3
    assert results[0].completion.text == results[1].completion.text
    assert [one.from_store for one in results] == [False, False]


def test_samples_share_no_call(team: Any, case: Case) -> None:
    with Loopback() as server:
        agents, _ = team(server)
        for sample in range(2):
            agents.announce("team", ask(0, sample), case)
            agents.submit("team", ask(0, sample)).result(20)
        assert len(server.log) == 6


def test_a_failure_is_told_once_and_the_loop_is_then_taken_up_where_it_stopped(team: Any, case: Case) -> None:
    with Loopback(script=[completion(), error(500, "no")]) as server:
        agents, fetcher = team(server)
        agents.announce("team", ask(0), case)
        wait_until(lambda: fetcher.progress().failed == 1)
        time.sleep(0.05)
        with pytest.raises(InfrastructureError, match=r"^reviewer \(m\): "):
            agents.submit("team", ask(0)).result(20)
        agents.submit("team", ask(0)).result(20)
        assert len(server.log) == 2 + 2


def test_what_is_stored_of_an_agent_is_its_answer_and_its_calls(team: Any, case: Case) -> None:
    with Loopback() as server:
        agents, fetcher = team(server)
        agents.announce("team", ask(0), case)
        answer = agents.submit("team", ask(0)).result(20)
        again, _ = team(server)
        again.announce("team", ask(0), case)
        stored = again.submit("team", ask(0)).result(20)
        assert len(server.log) == 3
    assert stored.from_store
    assert stored.completion == answer.completion
    assert fetcher.known(answer.key).completion == answer.completion
    for step in answer.completion.raw["agent_steps"]:
        assert fetcher.known(step["completion_key"]).completion.text == step["reply"]


def test_the_end_of_a_run_ends_a_loop_that_waits(team: Any, case: Case) -> None:
    with Loopback(answer=lambda seen: Scripted(delay=30)) as server:
        agents, fetcher = team(server)
        agents.announce("team", ask(0), case)
        future = agents.submit("team", ask(0))
        fetcher.close()
        with pytest.raises(InfrastructureError, match="the run ended"):
            future.result(5)
        with pytest.raises(InfrastructureError, match="the run ended"):
            agents.submit("team", ask(0)).result(5)


@pytest.mark.parametrize("change", [{"max_iterations": 2}, {"observe": True}, {"players": {}}])
def test_another_agent_has_another_endpoint(change: dict[str, Any]) -> None:
    player = Player("m", "m", "u", Parameters(temperature=0.2))
    plain: dict[str, Any] = {"players": {"codegen": player}, "max_iterations": 1}
    assert AgentPlan(**plain).endpoint == AgentPlan(**plain).endpoint
    assert AgentPlan(**plain).endpoint != AgentPlan(**{**plain, **change}).endpoint
