"""The line that tells a waiting person what is being waited for."""

from __future__ import annotations

from pytest_webbench.completions.progress import FetchProgress, Waiting
from pytest_webbench.reports.progress import describe


def progress(*waiting: Waiting, done: int = 0, seconds: float = 0.0) -> FetchProgress:
    return FetchProgress(
        total=8, stored=2, sent=1, done=done, failed=0, waiting_for=waiting, output_tokens=300 * done, spend=0.0,
        unpriced=0, seconds=seconds,
    )  # fmt: skip


def test_nothing_is_said_while_answers_come_quickly() -> None:
    assert describe(progress(), {}) == ""
    assert describe(progress(Waiting("m", "k", 0.4)), {}) == ""


def test_the_first_wait_names_the_sample() -> None:
    assert (
        describe(progress(Waiting("m", "k", 7.2)), {"k": "flask/a m sample-0"}) == "6 to go, 7 s for flask/a m sample-0"
    )


def test_later_waits_tell_speed_and_time_left_first() -> None:
    text = describe(progress(Waiting("m", "k", 12.0), done=2, seconds=60.0), {})
    assert text == "4 to go, about 2 min left, 10.0 tokens/s, 12 s for m"
