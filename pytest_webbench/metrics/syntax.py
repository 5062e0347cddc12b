"""CodeBLEU's syntax part: which share of the reference's subtrees occurs in the hypothesis?

A reference subtree counts as often as it occurs, a hypothesis subtree once: the published package's rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def syntax_score(reference: Mapping[int | None, int], hypothesis: Iterable[int | None]) -> float:
    """Return the matched share in [0, 1], from counts per shape id and the hypothesis' shape ids."""
    matched = sum(reference.get(shape, 0) for shape in set(hypothesis))
    return matched / sum(reference.values())
