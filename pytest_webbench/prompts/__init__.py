"""Prompt templates: how a case's prompt becomes chat messages.

A template is a TOML file, one of `templates` beside this module or one of a user's folder, with `description`,
`user` and, if it has one, `system`. Placeholders: `{prompt}` the case's own prompt, `{framework}`, `{contract}` what
the answer must define for the framework, `{packages}` what it may import, `{example}` another need of the framework,
planned and solved. A table `contract` or `example` (framework -> text) of a template takes the place of the usual
text. A template adds the manner of asking, never a requirement.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_webbench.cases import Case, Framework
from pytest_webbench.models import Message

TEMPLATES = Path(__file__).with_name("templates")
FRAMEWORKS = Path(__file__).with_name("frameworks.toml")
ALL = "all"
NAME = re.compile(r"[A-Za-z0-9._-]+")
_PLACEHOLDER = re.compile(r"\{(?:prompt|framework|contract|packages|example)\}")


class TemplateError(Exception):
    """A template file that cannot be used: names the file and what was expected."""


@dataclass(frozen=True, slots=True)
class Template:
    """One manner of asking; `contract` and `example` replace the usual texts of a framework."""

    name: str
    description: str
    user: str
    system: str | None = None
    contract: Mapping[Framework, str] = field(default_factory=dict)
    example: Mapping[Framework, str] = field(default_factory=dict)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    description: Annotated[str, Field(min_length=1)]
    user: Annotated[str, Field(pattern=r"\{prompt\}")]
    system: str | None = None
    contract: dict[Framework, str] = {}
    example: dict[Framework, str] = {}


def template_names() -> tuple[str, ...]:
    """Return the names of the built-in templates, sorted."""
    return tuple(sorted(file.stem for file in TEMPLATES.glob("*.toml")))


@cache
def load_template(name: str) -> Template:
    """Read the built-in template of that name."""
    return read_template(TEMPLATES / f"{name}.toml")


def load_templates(folder: Path | None) -> dict[str, Template]:
    """Return the built-in templates by name, and after them those of a user's folder.

    Raises `TemplateError` for a folder without templates and for a file that cannot be used: a name that is built
    in, a key that there is not, a text that does not hold `{prompt}`.
    """
    known = {name: load_template(name) for name in template_names()}
    if folder is None:
        return known
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise TemplateError(f"{folder}: expected a folder of templates, NAME.toml each")
    for file in files:
        if file.stem in known or file.stem == ALL or not NAME.fullmatch(file.stem):
            why = "is the name of a built-in template" if file.stem in known else "cannot be a template's name"
            raise TemplateError(f"{file}: {file.stem!r} {why}; rename the file (letters, digits and . _ - only)")
    return known | {file.stem: read_template(file) for file in files}


def read_template(path: Path) -> Template:
    """Read a template file; raises `TemplateError` where it cannot be used."""
    try:
        found = _File.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = _PROBLEMS.get((key, first["type"])) or _PROBLEMS.get(("", first["type"])) or first["msg"]
        raise TemplateError(f"{path}: {key}: {what}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TemplateError(f"{path}: not a readable TOML file: {error}") from None
    return Template(path.stem, found.description, found.user, found.system, found.contract, found.example)


_PROBLEMS = {
    ("user", "string_pattern_mismatch"): "expected {prompt} somewhere: the case's own prompt",
    ("", "extra_forbidden"): "unknown key",
    ("", "missing"): "required key is missing",
}


def render(template: Template, case: Case) -> tuple[Message, ...]:
    """Return the chat messages that ask for `case` in the manner of `template`."""
    framework = case.framework
    values = {
        "{prompt}": case.prompt.strip(),
        "{framework}": framework,
        "{contract}": template.contract.get(framework) or _framework_texts()["contract"][framework],
        "{packages}": ", ".join(case.imports) or "none",
        "{example}": (template.example.get(framework) or _framework_texts()["example"][framework]).strip(),
    }
    user = Message("user", _fill(template.user, values))
    return (user,) if template.system is None else (Message("system", _fill(template.system, values)), user)


def without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages for a model that refuses the system role: its text stands before the user's."""
    system = [message.content for message in messages if message.role == "system"]
    if not system:
        return messages
    first, *rest = (message for message in messages if message.role != "system")
    return Message(first.role, "\n\n".join((*system, first.content))), *rest


def template_sha(template: Template) -> str:
    """Return the SHA-256 (hex) of a template's texts, whatever its name and description."""
    texts = [template.system, template.user, dict(template.contract), dict(template.example)]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def prompt_sha(messages: tuple[Message, ...]) -> str:
    """Return the SHA-256 (hex) of the messages as they are sent."""
    return hashlib.sha256(json.dumps([asdict(message) for message in messages]).encode()).hexdigest()


def prompts_json(cases: Iterable[Case], templates: Sequence[Template]) -> str:
    """Return `prompts.json`: id, framework, template and messages of every case with every template."""
    prompts = [
        {
            "id": case.id,
            "framework": case.framework,
            "template": template.name,
            "messages": [asdict(message) for message in render(template, case)],
        }
        for case in cases
        for template in templates
    ]
    return json.dumps(prompts, indent=1, ensure_ascii=False) + "\n"


@cache
def _framework_texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(FRAMEWORKS.read_text("utf-8"))


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders in one pass, so that a case's prompt is never searched for them."""
    return _PLACEHOLDER.sub(lambda match: values[match[0]], text.strip())
