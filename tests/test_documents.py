"""Examples in README and docs run as they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pytest_webbench.model_table import load_table

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """Return document name and text of every fenced block of a language."""
    return [
        (document.name, block)
        for document in DOCUMENTS
        for block in re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), re.M | re.S)
    ]


@pytest.mark.parametrize(("document", "code"), blocks("python"))
def test_python_runs(document: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, document, "exec"), {})


@pytest.mark.parametrize(("document", "text"), blocks("toml"))
def test_a_models_table_is_usable(document: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "webbench.toml").write_text(text, "utf-8")
    assert load_table(tmp_path, None).keys() > tomllib.loads(text)["models"].keys()


def test_links_within_the_project_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
