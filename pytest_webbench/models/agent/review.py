"""A reviewer's reply: the JSON object it was asked for, wherever in the reply it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SEARCHED_CHARACTERS = 32_768
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer found."""

    is_correct: bool
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()

    @property
    def feedback(self) -> str:
        """What is to be done, as text; empty where the reviewer named nothing."""
        parts = (("Issues", self.issues), ("Suggestions", self.suggestions))
        return "\n".join(f"{title}:\n" + "\n".join(f"- {text}" for text in texts) for title, texts in parts if texts)


def parse_review(reply: str) -> Review | None:
    """Return the review in a reply, the last one if it holds several; None where it holds none.

    Only its last `SEARCHED_CHARACTERS` are searched, as the search grows with the square of a reply made of braces.

    >>> parse_review('It works. {"is_correct": true, "issues": [], "suggestions": []}')
    Review(is_correct=True, issues=(), suggestions=())
    """
    reviews = [review for found in _objects(reply[-SEARCHED_CHARACTERS:]) if (review := _review(found)) is not None]
    return reviews[-1] if reviews else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that are not part of another one."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            yield found
            start = text.find("{", end)


def _review(found: dict[str, Any]) -> Review | None:
    verdict = found.get("is_correct")
    if isinstance(verdict, str):
        verdict = _WORDS.get(verdict.strip().lower())
    if not isinstance(verdict, bool):
        return None
    return Review(verdict, _texts(found.get("issues")), _texts(found.get("suggestions")))


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list's items as texts; models also send one text, or objects instead of texts."""
    items = value if isinstance(value, list) else [] if value is None else [value]
    texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in items)
    return tuple(text.strip() for text in texts if text.strip())
