"""One frozen `Settings` from the command line, the ini file, the models table and `.env`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from pydantic import TypeAdapter

from pytest_webbench.completions.store import is_there, is_url, open_store
from pytest_webbench.ledger import new_run_id
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
from pytest_webbench.options import MODEL_DEST
from pytest_webbench.prompts import Template, TemplateError, load_templates
from pytest_webbench.shards import Shard, parse_shard

if TYPE_CHECKING:
    import pytest

    from pytest_webbench.gate import Kind, Rule

Tier = Literal["static", "functional", "secure"]
Build = Callable[[str, ModelEntry], "Model"]
GATE_OPTIONS = ("webbench_baseline", "webbench_max_drop", "webbench_fail_under")
CHATTING = ("openai", "gemini", "local")
DEFAULT_SAMPLES = 10
DEFAULT_STORE = ".webbench/completions.sqlite"
DEFAULT_TEMPLATE = "web_expert"
HANDOVER = "webbench_handover"
OPENAI_URL = "https://api.openai.com/v1"
KEY_SOURCES = {
    "NIM_API_KEY": "https://build.nvidia.com",
    "OPENAI_API_KEY": "https://platform.openai.com/api-keys",
    "GEMINI_API_KEY": "https://aistudio.google.com/apikey",
}
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class SettingsError(Exception):
    """A setting that cannot be used; the message says what to change."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a run was told; paths are absolute."""

    root: Path
    run_id: str
    models: tuple[Model, ...]
    templates: tuple[Template, ...]
    store: str
    report_dir: Path
    tier: Tier = "functional"
    concurrency: int = 16
    budget: float | None = None
    report_only: bool = False
    offline: bool = False
    dry_run: bool = False
    generate_only: bool = False
    refresh: bool = False
    sandbox: str = "auto"
    sandbox_strict: bool = False
    baseline: Path | None = None
    baseline_model: str | None = None
    baseline_common: bool = False
    rules: tuple[Rule, ...] = ()
    shard: Shard | None = None

    @property
    def run_folder(self) -> Path:
        """Where this run's records and reports go."""
        return self.report_dir / "runs" / self.run_id

    def model(self, alias: str) -> Model:
        """Return the selected model of that name."""
        return next(model for model in self.models if model.alias == alias)

    def template(self, name: str) -> Template:
        """Return the selected template of that name."""
        return next(template for template in self.templates if template.name == name)


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


def asked_models(models: Iterable[Model]) -> list[Model]:
    """Return the models that are sent requests: an agent's roles in its place, each alias once."""
    asked = [one for model in models for one in (model.roles.values() or (model,))]
    return list({model.alias: model for model in asked}.values())


def selected_names(config: pytest.Config) -> list[str]:
    """Return the model names given on the command line, comma lists taken apart."""
    given: list[str] = config.getoption(MODEL_DEST, default=[])
    return [name for text in given for name in text.split(",") if name]


def read_settings(config: pytest.Config) -> Settings:
    """Build the settings of a run; raises `SettingsError` for the first thing that cannot be used."""
    root = config.rootpath
    option = config.getoption
    offline = option("webbench_offline") or option("webbench_no_generate")
    dry_run, generate_only = option("webbench_dry_run"), option("webbench_generate_only")
    if dry_run and generate_only:
        raise SettingsError("--webbench-dry-run asks nothing, --webbench-generate-only asks everything: choose one")
    asks = not (offline or dry_run or config.option.collectonly or hasattr(config, "workerinput"))
    if offline and option("webbench_refresh"):
        raise SettingsError("--webbench-refresh asks the models, --webbench-offline forbids it: choose one")
    told = _told(config)
    settings = Settings(
        root=root,
        models=told.models if told else _models(config, asks),
        templates=told.templates if told else _templates(config),
        tier=_tier(option("webbench_tiers")),
        concurrency=_at_least_one("--webbench-concurrency", option("webbench_concurrency")),
        budget=option("webbench_budget"),
        report_only=option("webbench_report_only"),
        offline=offline,
        dry_run=dry_run,
        generate_only=generate_only,
        refresh=option("webbench_refresh"),
        store=_store(config),
        report_dir=_path(root, option("webbench_report_dir") or config.getini("webbench_report_dir"), "reports"),
        sandbox=option("webbench_sandbox"),
        sandbox_strict=option("webbench_sandbox_strict"),
        baseline=_optional_path(config.invocation_params.dir, option("webbench_baseline")),
        baseline_model=option("webbench_baseline_model"),
        baseline_common=option("webbench_baseline_common"),
        shard=_shard(config),
        rules=_rules(config),
        run_id=told.run_id if told else _run_id(config),
    )
    check_budget(settings)
    if settings.report_dir.is_file():
        raise SettingsError(f"--webbench-report-dir: {settings.report_dir} is a file, expected a folder")
    return settings


