"""One frozen `Settings` from the command line, the ini file, the models table and `.env`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_webbench.completions.store import is_url
from pytest_webbench.handover import HANDOVER, Handover
from pytest_webbench.ledger import new_run_id
from pytest_webbench.options import DEFAULT_SAMPLES, DEFAULT_STORE, MODEL_DEST, SettingsError
from pytest_webbench.prompts import Template
from pytest_webbench.selection import (
    Model,
    Wishes,
    asked_models,
    at_least_one,
    choose_templates,
    read_models,
)
from pytest_webbench.shards import Shard, parse_shard

if TYPE_CHECKING:
    import pytest

    from pytest_webbench.gate import Kind, Rule

Tier = Literal["static", "functional", "secure"]
GATE_OPTIONS = ("webbench_baseline", "webbench_max_drop", "webbench_fail_under")
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
        concurrency=at_least_one("--webbench-concurrency", option("webbench_concurrency")),
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


def _ini_samples(config: pytest.Config) -> int:
    text = config.getini("webbench_samples")
    if not text:
        return DEFAULT_SAMPLES
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"webbench_samples: expected a whole number, found {text!r}") from None


def _templates(config: pytest.Config) -> tuple[Template, ...]:
    given = config.getoption("webbench_prompt") or config.getini("webbench_prompt").split()
    folder = config.getoption("webbench_templates") or config.getini("webbench_templates")
    names = [name for text in given for name in text.split(",") if name]
    return choose_templates(names, config.rootpath / folder if folder else None)


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
