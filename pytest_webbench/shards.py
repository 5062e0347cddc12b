"""A run in parts: which cases a shard has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

FORM = re.compile(r"([1-9]\d*)/([1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count` (from 1), which has whole cases: every model, template and sample of them."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def of(self, case_ids: Iterable[str]) -> frozenset[str]:
        """Return the shard's cases of a selection.

        The ids are ordered by their SHA-256, so that neighbours such as the frameworks of one need, or a row of
        slow cases, part; and dealt out in turn, so that no shard has two more than another. The same selection
        gives the same shards on every machine and in every order of collection.

        >>> sorted(Shard(1, 2).of(["web_001", "web_002", "web_003", "web_004"]))
        ['web_002', 'web_003']
        """
        ordered = sorted(set(case_ids), key=lambda case_id: hashlib.sha256(case_id.encode()).digest())
        return frozenset(ordered[self.index - 1 :: self.count])


def parse_shard(text: str) -> Shard:
    """Read I/N with I from 1 to N; raises `ValueError`."""
    found = FORM.fullmatch(text.strip())
    shard = Shard(*(int(part) for part in found.groups())) if found else None
    if shard is None or shard.index > shard.count:
        raise ValueError(f"expected I/N with I from 1 to N, such as 2/4, found {text!r}")
    return shard
