"""The models and prompt templates of a run: chosen by name, with what the run asks of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from pytest_webbench.completions.store import is_there, open_store
from pytest_webbench.model_table import (
    IMPORTED,
    ROLES,
    ModelEntry,
    TableError,
    ad_hoc_entry,
    imported_entry,
    load_table,
)
from pytest_webbench.models import Parameters
from pytest_webbench.models.agent.context import RoleName
from pytest_webbench.models.agent.roles import TEMPERATURES
from pytest_webbench.models.gemini import GEMINI_URL, load_sdk
from pytest_webbench.models.transport import clean_base_url, is_loopback
from pytest_webbench.options import DEFAULT_SAMPLES, DEFAULT_TEMPLATE, SettingsError
from pytest_webbench.prompts import Template, TemplateError, load_templates

Build = Callable[[str, ModelEntry], "Model"]
CHATTING = ("openai", "gemini", "local")
OPENAI_URL = "https://api.openai.com/v1"
KEY_SOURCES = {
    "NIM_API_KEY": "https://build.nvidia.com",
    "OPENAI_API_KEY": "https://platform.openai.com/api-keys",
    "GEMINI_API_KEY": "https://aistudio.google.com/apikey",
}


@dataclass(frozen=True, slots=True)
class Model:
    """A selected model: its name in this run, its table entry and what is sent with each request.

    `roles` are the models that an agent's roles are played by; `parameters` of an agent are those of its codegen.
    """

    alias: str
    entry: ModelEntry
    parameters: Parameters
    samples: int
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    roles: Mapping[RoleName, Model] = field(default_factory=dict)

    @property
    def writer(self) -> Model:
        """The model that is sent the case's prompt: an agent's codegen, else this one."""
        return self.roles.get("codegen", self)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a run asks of its models in place of their own settings; None leaves those alone.

    `usual_samples` is for models that have no number of samples of their own.
    """

    samples: int | None = None
    usual_samples: int = DEFAULT_SAMPLES
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


def asked_models(models: Iterable[Model]) -> list[Model]:
    """Return the models that are sent requests: an agent's roles in its place, each alias once."""
    asked = [one for model in models for one in (model.roles.values() or (model,))]
    return list({model.alias: model for model in asked}.values())


def read_environment(root: Path) -> Mapping[str, str]:
    """Return the environment, completed by `.env` below `root`; a variable that is empty is none."""
    from dotenv import dotenv_values

    file = {name: value for name, value in dotenv_values(root / ".env").items() if value}
    return {**file, **{name: value for name, value in os.environ.items() if value}}


def read_models(
    names: Iterable[str],
    root: Path,
    store: str,
    wishes: Wishes,
    *,
    file: str | None = None,
    asks: bool = True,
) -> tuple[Model, ...]:
    """Return the models of these names: of the table, `PROVIDER:MODEL_ID`, or with imported replies in the store.

    `file` is the models table below `root`. `asks` tells whether they will be sent anything, so that their keys are
    needed. Raises `SettingsError`.
    """
    table = _table(root, file)
    build = partial(_model, wishes, read_environment(root), asks)
    models: dict[str, Model] = {}
    specs: dict[str, str] = {}
    for name in names:
        alias, entry = _lookup(name, table) or _imported(store, name) or _unknown(name, table)
        if specs.setdefault(alias, name) != name:
            raise SettingsError(
                f"--model: {specs[alias]!r} and {name!r} both get the name {alias!r}; name one in the models table"
            )
        if entry.provider == "agent":
            models[alias] = _agent(wishes, alias, entry, table, build)
        else:
            models[alias] = build(alias, entry)
    return tuple(models.values())


def _table(root: Path, file: str | None) -> dict[str, ModelEntry]:
    try:
        return load_table(root, file)
    except TableError as error:
        raise SettingsError(str(error)) from None


def _lookup(name: str, table: Mapping[str, ModelEntry]) -> tuple[str, ModelEntry] | None:
    return (name, table[name]) if name in table else ad_hoc_entry(name)


def _imported(location: str, name: str) -> tuple[str, ModelEntry] | None:
    """Return a model whose replies were imported."""
    samples = 0
    if is_there(location):
        with open_store(location) as store:
            samples = store.samples_of(IMPORTED, name)
    return (name, imported_entry(name, samples)) if samples else None


def _unknown(name: str, table: Mapping[str, ModelEntry]) -> NoReturn:
    known = ", ".join(table)
    raise SettingsError(
        f"--model: unknown model {name!r}; known: {known}; or PROVIDER:MODEL_ID such as openai:gpt-5-mini"
    )


