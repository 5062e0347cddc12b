"""`webbench init`."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

import pytest_webbench
from pytest_webbench.commands import fail

PACKAGED = "dataset"
INI = """\
[pytest]
testpaths = cases
"""
TABLE = """\
# Models of your own, beside those of `webbench models`. See `pytest --model NAME`.
#
# [models.mine]
# provider = "openai"                    # any OpenAI-compatible server
# model = "qwen2.5-coder:7b"
# base_url = "http://localhost:11434/v1"
# api_key_env = "MY_KEY"                 # the environment variable, or line of .env, that holds the key
# price = { input = 0.0, output = 0.0 }  # USD per million tokens
"""
IGNORED = """\
.env
.webbench/
reports/
"""


@click.command("init")
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Make FOLDER (default: here) a benchmark: the dataset, pytest's settings and an empty models table.

    \b
    Then, in FOLDER:
        pytest -m smoke --model local --webbench-samples 1
    """
    target = folder / "cases"
    if target.exists():
        fail(f"{target} is there already: choose another folder")
    try:
        shutil.copytree(_dataset(), target, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        fail(f"cannot write {target}: {error.strerror or error}")
    for name, text in (("pytest.ini", INI), ("webbench.toml", TABLE), (".gitignore", IGNORED)):
        path = folder / name
        if path.exists():
            click.echo(f"left {path} as it was")
        else:
            path.write_text(text, "utf-8")
    number = len(list(target.glob("*/*/definition.toml")))
    click.echo(f"{number} cases in {target}; next: pytest -m smoke --model local --webbench-samples 1")


def _dataset() -> Path:
    """Return the dataset of this installation, or of the clone that it was installed from."""
    package = Path(pytest_webbench.__file__).parent
    return next(path for path in (package / PACKAGED, package.parent / "cases") if path.is_dir())
