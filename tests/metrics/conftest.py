"""Fixtures of the metric tests."""

from __future__ import annotations

from typing import Any

import pytest

from .rows import read_rows


@pytest.fixture(scope="session")
def golden() -> dict[str, dict[str, Any]]:
    """The golden pairs by id, with the values of the published package and of its repaired form."""
    return {row["id"]: row for row in read_rows("golden_codebleu.jsonl")}


@pytest.fixture(scope="session")
def traps() -> dict[str, dict[str, Any]]:
    """Inputs that broke metrics elsewhere, by id."""
    return {row["id"]: row for row in read_rows("metric_traps.jsonl")}
