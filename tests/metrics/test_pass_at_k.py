"""pass@k."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webbench.metrics import mean_pass_at_k, pass_at_k


@pytest.mark.parametrize(("n", "c", "k"), [(1, 2, 1), (-1, 0, 1), (5, -1, 1), (5, 6, 5), (3, 1, 0), (3, 1, -1)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        pass_at_k(n, c, k)


@given(st.integers(1, 9), st.data())
def test_it_is_the_share_of_draws_of_k_that_hold_a_passing_sample(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == float(Fraction(sum(map(any, draws)), len(draws)))


@given(st.integers(1, 10_000), st.data())
def test_it_lies_between_0_and_1_and_grows_with_k(n: int, data: st.DataObject) -> None:
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, max(1, n // 2)))
    smaller, larger = pass_at_k(n, c, k), pass_at_k(n, c, min(n, k + 1))
    assert smaller is not None
    assert larger is not None
    assert 0 <= smaller <= larger <= 1


def test_pass_at_1_is_the_share_that_passed() -> None:
    assert [pass_at_k(10, c, 1) for c in range(11)] == [c / 10 for c in range(11)]


def test_large_counts_do_not_overflow() -> None:
    value = pass_at_k(100_000, 1, 50_000)
    assert value is not None
    assert math.isclose(value, 0.5)


def test_the_mean_leaves_out_cases_that_estimate_nothing() -> None:
    assert mean_pass_at_k([(10, 5), (1, 1)], k=5) == pass_at_k(10, 5, 5)
