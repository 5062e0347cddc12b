"""Which LLM writes correct, secure Flask, FastAPI and Django code? A pytest plugin, a dataset and a gate.

    from pytest_webbench import compare, extract_code, load_cases, load_records, web_codebleu

The names below are stable; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_webbench.cases import load_cases
    from pytest_webbench.extraction import extract_code
    from pytest_webbench.metrics import WebCodeBLEU, kw_f1, pass_at_k, web_codebleu
    from pytest_webbench.records import load_records
    from pytest_webbench.statistics.comparison import compare

__version__ = "0.1.0"

__all__ = ["WebCodeBLEU", "compare", "extract_code", "kw_f1", "load_cases", "load_records", "pass_at_k", "web_codebleu"]

_HOMES = {
    "WebCodeBLEU": "metrics",
    "compare": "statistics.comparison",
    "extract_code": "extraction",
    "kw_f1": "metrics",
    "load_cases": "cases",
    "load_records": "records",
    "pass_at_k": "metrics",
    "web_codebleu": "metrics",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
