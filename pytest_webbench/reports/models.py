"""The models table for people."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_webbench.model_table import ModelEntry
from pytest_webbench.reports.tables import UNKNOWN, Table
from pytest_webbench.reports.text import text_table


def models_table(table: Mapping[str, ModelEntry], environment: Mapping[str, str], width: int) -> str:
    """Return one line a model: what it is, where it is served, its key and price (USD per million tokens)."""
    rows = tuple(
        (
            alias,
            entry.provider,
            entry.model_id,
            _key(entry, environment),
            _price(entry),
            entry.hosting,
            _size(entry),
        )
        for alias, entry in table.items()
    )
    headings = ("name", "provider", "model", "key", "price in / out", "hosting", "size (10^9)")
    return text_table(Table("Models", headings, rows), width)


def _key(entry: ModelEntry, environment: Mapping[str, str]) -> str:
    if not entry.api_key_env:
        return "none needed"
    return f"{entry.api_key_env} {'present' if environment.get(entry.api_key_env) else 'missing'}"


def _price(entry: ModelEntry) -> str:
    return UNKNOWN if entry.price is None else f"{entry.price.input:g} / {entry.price.output:g}"


def _size(entry: ModelEntry) -> str:
    return UNKNOWN if entry.size_b is None else f"{entry.size_b:g}"
