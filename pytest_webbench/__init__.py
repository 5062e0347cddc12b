"""Which LLM writes correct, secure Flask, FastAPI and Django code? A pytest plugin, a dataset and a gate.

    from pytest_webbench import run_benchmark, validate_definition, web_codebleu

The names below are stable; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_webbench.benchmark import run_benchmark
    from pytest_webbench.cases import load_cases
    from pytest_webbench.extraction import extract_code
    from pytest_webbench.metrics import WebCodeBLEU, kw_f1, pass_at_k, web_codebleu
    from pytest_webbench.records import load_records
    from pytest_webbench.statistics.comparison import compare
    from pytest_webbench.statistics.summary import Summary
    from pytest_webbench.validation import validate_definition

__version__ = "0.1.0"

__all__ = [
    "Summary",
    "WebCodeBLEU",
    "compare",
    "extract_code",
    "kw_f1",
    "load_cases",
    "load_records",
    "pass_at_k",
    "run_benchmark",
    "validate_definition",
    "web_codebleu",
]

_HOMES = {
    "Summary": "statistics.summary",
    "WebCodeBLEU": "metrics",
    "compare": "statistics.comparison",
    "extract_code": "extraction",
    "kw_f1": "metrics",
    "load_cases": "cases",
    "load_records": "records",
    "pass_at_k": "metrics",
    "run_benchmark": "benchmark",
    "validate_definition": "validation",
    "web_codebleu": "metrics",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
