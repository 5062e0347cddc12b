"""What the main process hands over to its workers."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pydantic import TypeAdapter

from pytest_webbench.prompts import Template
from pytest_webbench.selection import Model

if TYPE_CHECKING:
    from pytest_webbench.settings import Settings

CHANNEL = "webbench_channel"
HANDOVER = "webbench_handover"


@dataclass(frozen=True, slots=True)
class Handover:
    """What the main process tells its workers, which may be hosts without models table, templates, store or `.env`.

    The models come without their keys.
    """

    run_id: str
    models: tuple[Model, ...]
    templates: tuple[Template, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return what a worker needs to know of these settings."""
        return cls(settings.run_id, tuple(map(_without_keys, settings.models)), settings.templates)

    def to_json(self) -> str:
        """Return JSON in ASCII, which travels everywhere."""
        return json.dumps(_HANDOVER.dump_python(self, mode="json"))

    @staticmethod
    def from_json(text: str) -> Handover:
        """Rebuild what `to_json` wrote."""
        return _HANDOVER.validate_json(text)


_HANDOVER = TypeAdapter(Handover)


def _without_keys(model: Model) -> Model:
    return replace(model, api_key=None, roles={name: _without_keys(role) for name, role in model.roles.items()})
