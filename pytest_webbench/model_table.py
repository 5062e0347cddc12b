"""The models table: which model a name stands for, where it is served and what it costs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_webbench.models.agent.context import RoleName

ALIAS = re.compile(r"[A-Za-z0-9._-]+")
DEFAULT_TEMPERATURE = 0.8
DEFAULT_MAX_TOKENS = 2048
DEFAULT_ITERATIONS = 3
AGENT_KEY = "agent_system"
ROLES: tuple[RoleName, ...] = ("codegen", "reviewer", "debugger")
OF_AGENTS = frozenset({"provider", *ROLES, "max_iterations", "observe", "samples", "hosting", "size_b", "exclude"})

Provider = Literal["openai", "gemini", "local", "agent", "reference", "imported"]
IMPORTED = "imported"
Positive = Annotated[float, Field(gt=0)]


class TableError(Exception):
    """A models table that cannot be used: names the file, the model and the key."""


class Price(BaseModel):
    """USD per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class ModelEntry(BaseModel):
    """One model of the table; an absent value is unknown or the server's own default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: Provider
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: Annotated[float, Field(ge=0)] | None = DEFAULT_TEMPERATURE
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = DEFAULT_MAX_TOKENS
    seed: int | None = 0
    samples: Annotated[int, Field(gt=0)] | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    concurrency: Annotated[int, Field(gt=0)] | None = None
    timeout: Positive = 600.0
    max_retries: Annotated[int, Field(ge=0)] | None = None
    n_per_request: Annotated[int, Field(gt=0)] = 1
    system_role: bool = True
    price: Price | None = None
    hosting: Literal["paid", "local"] = "paid"
    size_b: Positive | None = None
    exclude: str | None = None
    path: str | None = None
    hf_repo: str | None = None
    hf_file: str | None = None
    context: Annotated[int, Field(gt=0)] | None = None
    codegen: str | None = None
    reviewer: str | None = None
    debugger: str | None = None
    max_iterations: Annotated[int, Field(ge=0)] = DEFAULT_ITERATIONS
    observe: Literal["examples"] | None = None

    @property
    def model_id(self) -> str:
        """The provider's own id of the model."""
        return self.model or self.hf_file or (Path(self.path).name if self.path else AGENT_KEY)


_NIM = {"provider": "openai", "base_url": "https://integrate.api.nvidia.com/v1", "api_key_env": "NIM_API_KEY"}
_LOCAL: dict[str, Any] = {
    "provider": "local",
    "temperature": 0.2,
    "max_tokens": 768,
    "context": 4096,
    "concurrency": 1,
    "hosting": "local",
    "price": {"input": 0.0, "output": 0.0},
}

BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    "llama": {**_NIM, "model": "meta/llama-3.1-70b-instruct", "requests_per_minute": 40, "size_b": 70},
    "mixtral": {
        **_NIM,
        "model": "mistralai/mixtral-8x7b-instruct-v0.1",
        "requests_per_minute": 40,
        "size_b": 46.7,
    },
    "gemini": {"provider": "gemini", "model": "gemini-1.5-flash", "api_key_env": "GEMINI_API_KEY"},
    "agent": {
        "provider": "agent",
        "codegen": "llama",
        "reviewer": "mixtral",
        "debugger": "mixtral",
        "max_iterations": 3,
        "samples": 1,
    },
    "local": {**_LOCAL, "model": "qwen2.5-coder-0.5b-instruct-q4_k_m", "size_b": 0.5},
    "local-large": {**_LOCAL, "model": "qwen2.5-coder-1.5b-instruct-q4_k_m", "size_b": 1.5},
    "agent-local": {
        "provider": "agent",
        "codegen": "local",
        "reviewer": "local",
        "debugger": "local",
        "max_iterations": 1,
        "samples": 1,
        "hosting": "local",
    },
    "reference": {
        "provider": "reference",
        "model": "reference",
        "temperature": None,
        "max_tokens": None,
        "seed": None,
        "hosting": "local",
        "price": {"input": 0.0, "output": 0.0},
        "exclude": "the oracle: answers with the reference solutions",
    },
}


