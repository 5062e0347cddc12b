"""KW-F1: do reference and hypothesis use the same web vocabulary?"""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass

WEIGHTS = {
    3.0: "route endpoint request response middleware handler app router",
    2.0: "status_code header auth jwt oauth cors session cookie token jsonify",
    1.5: "schema validator serializer orm database cache blueprint body model pydantic BaseModel Depends",
}
WEB_KEYWORDS = {word: weight for weight, words in WEIGHTS.items() for word in words.split()}
EPSILON = 1e-8


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """Weighted precision, recall and F1 of web keywords, each in [0, 1)."""

    precision: float
    recall: float
    f1: float


def web_keywords(text: str) -> frozenset[str]:
    """Return the web keywords among the identifiers of `text`.

    Matches are case-sensitive whole names. Text that stops being Python counts up to that place.
    """
    missing = {word for word in WEB_KEYWORDS if word in text}
    found = set()
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        while missing:
            token = next(tokens)
            if token.type == tokenize.NAME and token.string in missing:
                missing.remove(token.string)
                found.add(token.string)
    except (StopIteration, tokenize.TokenError, SyntaxError, UnicodeEncodeError):
        pass
    return frozenset(found)


def keyword_score(reference: frozenset[str], hypothesis: frozenset[str]) -> KeywordScore:
    """Compare two sets of web keywords."""
    common = _weight(reference & hypothesis)
    precision = common / (_weight(hypothesis) + EPSILON)
    recall = common / (_weight(reference) + EPSILON)
    return KeywordScore(precision, recall, 2 * precision * recall / (precision + recall + EPSILON))


def kw_f1(reference: str, hypothesis: str) -> float:
    """Return KW-F1 of two Python texts: 0 where they share no web keyword, never quite 1.

    >>> round(kw_f1("app.route(request)", "app.route(token)"), 4)
    0.7059
    """
    return keyword_score(web_keywords(reference), web_keywords(hypothesis)).f1


def _weight(keywords: frozenset[str]) -> float:
    return sum(WEB_KEYWORDS[word] for word in keywords)
