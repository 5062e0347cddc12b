"""Web-CodeBLEU: CodeBLEU's four parts and KW-F1, as the similarity of a hypothesis to a reference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_webbench.metrics.dataflow import dataflow_edges, dataflow_score
from pytest_webbench.metrics.keywords import KeywordScore, keyword_score, web_keywords
from pytest_webbench.metrics.ngram import NGrams, ngram_scores
from pytest_webbench.metrics.stripping import strip_comments
from pytest_webbench.metrics.syntax import syntax_score
from pytest_webbench.metrics.tree import ShapeKey, parse

PARTS = ("ngram", "weighted_ngram", "syntax", "dataflow", "kw_f1")
DEFAULT_WEIGHTS = (0.2, 0.2, 0.2, 0.2, 0.2)
REMEMBERED_REFERENCES = 64
REMEMBERED_HYPOTHESES = 256


@dataclass(frozen=True, slots=True)
class WebCodeBLEU:
    """Similarity of a hypothesis to a reference; all numbers in [0, 1].

    `web_codebleu` is the weighted sum of `ngram`, `weighted_ngram`, `syntax`, `dataflow` and `kw_f1`, as
    published: a part that the reference leaves undefined counts as 0. `renormalised` is the weighted mean
    of the defined parts, `None` where their weights are all 0. `undefined` maps each undefined part to
    the reason.
    """

    ngram: float
    weighted_ngram: float
    syntax: float
    dataflow: float
    kw_f1: float
    kw_precision: float
    kw_recall: float
    web_codebleu: float
    renormalised: float | None
    dataflow_defined: bool
    kw_defined: bool
    undefined: Mapping[str, str] = field(hash=False)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with one member per field."""
        return asdict(self)


class BaseParts(NamedTuple):
    """CodeBLEU's own four parts, each in [0, 1]."""

    ngram: float
    weighted_ngram: float
    syntax: float
    dataflow: float


class Reference:
    """A reference text, parsed once and compared with any number of hypotheses, from any thread.

    Equal hypotheses are scored once, as long as they are among the last 256 different ones.

    >>> reference = Reference("app = Flask(__name__)")
    >>> reference.score("web = Flask(__name__)").syntax
    1.0
    """

    def __init__(self, code: str) -> None:
        text = code.strip()
        shape_ids: dict[ShapeKey, int] = {}
        parsed = parse(strip_comments(text), lambda key: shape_ids.setdefault(key, len(shape_ids)))
        self.code = code
        self.keywords = web_keywords(code)
        self._ngrams = NGrams.of(text)
        self._shape_ids = shape_ids
        self._shapes = Counter(parsed.shapes)
        self._edges = dataflow_edges(parsed.root, parsed.variables)
        self.undefined = dict(self._undefined())
        self._parts = lru_cache(REMEMBERED_HYPOTHESES)(self._compare)

    def score(self, hypothesis: str, weights: Sequence[float] = DEFAULT_WEIGHTS) -> WebCodeBLEU:
        """Compare a hypothesis with this reference; see `web_codebleu`."""
        _check_weights(weights)
        base, keywords = self._parts(hypothesis)
        parts = (*base, keywords.f1)
        weighted = [weight * part for weight, part in zip(weights, parts, strict=True)]
        defined = [weight for name, weight in zip(PARTS, weights, strict=True) if name not in self.undefined]
        total = math.fsum(weighted)
        return WebCodeBLEU(
            *parts,
            kw_precision=keywords.precision,
            kw_recall=keywords.recall,
            web_codebleu=total,
            renormalised=total / math.fsum(defined) if any(defined) else None,
            dataflow_defined="dataflow" not in self.undefined,
            kw_defined="kw_f1" not in self.undefined,
            undefined=dict(self.undefined),
        )

    def base_parts(self, hypothesis: str) -> BaseParts:
        """Compute CodeBLEU's own four parts for a hypothesis, without looking for an earlier result."""
        text = hypothesis.strip()
        parsed = parse(strip_comments(text), self._shape_ids.get)
        return BaseParts(
            *ngram_scores(self._ngrams, NGrams.of(text)),
            syntax_score(self._shapes, parsed.shapes),
            dataflow_score(self._edges, dataflow_edges(parsed.root, parsed.variables)),
        )

    def _compare(self, hypothesis: str) -> tuple[BaseParts, KeywordScore]:
        return self.base_parts(hypothesis), keyword_score(self.keywords, web_keywords(hypothesis))

    def _undefined(self) -> Iterator[tuple[str, str]]:
        if not self._ngrams.length:
            yield "ngram", "the reference has no tokens"
            yield "weighted_ngram", "the reference has no tokens"
        if not self._edges:
            yield "dataflow", "the reference has no data-flow"
        if not self.keywords:
            yield "kw_f1", "the reference has no web keyword"


def web_codebleu(
    reference: str | Reference, hypothesis: str, weights: Sequence[float] = DEFAULT_WEIGHTS
) -> WebCodeBLEU:
    """Return the similarity of two Python texts, the reference first; takes any text and never raises on it.

    `weights` are those of `ngram`, `weighted_ngram`, `syntax`, `dataflow` and `kw_f1`: not negative, sum 1;
    anything else raises ValueError. A `Reference` saves parsing the reference again.

    >>> web_codebleu("import os", "import os").undefined
    {'dataflow': 'the reference has no data-flow', 'kw_f1': 'the reference has no web keyword'}
    """
    prepared = reference if isinstance(reference, Reference) else _prepared(reference)
    return prepared.score(hypothesis, weights)


_prepared: Callable[[str], Reference] = lru_cache(REMEMBERED_REFERENCES)(Reference)


def _check_weights(weights: Sequence[float]) -> None:
    valid = len(weights) == len(PARTS) and all(weight >= 0 for weight in weights)
    if not valid or not math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9):
        raise ValueError(f"expected {len(PARTS)} weights, none negative, with sum 1, got {list(weights)}")
