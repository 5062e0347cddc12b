"""BLEU-4 and CodeBLEU's keyword-weighted n-gram recall, both over whitespace-separated tokens.

Formulas: Papineni et al. 2002 (BLEU) with smoothing method 1 of Chen and Cherry 2014; Ren et al. 2020
(CodeBLEU) for the weighted variant, in the form the published package computes: a recall whose
brevity penalty compares with length 2. Comments and docstrings count as tokens in both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

MAX_ORDER = 4
KEYWORD_WEIGHT = 1.0
OTHER_WEIGHT = 0.2
SMOOTHING = 0.1
WEIGHTED_REFERENCE_LENGTH = 2

PYTHON_KEYWORDS = frozenset(
    "False None True and as assert async await break class continue def del elif else except finally for "
    "from global if import in is lambda nonlocal not or pass raise return try while with yield match case "
    "type".split()
)

NGram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NGrams:
    """The n-grams of one text: `counts[n - 1]` maps each n-gram to its number, for n from 1 to 4."""

    length: int
    counts: tuple[Mapping[NGram, int], ...]

    @classmethod
    def of(cls, text: str) -> NGrams:
        """Split at whitespace and count."""
        tokens = text.split()
        shifted = [list(islice(tokens, n, None)) for n in range(MAX_ORDER)]
        counts = tuple(Counter(zip(*shifted[: n + 1], strict=False)) for n in range(MAX_ORDER))
        return cls(len(tokens), counts)

    def total(self, order: int) -> int:
        """Number of n-grams of an order, at least 1 so that it can be a denominator."""
        return max(1, self.length - order + 1)


def ngram_scores(reference: NGrams, hypothesis: NGrams) -> tuple[float, float]:
    """Return (BLEU-4, weighted n-gram recall), each in [0, 1]."""
    common = [_overlap(r, h) for r, h in zip(reference.counts, hypothesis.counts, strict=True)]
    if not common[0]:
        return 0.0, 0.0
    orders = range(1, MAX_ORDER + 1)
    precisions = [(common[n - 1], hypothesis.total(n)) for n in orders]
    recalls = [
        _weighted_unigrams(reference.counts[0], hypothesis.counts[0]),
        *((common[n - 1], reference.total(n)) for n in orders[1:]),
    ]
    bleu = _brevity_penalty(reference.length, hypothesis.length) * _smoothed_mean(precisions)
    weighted = _brevity_penalty(WEIGHTED_REFERENCE_LENGTH, hypothesis.length) * _smoothed_mean(recalls)
    return bleu, weighted


def _overlap(reference: Mapping[NGram, int], hypothesis: Mapping[NGram, int]) -> int:
    return sum(min(reference[gram], hypothesis[gram]) for gram in reference.keys() & hypothesis.keys())


def _weighted_unigrams(
    reference: Mapping[NGram, int], hypothesis: Mapping[NGram, int]
) -> tuple[float, float]:
    matched = total = 0.0
    for gram, count in reference.items():
        weight = KEYWORD_WEIGHT if gram[0] in PYTHON_KEYWORDS else OTHER_WEIGHT
        total += weight * count
        matched += weight * min(count, hypothesis.get(gram, 0))
    return matched, max(1.0, total)


def _smoothed_mean(fractions: list[tuple[float, float]]) -> float:
    """Geometric mean; a numerator of 0 counts as 0.1."""
    logs = (math.log((numerator or SMOOTHING) / total) / MAX_ORDER for numerator, total in fractions)
    return math.exp(math.fsum(logs))


def _brevity_penalty(reference_length: int, hypothesis_length: int) -> float:
    if hypothesis_length > reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length)
