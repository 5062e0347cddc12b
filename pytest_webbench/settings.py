"""One frozen `Settings` from the command line, the ini file, the models table and `.env`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from pytest_webbench.completions.store import CompletionStore
from pytest_webbench.model_table import IMPORTED, ModelEntry, TableError, ad_hoc_entry, imported_entry, load_table
from pytest_webbench.models import Parameters
from pytest_webbench.models.gemini import GEMINI_URL, load_sdk
from pytest_webbench.models.transport import clean_base_url, is_loopback
from pytest_webbench.options import MODEL_DEST
from pytest_webbench.prompts import template_names

if TYPE_CHECKING:
    import pytest

    from pytest_webbench.gate import Kind, Rule

Tier = Literal["static", "functional", "secure"]
DEFAULT_SAMPLES = 10
DEFAULT_STORE = ".webbench/completions.sqlite"
DEFAULT_TEMPLATE = "web_expert"
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
    """A selected model: its name in this run, its table entry and what is sent with each request."""

    alias: str
    entry: ModelEntry
    parameters: Parameters
    samples: int
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run was told; paths are absolute."""

    root: Path
    models: tuple[Model, ...]
    templates: tuple[str, ...]
    tier: Tier
    concurrency: int
    budget: float | None
    report_only: bool
    offline: bool
    dry_run: bool
    generate_only: bool
    refresh: bool
    store: Path
    report_dir: Path
    sandbox: str
    sandbox_strict: bool
    baseline: Path | None
    baseline_model: str | None
    baseline_common: bool
    rules: tuple[Rule, ...]
    run_id: str

    @property
    def run_folder(self) -> Path:
        """Where this run's records and reports go."""
        return self.report_dir / "runs" / self.run_id

    def model(self, alias: str) -> Model:
        """Return the selected model of that name."""
        return next(model for model in self.models if model.alias == alias)


def selected_names(config: pytest.Config) -> list[str]:
    """Return the model names given on the command line, comma lists taken apart."""
    given: list[str] = config.getoption(MODEL_DEST, default=[])
    return [name for text in given for name in text.split(",") if name]


def read_settings(config: pytest.Config) -> Settings:
    """Build the settings of a run; raises `SettingsError` for the first thing that cannot be used."""
    root = config.rootpath
    option = config.getoption
    environment = read_environment(root)
    offline = option("webbench_offline") or option("webbench_no_generate")
    dry_run, generate_only = option("webbench_dry_run"), option("webbench_generate_only")
    if dry_run and generate_only:
        raise SettingsError("--webbench-dry-run asks nothing, --webbench-generate-only asks everything: choose one")
    asks = not (offline or dry_run or config.option.collectonly or hasattr(config, "workerinput"))
    if offline and option("webbench_refresh"):
        raise SettingsError("--webbench-refresh asks the models, --webbench-offline forbids it: choose one")
    settings = Settings(
        root=root,
        models=_models(config, environment, asks),
        templates=_templates(option("webbench_prompt"), config.getini("webbench_prompt")),
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
        rules=_rules(config),
        run_id=_run_id(config),
    )
    _check_budget(settings)
    return settings


def read_environment(root: Path) -> Mapping[str, str]:
    """Return the environment, completed by `.env` below `root`."""
    from dotenv import dotenv_values

    file = {name: value for name, value in dotenv_values(root / ".env").items() if value}
    return {**file, **os.environ}


def _models(config: pytest.Config, environment: Mapping[str, str], asks: bool) -> tuple[Model, ...]:
    file = config.getoption("webbench_models") or config.getini("webbench_models") or None
    try:
        table = load_table(config.rootpath, file)
    except TableError as error:
        raise SettingsError(str(error)) from None
    models: dict[str, Model] = {}
    specs: dict[str, str] = {}
    for name in selected_names(config):
        alias, entry = _lookup(name, table) or _imported(config, name) or _unknown(name, table)
        if specs.setdefault(alias, name) != name:
            raise SettingsError(
                f"--model: {specs[alias]!r} and {name!r} both get the name {alias!r}; name one in the models table"
            )
        models[alias] = _model(config, alias, entry, environment, asks)
    return tuple(models.values())


def _lookup(name: str, table: Mapping[str, ModelEntry]) -> tuple[str, ModelEntry] | None:
    return (name, table[name]) if name in table else ad_hoc_entry(name)


