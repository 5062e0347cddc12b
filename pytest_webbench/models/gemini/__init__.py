"""Gemini, by the Google SDK that is installed: google-generativeai, or its successor google-genai.

`generative_ai` and `genai` translate, one SDK each; `answers` reads what both bring. google-generativeai
gets no more updates from its maker: its notice is kept from the user's terminal.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec

from pytest_webbench.models import ConfigError, Provider

GEMINI_URL = "https://generativelanguage.googleapis.com"
DEFAULT_TIMEOUT = 600.0
_NO_SDK = (
    'gemini models need a Google SDK: pip install "pytest-webbench[gemini]" (google-generativeai) '
    'or "pytest-webbench[google-genai]"'
)


def load_sdk() -> str:
    """Import the installed SDK and return its module's name; `ConfigError` where there is none.

    Warnings are switched off for the time of the import, which only the main thread may do.
    """
    for name in ("google.generativeai", "google.genai"):
        if _installed(name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(name)
            return name
    raise ConfigError("no_sdk", _NO_SDK)


def gemini_provider(
    model_id: str,
    base_url: str = GEMINI_URL,
    api_key: str | None = None,
    *,
    timeout: float = DEFAULT_TIMEOUT,
    key_name: str = "the API key",
) -> Provider:
    """Return a provider for one model; `timeout` bounds a whole request, in seconds."""
    if load_sdk() == "google.generativeai":
        from pytest_webbench.models.gemini.generative_ai import GenerativeAIProvider

        return GenerativeAIProvider(model_id, base_url, api_key, timeout=timeout, key_name=key_name)
    from pytest_webbench.models.gemini.genai import GenAIProvider

    return GenAIProvider(model_id, base_url, api_key, timeout=timeout, key_name=key_name)


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
