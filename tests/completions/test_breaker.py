"""When failures of a model stop it."""

from __future__ import annotations

import pytest

from pytest_webbench.completions.breaker import FRUITLESS_SAMPLES, Breaker
from pytest_webbench.models import InfrastructureError


@pytest.fixture
def breaker() -> Breaker:
    return Breaker(longest_retry_after=300)


def classes(breaker: Breaker, *failure_classes: str) -> list[str | None]:
    stops = [breaker.tripped(InfrastructureError(name, "message")) for name in failure_classes]
    return [stop and stop.failure_class for stop in stops]


def test_a_server_that_never_replied_stops_at_once(breaker: Breaker) -> None:
    assert classes(breaker, "unreachable") == ["unreachable"]


def test_a_server_that_once_replied_is_given_several_samples(breaker: Breaker) -> None:
    breaker.replied()
    patient = [None] * (FRUITLESS_SAMPLES - 1)
    assert classes(breaker, *["unreachable"] * FRUITLESS_SAMPLES) == [*patient, "unreachable"]


def test_a_model_that_never_completed_is_given_several_samples(breaker: Breaker) -> None:
    patient = [None] * (FRUITLESS_SAMPLES - 1)
    assert classes(breaker, *["bad_json"] * FRUITLESS_SAMPLES) == [*patient, "bad_json"]


def test_a_model_that_once_completed_goes_on(breaker: Breaker) -> None:
    breaker.completed()
    assert classes(breaker, *["empty_response"] * 2 * FRUITLESS_SAMPLES) == [None] * 2 * FRUITLESS_SAMPLES


def test_a_completion_begins_the_count_anew(breaker: Breaker) -> None:
    breaker.replied()
    before = classes(breaker, *["unreachable"] * (FRUITLESS_SAMPLES - 1))
    breaker.completed()
    assert classes(breaker, *["unreachable"] * (FRUITLESS_SAMPLES - 1)) == before


def test_other_failures_never_stop_a_model(breaker: Breaker) -> None:
    assert classes(breaker, *["timeout"] * 2 * FRUITLESS_SAMPLES) == [None] * 2 * FRUITLESS_SAMPLES


@pytest.mark.parametrize(("wait", "stops"), [(None, False), (300, False), (301, True)])
def test_a_wait_beyond_the_longest_is_an_exhausted_quota(breaker: Breaker, wait: float | None, stops: bool) -> None:
    stop = breaker.tripped(InfrastructureError("rate_limited", "slow down", retry_after=wait))
    assert (stop is not None) is stops
    if stop:
        assert stop.failure_class == "quota_exhausted"
        assert f"asked again in {wait} s" in str(stop)
