"""Prompt templates: how a case's prompt becomes chat messages.

A template is a TOML file beside this module with `description`, `user` and, if it has one, `system`.
Placeholders: `{prompt}` the case's own prompt, `{framework}`, `{contract}` what the answer must define for
the framework, `{packages}` what it may import. A template adds the manner of asking, never a requirement.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pytest_webbench.cases import Case
from pytest_webbench.models import Message

TEMPLATES = Path(__file__).with_name("templates")
CONTRACTS = Path(__file__).with_name("contracts.toml")
_PLACEHOLDER = re.compile(r"\{(?:prompt|framework|contract|packages)\}")


class TemplateError(Exception):
    """A template file that cannot be used."""


@dataclass(frozen=True, slots=True)
class Template:
    """One manner of asking."""

    name: str
    description: str
    user: str
    system: str | None = None


def template_names() -> tuple[str, ...]:
    """Return the names of all templates, sorted."""
    return tuple(sorted(file.stem for file in TEMPLATES.glob("*.toml")))


@cache
def load_template(name: str) -> Template:
    """Read the template of that name."""
    path = TEMPLATES / f"{name}.toml"
    try:
        return Template(name=name, **tomllib.loads(path.read_text("utf-8")))
    except (OSError, TypeError, tomllib.TOMLDecodeError) as error:
        raise TemplateError(f"{path}: not a usable template: {error}") from None


def render(template: Template, case: Case) -> tuple[Message, ...]:
    """Return the chat messages that ask for `case` in the manner of `template`."""
    values = {
        "{prompt}": case.prompt.strip(),
        "{framework}": case.framework,
        "{contract}": _contracts()[case.framework],
        "{packages}": ", ".join(case.imports) or "none",
    }
    user = Message("user", _fill(template.user, values))
    return (user,) if template.system is None else (Message("system", _fill(template.system, values)), user)


def prompt_sha(messages: tuple[Message, ...]) -> str:
    """Return the SHA-256 (hex) of the messages as they are sent."""
    return hashlib.sha256(json.dumps([asdict(message) for message in messages]).encode()).hexdigest()


@cache
def _contracts() -> dict[str, str]:
    return tomllib.loads(CONTRACTS.read_text("utf-8"))


def _fill(text: str, values: dict[str, str]) -> str:
    """Replace placeholders in one pass, so that a case's prompt is never searched for them."""
    return _PLACEHOLDER.sub(lambda match: values[match[0]], text.strip())
