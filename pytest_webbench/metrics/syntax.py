"""CodeBLEU's syntax part: which share of the reference's subtrees occurs in the hypothesis?

A reference subtree counts as often as it occurs, a hypothesis subtree once: the published package's rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping


def syntax_score(reference: Mapping[int, int], hypothesis: Iterable[int | None]) -> float:
    """Return the matched share in [0, 1], from counts per shape id and the hypothesis' shape ids."""
    matched = sum(reference.get(shape, 0) for shape in set(hypothesis) if shape is not None)
    return matched / sum(reference.values())
