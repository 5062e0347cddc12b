"""A run in one process: takes samples and judges them; in the main process it also asks models and keeps records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_webbench.agents import AgentPlan, Agents
from pytest_webbench.bench import sample_of
from pytest_webbench.cases import Case, check_unique_ids, find_case_files, load_case_file
from pytest_webbench.completions.fetch import Fetched, Fetcher
from pytest_webbench.completions.store import CompletionStore, open_store
from pytest_webbench.evaluation import Sample, installed_versions
from pytest_webbench.ledger import Ledger
from pytest_webbench.models import Request
from pytest_webbench.observation import Observer
from pytest_webbench.options import SettingsError
from pytest_webbench.plans import agent_plan, plans_of
from pytest_webbench.prompts import template_sha
from pytest_webbench.selection import Model, asked_models
from pytest_webbench.settings import Settings
from pytest_webbench.workbench import Workbench


@dataclass(slots=True)
class Run:
    """The main process's side of a run: every case that may be asked for, the fetcher and the ledger.

    `answers` is what the reference model answers with and `labels` what a person calls the sample, both by
    completion key.
    """

    settings: Settings
    endpoints: Mapping[str, str]
    cases: Sequence[Case]
    store: CompletionStore
    fetcher: Fetcher
    ledger: Ledger
    answers: dict[str, str]
    labels: dict[str, str]
    agents: Agents
    observer: Observer | None = None
    _by_node: dict[str, Case] = field(default_factory=dict)

    def ask(self, alias: str, request: Request) -> Fetched:
        """Return one completion, waiting for it."""
        return self.submit(alias, request).result()

    def submit(self, alias: str, request: Request) -> Future[Fetched]:
        """Return the future of one completion, a model's or an agent's."""
        return (self.agents if alias in self.agents else self.fetcher).submit(alias, request)

    def begin(self, node_ids: Iterable[str]) -> None:
        """Expect these samples and announce their completions in this order."""
        samples = self.samples(node_ids)
        self.ledger.expect(sample.identity for sample in samples)
        self.announce(samples)

    def samples(self, node_ids: Iterable[str]) -> list[Sample]:
        """Return the samples of these items."""
        return [self._sample(node_id) for node_id in node_ids]

    def announce(self, samples: Sequence[Sample]) -> None:
        """Announce the completions of these samples in this order."""
        for sample in samples:
            self.labels[sample.request.key] = f"{sample.case.name} {sample.model.alias} sample-{sample.index}"
            if sample.model.entry.provider == "reference":
                self.answers[sample.request.key] = sample.case.reference
        single = [sample for sample in samples if sample.model.alias not in self.agents]
        self.fetcher.prefetch((sample.model.alias, sample.request) for sample in single)
        for sample in samples:
            if sample.model.alias in self.agents:
                self.agents.announce(sample.model.alias, sample.request, sample.case)

    def stored(self, samples: Iterable[Sample]) -> frozenset[str]:
        """Return the keys of those samples' completions that are in the store."""
        return frozenset(self.store.get_many({sample.request.key for sample in samples}))

    @property
    def asked_cases(self) -> list[Case]:
        """The cases of the expected samples."""
        names = {case for case, *_ in self.ledger.expected}
        return [case for case in self.cases if case.name in names]

    def close(self) -> None:
        """Stop asking, close the store and the ledger."""
        with ExitStack() as closing:
            closing.callback(self.store.close)
            closing.callback(self.ledger.close)
            if self.observer is not None:
                closing.callback(self.observer.close)
            closing.callback(self.fetcher.close)

    def _sample(self, node_id: str) -> Sample:
        file, *entry, alias, template, name = node_id.split("::")
        key = "::".join((file, *entry))
        if key not in self._by_node:
            self._by_node[key] = self._case(file, entry)
        index = int(name.removeprefix("sample-"))
        return sample_of(self.settings, self.endpoints, node_id, self._by_node[key], alias, template, index)

    def _case(self, file: str, entry: list[str]) -> Case:
        path = (self.settings.root / file).resolve()
        candidates = [case for case in self.cases if not entry or case.id == entry[0]]
        exact = [case for case in candidates if case.path == path]
        return (exact or [case for case in candidates if case.path.as_posix().endswith("/" + file)])[0]


def is_sample(node_id: str) -> bool:
    """Whether a node id has the form of a sample's."""
    file, *_, name = node_id.split("::")
    return name.startswith("sample-") and file.endswith((".toml", ".json"))