def load_table(root: Path, file: str | None) -> dict[str, ModelEntry]:
    """Return the built-in models, changed and extended by the user's table.

    `file` is looked for below `root`; without it `webbench.toml` and then `[tool.webbench]` of
    `pyproject.toml` are read. A user's entry with the name of a built-in one changes only the keys it gives.
    """
    path, tables = _user_tables(root, file)
    merged = dict(BUILT_IN)
    for alias, table in tables.items():
        if not ALIAS.fullmatch(alias):
            raise TableError(f"{path}: models.{alias}: a name may hold letters, digits and . _ - only")
        if not isinstance(table, dict):
            raise TableError(f"{path}: models.{alias}: expected a table, found {table!r}")
        merged[alias] = {**merged.get(alias, {}), **table}
    return {alias: _entry(path, alias, table) for alias, table in merged.items()}


def imported_entry(alias: str, samples: int) -> ModelEntry:
    """Return the entry of a model that is in no table: its replies were made elsewhere and are in the store.

    How they were made is not known, so that no parameter enters their keys.
    """
    unknown = dict.fromkeys(("temperature", "max_tokens", "seed"))
    return ModelEntry.model_validate({"provider": IMPORTED, "model": alias, "samples": samples, **unknown})


def score_key(provider: str, model_id: str) -> str:
    """Return the key of a model's scores in `benchmark.json`: its model id, `agent_system` for an agent."""
    return AGENT_KEY if provider == "agent" else model_id


def built_in_keys() -> tuple[str, ...]:
    """Return under which keys the built-in models' scores stand in `benchmark.json`."""
    keys: list[str] = []
    for alias, table in BUILT_IN.items():
        entry = ModelEntry.model_validate(table)
        key = score_key(entry.provider, entry.model_id)
        keys.append(f"{key} ({alias})" if key in keys else key)
    return tuple(keys)


def ad_hoc_entry(spec: str) -> tuple[str, ModelEntry] | None:
    """Return alias and entry for `PROVIDER:MODEL_ID`, or None where `spec` has no such form."""
    provider, colon, model = spec.partition(":")
    if not colon or not model or provider not in ("openai", "gemini", "local"):
        return None
    alias = re.sub(r"[^A-Za-z0-9._-]", "-", spec)
    if provider == "local":
        return alias, ModelEntry.model_validate({**_LOCAL, "path": model})
    key = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}[provider]
    return alias, ModelEntry.model_validate({"provider": provider, "model": model, "api_key_env": key})


def _user_tables(root: Path, file: str | None) -> tuple[Path, Mapping[str, Any]]:
    if file is not None:
        path = root / file
        if not path.is_file():
            raise TableError(f"{path}: no such models table")
        return path, _models(path, _parse(path))
    path = root / "webbench.toml"
    if path.is_file():
        return path, _models(path, _parse(path))
    path = root / "pyproject.toml"
    if path.is_file():
        return path, _models(path, _parse(path).get("tool", {}).get("webbench", {}))
    return path, {}


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{path}: not a readable TOML file: {error}") from None


def _models(path: Path, data: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := sorted(data.keys() - {"models"}):
        raise TableError(f"{path}: {unknown[0]}: unknown key; a model is a table such as [models.llama]")
    models = data.get("models", {})
    if not isinstance(models, dict):
        raise TableError(f"{path}: models: expected tables such as [models.llama]")
    return models


def _entry(path: Path, alias: str, table: Mapping[str, Any]) -> ModelEntry:
    try:
        entry = ModelEntry.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = {"extra_forbidden": "unknown key", "missing": "required key is missing"}.get(first["type"], first["msg"])
        raise TableError(f"{path}: models.{alias}.{key}: {what}") from None
    if entry.provider in ("openai", "gemini") and entry.model is None:
        raise TableError(f"{path}: models.{alias}.model: required key is missing")
    if entry.provider == "agent":
        _check_agent(f"{path}: models.{alias}", entry)
    if entry.n_per_request > 1 and entry.provider != "openai":
        raise TableError(f"{path}: models.{alias}.n_per_request: only the provider openai answers several times")
    return entry


def _check_agent(where: str, entry: ModelEntry) -> None:
    for role in ROLES:
        if getattr(entry, role) is None:
            raise TableError(f"{where}.{role}: required key is missing: the name of the model that plays this role")
    if idle := sorted(entry.model_fields_set - OF_AGENTS):
        raise TableError(f"{where}.{idle[0]}: an agent has no {idle[0]}; set it for the models of its roles")
