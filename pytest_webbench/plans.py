"""How each selected model is asked: its provider, its limits, and the endpoint that tells its completions apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_webbench.agents import AgentPlan, Player
from pytest_webbench.cases import Case
from pytest_webbench.completions.estimates import Price
from pytest_webbench.completions.fetch import ModelPlan
from pytest_webbench.model_table import IMPORTED, ModelEntry
from pytest_webbench.models import InfrastructureError, Provider
from pytest_webbench.models.local.weights import PACKAGED, OwnWeights, PackagedWeights, hub_weights
from pytest_webbench.options import SettingsError
from pytest_webbench.selection import Model


@dataclass(frozen=True, slots=True)
class Plan:
    """A model's endpoint, and how the fetcher asks it."""

    endpoint: str
    fetch: ModelPlan


def plans_of(models: Iterable[Model], answers: Mapping[str, str], root: Path) -> dict[str, Plan]:
    """Return the plan of each model by alias; models that differ in their parameters alone share one."""
    shared: dict[tuple[ModelEntry, str | None], Plan] = {}
    plans: dict[str, Plan] = {}
    for model in models:
        served = model.entry, model.base_url
        if served not in shared:
            shared[served] = plan_of(model, answers, root)
        plans[model.alias] = shared[served]
    return plans


def plan_of(model: Model, answers: Mapping[str, str], root: Path) -> Plan:
    """Return the plan of a model; `answers` are what the reference model answers with, by completion key.

    Raises `SettingsError` or `ConfigError` where the model cannot be asked on this machine.
    """
    match model.entry.provider:
        case "openai":
            return Plan(model.base_url or "", _fetch(model, lambda: _openai(model)))
        case "gemini":
            return Plan(model.base_url or "", _fetch(model, lambda: _gemini(model)))
        case "local":
            return _local(model, root)
        case "imported":
            return Plan(IMPORTED, _fetch(model, _nothing_to_ask))
        case "reference":
            return Plan("reference", _fetch(model, lambda: _reference(answers)))
    raise SettingsError(f"{model.alias} is an agent: its answers cannot come from elsewhere, those of its roles can")


def agent_plan(model: Model, endpoints: Mapping[str, str]) -> AgentPlan:
    """Return the plan of an agent; `endpoints` are those of its roles' models, by alias."""
    players = {
        role: Player(one.alias, one.entry.model_id, endpoints[one.alias], one.parameters, one.entry.system_role)
        for role, one in model.roles.items()
    }
    return AgentPlan(players, model.entry.max_iterations, model.entry.observe == "examples")


def endpoint_of(endpoint: str, model: Model, case: Case) -> str:
    """Return the endpoint of a request, which also holds what an answer depends on beside its messages.

    For the reference model that is the reference solution; for an agent the framework, and the public examples
    where it observes them.
    """
    if model.entry.provider == "reference":
        return f"{endpoint}:{_sha(case.reference)}"
    if model.entry.provider == "agent":
        seen = f":{_sha(repr((case.examples, case.examples_setup, case.imports)))}" if model.entry.observe else ""
        return f"{endpoint}:{case.framework}{seen}"
    return endpoint


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _fetch(model: Model, provider: Callable[[], Provider]) -> ModelPlan:
    entry = model.entry
    return ModelPlan(
        provider=provider,
        concurrency=entry.concurrency,
        requests_per_minute=entry.requests_per_minute,
        tokens_per_minute=entry.tokens_per_minute,
        price=Price(entry.price.input, entry.price.output) if entry.price else None,
        retries=entry.max_retries,
        n_per_request=entry.n_per_request,
    )


def _openai(model: Model) -> Provider:
    from pytest_webbench.models.openai import OpenAIProvider

    return OpenAIProvider(
        model.entry.model_id,
        model.base_url or "",
        model.api_key,
        timeout=model.entry.timeout,
        key_name=_key_name(model),
    )


def _gemini(model: Model) -> Provider:
    from pytest_webbench.models.gemini import gemini_provider

    return gemini_provider(
        model.entry.model_id,
        model.base_url or "",
        model.api_key,
        timeout=model.entry.timeout,
        key_name=_key_name(model),
    )


def _key_name(model: Model) -> str:
    """Return what messages call the key, one that is missing included."""
    variable = model.entry.api_key_env
    if not variable:
        return "the API key (api_key_env of this models table entry names none)"
    return variable if model.api_key else f"{variable} (not set)"


def _nothing_to_ask() -> Provider:
    raise InfrastructureError("not_stored", "no imported reply for this sample: see 'webbench import --help'")


def _reference(answers: Mapping[str, str]) -> Provider:
    from pytest_webbench.models.reference import ReferenceProvider

    return ReferenceProvider(answers)


def _local(model: Model, root: Path) -> Plan:
    from pytest_webbench.models.local.provider import LocalProvider, local_endpoint

    weights, entry = _weights(model, root), model.entry
    return Plan(
        local_endpoint(weights),
        _fetch(model, lambda: LocalProvider(weights, context=entry.context or 4096, timeout=entry.timeout)),
    )


def _weights(model: Model, root: Path) -> OwnWeights | PackagedWeights:
    entry = model.entry
    if entry.path is not None:
        own = OwnWeights(root / Path(entry.path).expanduser())
        own.file()
        return own
    if entry.hf_repo and entry.hf_file:
        return hub_weights(entry.hf_repo, entry.hf_file)
    packaged = PACKAGED.get(entry.model_id)
    if packaged is None:
        known = ", ".join(PACKAGED)
        raise SettingsError(
            f"model {model.alias!r}: expected path, hf_repo with hf_file, or one of the packaged models ({known})"
        )
    packaged.located()
    return packaged
