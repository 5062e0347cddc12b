"""BLEU-4 and CodeBLEU's keyword-weighted n-gram recall, both over whitespace-separated tokens.

Formulas: Papineni et al. 2002 (BLEU) with smoothing method 1 of Chen and Cherry 2014; Ren et al. 2020
(CodeBLEU) for the weighted variant, in the form the published package computes: a recall whose
brevity penalty compares with length 2. Comments and docstrings count as tokens in both.
"""

from __future__ import annotations

import keyword
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

MAX_ORDER = 4
KEYWORD_WEIGHT = 1.0
OTHER_WEIGHT = 0.2
SMOOTHING = 0.1
WEIGHTED_REFERENCE_LENGTH = 2

PYTHON_KEYWORDS = frozenset([*keyword.kwlist, "match", "case", "type"])

NGram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NGrams:
    """The n-grams of one text: `counts[n - 1]` maps each n-gram to its number, for n from 1 to 4.

    `weight` is the sum over tokens of 1 for a Python keyword and 0.2 for any other.
    """

    length: int
    counts: tuple[Mapping[NGram, int], ...]
    weight: float

    @classmethod
    def of(cls, text: str) -> NGrams:
        """Split at whitespace and count."""
        tokens = text.split()
        counts = tuple(
            Counter(zip(*(islice(tokens, shift, None) for shift in range(order)), strict=False))
            for order in range(1, MAX_ORDER + 1)
        )
        return cls(len(tokens), counts, _weight(counts[0]))

    def total(self, order: int) -> int:
        """Number of n-grams of an order, at least 1 so that it can be a denominator."""
        return max(1, self.length - order + 1)


def ngram_scores(reference: NGrams, hypothesis: NGrams) -> tuple[float, float]:
    """Return (BLEU-4, weighted n-gram recall), each in [0, 1]."""
    common = [_common(r, h) for r, h in zip(reference.counts, hypothesis.counts, strict=True)]
    if not common[0]:
        return 0.0, 0.0
    matches = [sum(grams.values()) for grams in common]
    precisions = [(match, hypothesis.total(order)) for order, match in enumerate(matches, 1)]
    recalls = [(match, reference.total(order)) for order, match in enumerate(matches, 1)]
    weighted_recalls = [(_weight(common[0]), max(1.0, reference.weight)), *recalls[1:]]
    bleu = _brevity_penalty(reference.length, hypothesis.length) * _smoothed_mean(precisions)
    weighted = _brevity_penalty(WEIGHTED_REFERENCE_LENGTH, hypothesis.length) * _smoothed_mean(weighted_recalls)
    return bleu, weighted


def _common(reference: Mapping[NGram, int], hypothesis: Mapping[NGram, int]) -> dict[NGram, int]:
    find = reference.get
    return {gram: count if count < found else found for gram, count in hypothesis.items() if (found := find(gram))}


def _weight(unigrams: Mapping[NGram, int]) -> float:
    weights = (KEYWORD_WEIGHT if token in PYTHON_KEYWORDS else OTHER_WEIGHT for (token,) in unigrams)
    return math.fsum(weight * count for weight, count in zip(weights, unigrams.values(), strict=True))


def _smoothed_mean(fractions: Sequence[tuple[float, float]]) -> float:
    """Geometric mean; a numerator of 0 counts as 0.1."""
    logs = (math.log((numerator or SMOOTHING) / total) / MAX_ORDER for numerator, total in fractions)
    return math.exp(math.fsum(logs))


def _brevity_penalty(reference_length: int, hypothesis_length: int) -> float:
    if hypothesis_length > reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length)
