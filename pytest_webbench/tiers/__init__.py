"""Tiers: what is asserted of a piece of code, from its syntax to its behaviour over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passed", "failed", "not_assessed"]


@dataclass(frozen=True, slots=True)
class TierResult:
    """One tier's verdict; `message` explains a failure to a person, `failure_class` names it for tables."""

    passed: bool
    message: str = ""
    failure_class: str | None = None
