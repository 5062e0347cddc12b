"""When the server counts a response as over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_webbench.sandbox.inside.serve import _Body

EVENTS: list[str] = []


@pytest.fixture(autouse=True)
def _no_events() -> None:
    EVENTS.clear()


def read(body: _Body) -> None:
    for part in body:
        EVENTS.append(part.decode())


def body_of(parts: list[bytes], expected: list[int]) -> _Body:
    return _Body(parts, expected, lambda: EVENTS.append("end"))


def test_a_response_of_known_length_ends_before_its_last_byte_leaves() -> None:
    read(body_of([b"ab", b"cd"], [4]))
    assert EVENTS[:3] == ["ab", "end", "cd"]


def test_a_response_of_unknown_length_ends_with_its_iterable() -> None:
    read(body_of([b"ab", b"cd"], []))
    assert EVENTS == ["ab", "cd", "end"]


def test_an_empty_response_ends_without_a_byte() -> None:
    read(body_of([], []))
    assert EVENTS == ["end"]


def test_a_response_that_breaks_ends_too() -> None:
    def broken() -> Iterator[bytes]:
        yield b"ab"
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        read(_Body(broken(), [9], lambda: EVENTS.append("end")))
    assert EVENTS == ["ab", "end"]


def test_the_apps_own_iterable_is_closed() -> None:
    class Parts(list[bytes]):
        def close(self) -> None:
            EVENTS.append("closed")

    body_of(Parts(), []).close()
    assert EVENTS == ["closed"]
