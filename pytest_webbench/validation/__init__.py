"""Validate cases: `webbench validate` as a library."""

from .report import DAILY, CaseReport, Options, Survivor, Validation
from .run import validate, validate_definition

__all__ = ["DAILY", "CaseReport", "Options", "Survivor", "Validation", "validate", "validate_definition"]
