"""The structure tier: Web-LLM-Benchmark's published words that an answer to each framework must hold.

The rules search the text, comments and strings included, and are kept so that scores stay comparable;
whether the application works is for the functional tiers to say.
"""

from __future__ import annotations

import re

from pytest_webbench.tiers import TierResult

_ANNOTATED_FUNCTION = re.compile(r"\bdef\s+\w+\s*\([^){]{0,500}?\w\s*:\s*\w|\bdef\s+\w+\s*\([^)]{0,500}\)\s*->\s*\S")


_WORDS = {
    "flask": ("@", "request"),
    "fastapi": ("@", "Response", "APIRouter"),
    "django": ("request", "HttpResponse", "JsonResponse"),
}


def _holds(code: str, framework: str) -> bool:
    if any(word in code for word in _WORDS[framework]):
        return True
    return framework == "fastapi" and _ANNOTATED_FUNCTION.search(code) is not None


def check(code: str, framework: str) -> TierResult:
    """Apply the rule of a framework (Flask, FastAPI or Django, in any case; ValueError for another)."""
    own = framework.lower()
    if own not in _WORDS:
        raise ValueError(f"framework: expected one of {', '.join(_WORDS)}, got {framework!r}")
    if _holds(code, own):
        return TierResult(passed=True)
    words = ", ".join(f'"{word}"' for word in _WORDS[own])
    alternative = " or a function with type annotations" if own == "fastapi" else ""
    message = f"structure rule for {framework}: expected one of {words}{alternative} in the code"
    return TierResult(passed=False, message=message, failure_class="structure_missing")
