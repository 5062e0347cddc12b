"""pass@k, the unbiased estimator of Chen et al. 2021."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the probability that at least one of `k` samples passes, given that `c` of `n` did.

    1 - C(n - c, k) / C(n, k), in exact integers up to the last division. `None` where n < k: fewer samples
    than k estimate nothing. Raises ValueError for a negative number, for c > n and for k < 1.

    >>> pass_at_k(n=10, c=7, k=1)
    0.7
    """
    if min(n, c) < 0 or c > n:
        raise ValueError(f"expected 0 <= c <= n, got n={n}, c={c}")
    if k < 1:
        raise ValueError(f"expected k >= 1, got k={k}")
    if n < k:
        return None
    choices = comb(n, k)
    return (choices - comb(n - c, k)) / choices


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """Return the mean over cases of pass@k, from each case's (n, c); cases with n < k are left out.

    `None` where no case is left: never 0, never NaN.

    >>> mean_pass_at_k([(10, 10), (2, 0)], k=1)
    0.5
    """
    values = [value for n, c in counts if (value := pass_at_k(n, c, k)) is not None]
    return sum(values) / len(values) if values else None