def load_selected_cases(arguments: Sequence[str], directory: Path) -> list[Case]:
    """Load every case below pytest's path arguments; raises `CaseError` for the first broken file."""
    paths = [directory / argument.split("::")[0] for argument in arguments]
    files = find_case_files([path.resolve() for path in paths if path.exists()])
    cases = [case for file in files for case in load_case_file(file)]
    check_unique_ids(cases)
    return cases


def start_run(settings: Settings, cases: Sequence[Case], selection: Mapping[str, Any]) -> Run:
    """Open the store and prepare the run; raises `StoreError` where the store cannot be used."""
    answers: dict[str, str] = {}
    labels: dict[str, str] = {}
    plans = plans_of(asked_models(settings.models), answers, settings.root)
    endpoints = {alias: plan.endpoint for alias, plan in plans.items()}
    agents = {model.alias: agent_plan(model, endpoints) for model in settings.models if model.roles}
    observer = _observer(settings, agents)
    store = open_store(settings.store)
    fetcher = Fetcher(
        {alias: plan.fetch for alias, plan in plans.items()},
        store,
        concurrency=settings.concurrency,
        offline=settings.offline,
        refresh=settings.refresh,
        budget=settings.budget,
    )
    ledger = Ledger(settings.run_folder, describe(settings, cases, selection))
    endpoints |= {alias: plan.endpoint for alias, plan in agents.items()}
    team = Agents(agents, fetcher, labels, observer)
    return Run(settings, endpoints, cases, store, fetcher, ledger, answers, labels, team, observer)


def examined(workbench: Workbench, cases: Sequence[Case]) -> str | None:
    """Try the sandbox out, and return what is to be said of it; None where nothing will be run.

    Raises `SettingsError` where a strict sandbox is wanted and not to be had, `CaseError` for checks that cannot be
    used.
    """
    if workbench.tier == "static" or not any("execution" in case.criteria for case in cases):
        return None
    line = workbench.examine()
    if not workbench.why_no_sandbox:
        _check_suites(cases)
    if workbench.strict and workbench.why_no_sandbox:
        raise SettingsError(f"--webbench-sandbox-strict: {workbench.why_no_sandbox}")
    return line


def _check_suites(cases: Sequence[Case]) -> None:
    from pytest_webbench.tiers.checks import load_suite

    for case in cases:
        load_suite(case)


def _observer(settings: Settings, agents: Mapping[str, AgentPlan]) -> Observer | None:
    """Return what runs examples for agents, where one wants it and models are asked at all."""
    wanting = [alias for alias, plan in agents.items() if plan.observe]
    if not wanting or settings.dry_run or settings.offline:
        return None
    observer = Observer(Workbench("functional", settings.sandbox, settings.sandbox_strict))
    if reason := observer.examine():
        observer.close()
        raise SettingsError(f"models.{wanting[0]}.observe: examples cannot be run here: {reason}")
    return observer


def describe(settings: Settings, cases: Sequence[Case], selection: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `run.json` says of a run beside its expected samples.

    `selection` is what chose among the cases: shards of one run have the same one.
    """
    return {
        "schema": 1,
        "run_id": settings.run_id,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {
            "templates": {template.name: template_sha(template) for template in settings.templates},
            "tier": settings.tier,
            "sandbox": settings.sandbox,
            "report_only": settings.report_only,
            "budget": settings.budget,
        },
        "shard": None if settings.shard is None else str(settings.shard),
        "selection": dict(selection),
        "versions": installed_versions(),
        "models": {model.alias: _describe_model(model) for model in settings.models},
        "cases": {
            case.name: {
                "id": case.id,
                "version": case.version,
                "framework": case.framework,
                "category": case.category,
                "difficulty": case.difficulty,
                "scenario": case.scenario,
            }
            for case in cases
        },
    }


def _describe_model(model: Model) -> dict[str, Any]:
    entry = model.entry
    return {
        "model_id": entry.model_id,
        "provider": entry.provider,
        "hosting": entry.hosting,
        "size_b": entry.size_b,
        "price": entry.price.model_dump() if entry.price else None,
        "exclude": entry.exclude,
        "samples": model.samples,
        "parameters": {**asdict(model.parameters), "extra": [list(pair) for pair in model.parameters.extra]},
        **(_describe_agent(model) if model.roles else {}),
    }


def _describe_agent(model: Model) -> dict[str, Any]:
    roles = {role: {"model_id": one.entry.model_id, "parameters": asdict(one.parameters)}
             for role, one in model.roles.items()}  # fmt: skip
    aliases: dict[str, Any] = {role: one.alias for role, one in model.roles.items()}
    entry = model.entry
    return {**aliases, "roles": roles, "max_iterations": entry.max_iterations, "observe": entry.observe}