def _imported(config: pytest.Config, name: str) -> tuple[str, ModelEntry] | None:
    """Return a model whose replies were imported; a worker takes the main process's word for it."""
    worker = hasattr(config, "workerinput")
    path = _store(config)
    samples = 1 if worker else 0
    if path.exists():
        with CompletionStore(path) as store:
            samples = max(samples, store.samples_of(IMPORTED, name))
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


def _model(config: pytest.Config, alias: str, entry: ModelEntry, environment: Mapping[str, str], asks: bool) -> Model:
    if asks and entry.provider == "agent":
        raise SettingsError(f"--model {alias}: this version has no {entry.provider} provider yet")
    base_url = _base_url(entry, environment)
    key = environment.get(entry.api_key_env) if entry.api_key_env else None
    if key is None and entry.api_key_env and asks and not is_loopback(base_url or ""):
        raise SettingsError(_missing_key(alias, entry.api_key_env))
    if asks and entry.provider == "gemini":
        load_sdk()
    samples = config.getoption("webbench_samples")
    if samples is None:
        samples = entry.samples or _ini_samples(config)
    return Model(
        alias=alias,
        entry=entry,
        parameters=_parameters(config, entry),
        samples=_at_least_one("--webbench-samples", samples),
        base_url=base_url,
        api_key=key if asks else None,
    )


def _base_url(entry: ModelEntry, environment: Mapping[str, str]) -> str | None:
    if entry.provider == "gemini":
        return clean_base_url(entry.base_url or GEMINI_URL).removesuffix("/v1beta")
    if entry.provider != "openai":
        return entry.base_url
    return clean_base_url(entry.base_url or environment.get("OPENAI_BASE_URL") or OPENAI_URL)


def _missing_key(alias: str, variable: str) -> str:
    where = KEY_SOURCES.get(variable)
    hint = f" (get a key at {where})" if where else ""
    return f"model {alias!r} needs a key: set {variable} in the environment or in .env{hint}"


def _parameters(config: pytest.Config, entry: ModelEntry) -> Parameters:
    def chosen(option: str, own: Any) -> Any:
        given = config.getoption(option)
        return own if given is None or entry.provider == "reference" else given

    return Parameters(
        temperature=chosen("webbench_temperature", entry.temperature),
        top_p=chosen("webbench_top_p", entry.top_p),
        max_tokens=chosen("webbench_max_tokens", entry.max_tokens),
        seed=None if entry.n_per_request > 1 else chosen("webbench_seed", entry.seed),
    )


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


def _templates(given: list[str] | None, ini: str) -> tuple[str, ...]:
    names = given or ini.split() or [DEFAULT_TEMPLATE]
    names = [name for text in names for name in text.split(",") if name]
    known = template_names()
    if names == ["all"]:
        return known
    for name in names:
        if name not in known:
            raise SettingsError(f"--webbench-prompt: unknown template {name!r}; known: {', '.join(known)}")
    return tuple(dict.fromkeys(names))


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


def _path(root: Path, text: str, default: str) -> Path:
    return root / (text or default)


def _store(config: pytest.Config) -> Path:
    given = config.getoption("webbench_store") or config.getini("webbench_store")
    return _path(config.rootpath, given, DEFAULT_STORE)


def _optional_path(directory: Path, text: str | None) -> Path | None:
    return None if text is None else directory / text


def _run_id(config: pytest.Config) -> str:
    worker: Mapping[str, Any] = getattr(config, "workerinput", {})
    given = worker.get("webbench_run_id") or config.getoption("webbench_run_id")
    if given is None:
        now = datetime.now(UTC)
        salt = hashlib.sha256(f"{now.isoformat()} {os.getpid()}".encode()).hexdigest()[:6]
        return f"{now:%Y%m%dT%H%M%SZ}-{salt}"
    if not RUN_ID.fullmatch(given):
        raise SettingsError(f"--webbench-run-id: letters, digits and . _ - only, found {given!r}")
    return str(given)


def _check_budget(settings: Settings) -> None:
    if settings.budget is None:
        return
    for model in settings.models:
        if model.entry.price is None:
            raise SettingsError(
                f"--webbench-budget: the price of model {model.alias!r} is unknown; "
                "give price = { input = ..., output = ... } (USD per million tokens) in the models table"
            )