def model_by_table(alias: str, entry: ModelEntry, environment: Mapping[str, str]) -> Model:
    """Return a model as a run without further options would ask it; without its key."""
    parameters = Parameters(entry.temperature, entry.top_p, entry.max_tokens, entry.seed)
    if entry.n_per_request > 1:
        parameters = replace(parameters, seed=None)
    return Model(alias, entry, parameters, entry.samples or DEFAULT_SAMPLES, _base_url(entry, environment))


def _agent(wishes: Wishes, alias: str, entry: ModelEntry, table: Mapping[str, ModelEntry], build: Build) -> Model:
    """Return an agent: one sample a case unless more are asked for, each role at its own temperature."""
    roles: dict[RoleName, Model] = {}
    for role in ROLES:
        name = str(getattr(entry, role))
        found = _lookup(name, table)
        if found is None or found[1].provider not in CHATTING:
            known = ", ".join(known for known, one in table.items() if one.provider in CHATTING)
            raise SettingsError(f"models.{alias}.{role}: expected a model that can be asked ({known}), found {name!r}")
        model = build(*found)
        if wishes.temperature is None:
            model = replace(model, parameters=replace(model.parameters, temperature=TEMPERATURES[role]))
        roles[role] = model
    return Model(alias, entry, roles["codegen"].parameters, _samples(wishes, entry.samples or 1), roles=roles)


def _model(wishes: Wishes, environment: Mapping[str, str], asks: bool, alias: str, entry: ModelEntry) -> Model:
    base_url = _base_url(entry, environment)
    key = _key(environment, entry.api_key_env) if entry.api_key_env else None
    if key is None and entry.api_key_env and asks and not is_loopback(base_url or ""):
        raise SettingsError(_missing_key(alias, entry.api_key_env))
    if asks and entry.provider == "gemini":
        load_sdk()
    return Model(
        alias=alias,
        entry=entry,
        parameters=_parameters(wishes, entry),
        samples=_samples(wishes, entry.samples or wishes.usual_samples),
        base_url=base_url,
        api_key=key if asks else None,
    )


def _base_url(entry: ModelEntry, environment: Mapping[str, str]) -> str | None:
    if entry.provider == "gemini":
        return clean_base_url(entry.base_url or GEMINI_URL).removesuffix("/v1beta")
    if entry.provider != "openai":
        return entry.base_url
    return clean_base_url(entry.base_url or environment.get("OPENAI_BASE_URL") or OPENAI_URL)


def _key(environment: Mapping[str, str], variable: str) -> str | None:
    """Return a key without the blanks around it; one that no HTTP header can carry is refused, and not shown."""
    key = environment.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(f"{variable} holds a character that no key has: paste the key again")
    return key or None


def _missing_key(alias: str, variable: str) -> str:
    where = KEY_SOURCES.get(variable)
    hint = f" (get a key at {where})" if where else ""
    return f"model {alias!r} needs a key: set {variable} in the environment or in .env{hint}"


def _parameters(wishes: Wishes, entry: ModelEntry) -> Parameters:
    own = Parameters(entry.temperature, entry.top_p, entry.max_tokens, entry.seed)
    if entry.provider != "reference":
        asked = {name: getattr(wishes, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
        own = replace(own, **{name: value for name, value in asked.items() if value is not None})
    return replace(own, seed=None) if entry.n_per_request > 1 else own


def _samples(wishes: Wishes, default: int) -> int:
    return at_least_one("--webbench-samples", default if wishes.samples is None else wishes.samples)


def choose_templates(names: Sequence[str], folder: Path | None) -> tuple[Template, ...]:
    """Return the templates of these names (none: the default one, `all`: every one), the user's of `folder` included.

    Raises `SettingsError` for a name that there is not, and for a folder or a file that cannot be used.
    """
    try:
        known = load_templates(folder)
    except TemplateError as error:
        raise SettingsError(str(error)) from None
    if list(names) == ["all"]:
        return tuple(known.values())
    for name in names:
        if name not in known:
            raise SettingsError(f"--webbench-prompt: unknown template {name!r}; known: {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names or [DEFAULT_TEMPLATE]))


def at_least_one(name: str, value: int) -> int:
    """Return the value of setting `name`; raises `SettingsError` below 1."""
    if value < 1:
        raise SettingsError(f"{name}: expected a whole number of at least 1, found {value}")
    return value