def read_environment(root: Path) -> Mapping[str, str]:
    """Return the environment, completed by `.env` below `root`; a variable that is empty is none."""
    from dotenv import dotenv_values

    file = {name: value for name, value in dotenv_values(root / ".env").items() if value}
    return {**file, **{name: value for name, value in os.environ.items() if value}}


def _models(config: pytest.Config, asks: bool) -> tuple[Model, ...]:
    names = selected_names(config)
    if not names:
        raise SettingsError("--model: expected the name of a model, found none")
    asked = ("samples", "temperature", "top_p", "max_tokens", "seed")
    given = {name: config.getoption(f"webbench_{name}") for name in asked}
    return read_models(
        names,
        config.rootpath,
        _store(config),
        Wishes(usual_samples=_ini_samples(config), **given),
        file=config.getoption("webbench_models") or config.getini("webbench_models") or None,
        asks=asks,
    )


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
    return _at_least_one("--webbench-samples", default if wishes.samples is None else wishes.samples)


def _ini_samples(config: pytest.Config) -> int:
    text = config.getini("webbench_samples")
    if not text:
        return DEFAULT_SAMPLES
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"webbench_samples: expected a whole number, found {text!r}") from None


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise SettingsError(f"{name}: expected a whole number of at least 1, found {value}")
    return value


def _templates(config: pytest.Config) -> tuple[Template, ...]:
    given = config.getoption("webbench_prompt") or config.getini("webbench_prompt").split()
    folder = config.getoption("webbench_templates") or config.getini("webbench_templates")
    names = [name for text in given for name in text.split(",") if name]
    return choose_templates(names, config.rootpath / folder if folder else None)


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


def _tier(text: str | None) -> Tier:
    names = [name.strip() for name in (text or "functional").split(",") if name.strip()]
    order: tuple[Tier, ...] = ("static", "functional", "secure")
    for name in names:
        if name not in order:
            raise SettingsError(f"--webbench-tiers: unknown tier {name!r}; known: {', '.join(order)}")
    return max((tier for tier in order if tier in names), key=order.index, default="functional")


def _rules(config: pytest.Config) -> tuple[Rule, ...]:
    limits: list[tuple[Kind, str]] = [("max-drop", text) for text in config.getoption("webbench_max_drop")]
    limits += [("fail-under", text) for text in config.getoption("webbench_fail_under")]
    if not limits:
        return ()
    from pytest_webbench.gate import GateError, check_rules, parse_rule

    try:
        rules = tuple(parse_rule(kind, text) for kind, text in limits)
        check_rules(rules, has_baseline=config.getoption("webbench_baseline") is not None)
    except GateError as error:
        raise SettingsError(f"--webbench-{error}") from None
    return rules


def _shard(config: pytest.Config) -> Shard | None:
    given = config.getoption("webbench_shard")
    if given is None:
        return None
    for option in GATE_OPTIONS:
        if config.getoption(option):
            raise SettingsError(
                f"--{option.replace('_', '-')}: one shard cannot be judged; let 'webbench gate' judge all of them"
            )
    try:
        shard = parse_shard(given)
    except ValueError as error:
        raise SettingsError(f"--webbench-shard: {error}") from None
    return shard if shard.count > 1 else None


def _path(root: Path, text: str, default: str) -> Path:
    return root / (text or default)


def store_location(root: Path, given: str) -> str:
    """Return where the completion store is: a URL as it was given, else a path below `root`."""
    return given if is_url(given) else str(_path(root, given, DEFAULT_STORE))


def _store(config: pytest.Config) -> str:
    return store_location(config.rootpath, config.getoption("webbench_store") or config.getini("webbench_store"))


def _optional_path(directory: Path, text: str | None) -> Path | None:
    return None if text is None else directory / text


def _told(config: pytest.Config) -> Handover | None:
    """Return what a worker was told; None in the main process."""
    worker: Mapping[str, Any] = getattr(config, "workerinput", {})
    return Handover.from_json(worker[HANDOVER]) if worker else None


def _run_id(config: pytest.Config) -> str:
    given = config.getoption("webbench_run_id")
    if given is None:
        return new_run_id()
    if not RUN_ID.fullmatch(given):
        raise SettingsError(f"--webbench-run-id: letters, digits and . _ - only, found {given!r}")
    return str(given)


def check_budget(settings: Settings) -> None:
    """Raise `SettingsError` for a budget where a price is not known."""
    if settings.budget is None:
        return
    if not 0 <= settings.budget < float("inf"):
        raise SettingsError(f"--webbench-budget: expected an amount in USD from 0 on, found {settings.budget}")
    for model in asked_models(settings.models):
        if model.entry.price is None:
            raise SettingsError(
                f"--webbench-budget: the price of model {model.alias!r} is unknown; "
                "give price = { input = ..., output = ... } (USD per million tokens) in the models table"
            )
