"""Data of the metric tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file beside the tests."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]
