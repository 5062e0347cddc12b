"""Extraction: the code a model's reply holds, with the rule that found it."""

from pytest_webbench.extraction.extract import Code, FailureClass, extract_code

__all__ = ["Code", "FailureClass", "extract_code"]
