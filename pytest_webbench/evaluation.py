"""From a completion to a record: the middle of everything.

case + template -> request -> completion -> code -> tiers, metrics -> record
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pytest_webbench.cases import Case
from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.completions.store import Stored
from pytest_webbench.extraction import Code, extract_code
from pytest_webbench.metrics import WebCodeBLEU
from pytest_webbench.models import Completion, Message, ProviderError, Request
from pytest_webbench.models.agent.orchestrator import REVISED, steps_of
from pytest_webbench.prompts import Template, prompt_sha, render, template_sha, without_system
from pytest_webbench.records import JUDGED, Check, Outcome, Record, Step, no_tiers
from pytest_webbench.scoring import functional_pass, points, secure_pass
from pytest_webbench.selection import Model
from pytest_webbench.tiers import TierResult, structure, syntax
from pytest_webbench.tiers.results import HttpTiers, unrunnable
from pytest_webbench.workbench import Workbench

VERSIONED = ("pytest-webbench", "flask", "fastapi", "django", "tree-sitter", "tree-sitter-python")
HTTP_TIERS: tuple[Literal["execution", "examples", "unit_tests", "exploits"], ...] = (
    "execution",
    "examples",
    "unit_tests",
    "exploits",
)
SAMPLE_FIELDS = (
    "run_id", "node_id", "case_id", "case_name", "framework", "category", "difficulty", "model", "model_id",
    "provider", "hosting", "prompt_template", "template_sha", "prompt_sha", "sample", "parameters", "started_at",
    "completion_key", "from_store", "model_returned", "finish_reason", "input_tokens", "output_tokens", "cost",
    "latency_seconds", "trace",
)  # fmt: skip
"""What a record says of its sample and completion, not of the verdict."""
NO_CODE = {
    "no_code": "the answer holds no code",
    "truncated": "the answer was cut at max_tokens before the code was complete",
    "refused": "the model refused",
}


@dataclass(frozen=True)
class Sample:
    """One sample to take: which case is put to which model, in which manner, for the how-manieth time."""

    node_id: str
    case: Case
    model: Model
    endpoint: str
    template: Template
    index: int

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """Case name, model, template and index: what tells the sample apart from the others of its run."""
        return self.case.name, self.model.alias, self.template.name, self.index

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The chat messages that are sent."""
        messages = render(self.template, self.case)
        return messages if self.model.writer.entry.system_role else without_system(messages)

    @cached_property
    def request(self) -> Request:
        """The request for this sample's completion: seed = base seed + sample index."""
        parameters = self.model.parameters
        if parameters.seed is not None:
            parameters = replace(parameters, seed=parameters.seed + self.index)
        return Request(self.messages, self.model.entry.model_id, self.endpoint, parameters, self.index)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A record, and the conversation that it judges as one line of JSON (None where there was none)."""

    record: Record
    answer: str | None = None


def evaluate(run_id: str, sample: Sample, fetched: Fetched, bench: Workbench) -> Evaluation:
    """Judge one completion."""
    of_sample = _of_sample(run_id, sample)
    code, verdict = _judged(sample.case, fetched.completion, bench)
    record = Record(**of_sample, **_of_completion(fetched), **verdict)
    return Evaluation(record, _answer(record, sample.messages, fetched.completion, code))


def judge_again(record: Record, case: Case, stored: Stored, bench: Workbench) -> Evaluation:
    """Judge a stored completion anew; what its record says of the sample and of the completion stays."""
    code, verdict = _judged(case, stored.completion, bench)
    kept = {name: getattr(record, name) for name in SAMPLE_FIELDS}
    again = Record(**{**kept, "case_version": case.version, "versions": installed_versions()}, **verdict)
    return Evaluation(again, _answer(again, stored.request.messages, stored.completion, code))


def not_obtained(run_id: str, sample: Sample, error: ProviderError) -> Evaluation:
    """Record a sample whose completion could not be had: never the model's failure."""
    record = Record(
        **_of_sample(run_id, sample),
        completion_key=sample.request.key,
        status="config_error" if error.status == "config_error" else "infrastructure_error",
        failure_class=error.failure_class,
        message=str(error),
    )
    return Evaluation(record)


@cache
def installed_versions() -> dict[str, str]:
    """Return the versions that a verdict depends on, as far as installed."""
    versions = {"python": platform.python_version()}
    for name in VERSIONED:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _judged(case: Case, completion: Completion, bench: Workbench) -> tuple[Code, dict[str, Any]]:
    """Return the code, and everything that a record says of it."""
    started = time.monotonic()
    code = extract_code(completion.text, case.framework, completion.finish_reason)
    verdict = _judge(case, completion, code, bench)
    flags = (*completion.flags, *code.flags, *verdict.get("flags", ()), *_effect(case, completion, verdict, bench))
    return code, {
        **verdict,
        "flags": tuple(dict.fromkeys(flags)),
        "extraction_rule": code.rule,
        "code_sha": None if code.text is None else hashlib.sha256(code.text.encode("utf-8", "replace")).hexdigest(),
        "duration_seconds": round(time.monotonic() - started, 4),
    }


def _judge(case: Case, completion: Completion, code: Code, bench: Workbench) -> dict[str, Any]:
    if completion.blocked:
        return _blocked(completion.blocked)
    if completion.refusal or code.text is None:
        return _without_code(case, "refused" if completion.refusal else code.failure_class or "no_code", bench)
    return _of_code(case, code, code.text, bench)


def _effect(case: Case, completion: Completion, verdict: Mapping[str, Any], bench: Workbench) -> tuple[str, ...]:
    """Return `repaired` or `broken` where an agent's revisions changed the verdict on its first version."""
    if REVISED not in completion.flags or verdict["status"] not in JUDGED:
        return ()
    step = steps_of(completion)[0]
    first = Completion(step["reply"], step["finish_reason"])
    code = extract_code(first.text, case.framework, first.finish_reason)
    before, after = _judge(case, first, code, bench)["status"], verdict["status"]
    if before == after or before not in JUDGED:
        return ()
    return ("repaired",) if after == "passed" else ("broken",)


def _trace(completion: Completion) -> tuple[Step, ...]:
    names = [item.name for item in fields(Step)]
    return tuple(Step(**{name: step[name] for name in names}) for step in steps_of(completion))


def _blocked(by: str) -> dict[str, Any]:
    return {"status": "blocked", "failure_class": by, "message": f"the provider held the answer back ({by})"}


def _without_code(case: Case, failure: str, bench: Workbench) -> dict[str, Any]:
    return {
        "status": "model_failure",
        "failure_class": failure,
        "message": NO_CODE[failure],
        "tiers": no_tiers() | {"syntax": "failed", "structure": "failed"},
        **_passes(case, bench, False, {"parsing": 0.0}, {"parsing": "failed"}, "not_assessed"),
        **_similarity(bench.similarity(case, "")),
    }


def _of_code(case: Case, code: Code, text: str, bench: Workbench) -> dict[str, Any]:
    parsed, structured = syntax.check(text), structure.check(text, case.framework)
    http = _http(case, code, text, parsed, bench) if parsed.passed else None
    tiers: dict[str, Outcome] = no_tiers() | {
        "syntax": _outcome(parsed.passed),
        "structure": _outcome(structured.passed),
    }
    shares: dict[str, float | None] = {"parsing": float(parsed.passed)}
    if http is not None:
        tiers |= {name: getattr(http, name) for name in HTTP_TIERS}
        shares |= {name: http.share(name) for name in HTTP_TIERS}
    static = parsed.passed and structured.passed
    outcomes: dict[str, Outcome] = {**tiers, "parsing": tiers["syntax"]}
    passes = _passes(case, bench, static, shares, outcomes, tiers["exploits"])
    return {
        **_verdict(case, code, bench, parsed, structured, http, passes),
        **passes,
        "tiers": tiers,
        "checks": _checks(http),
        "compiles": parsed.compiles,
        "sandbox": bench.sandbox_header if http is not None else None,
        "flags": http.flags if http is not None else (),
        **_similarity(bench.similarity(case, text)),
    }


def _passes(
    case: Case,
    bench: Workbench,
    static: bool,
    shares: Mapping[str, float | None],
    outcomes: Mapping[str, Outcome],
    exploits: Outcome,
) -> dict[str, Any]:
    """Return points and pass rates' outcomes; what the run's tiers do not ask for is null, never a failure."""
    functional = None if bench.tier == "static" else functional_pass(case.criteria, outcomes)
    asked = exploits if case.exploits and bench.tier == "secure" else None
    return {
        "points": None if bench.tier == "static" else points(case.criteria, shares),
        "static_pass": static,
        "functional_pass": functional,
        "secure_pass": secure_pass(functional, asked),
    }


def _http(case: Case, code: Code, text: str, parsed: syntax.SyntaxResult, bench: Workbench) -> HttpTiers | None:
    """Run the app, unless nothing asks for it; code that parses but does not compile fails execution."""
    if bench.tier == "static" or set(case.criteria) <= {"parsing"}:
        return None
    if not parsed.compiles:
        return unrunnable(case, "syntax_error", parsed.compile_message)
    return bench.run(case, code, text)


def _verdict(
    case: Case,
    code: Code,
    bench: Workbench,
    parsed: syntax.SyntaxResult,
    structured: TierResult,
    http: HttpTiers | None,
    passes: Mapping[str, Any],
) -> dict[str, Any]:
    """Return status, failure class and message: the first tier that asserts and does not pass decides."""
    if not parsed.passed:
        cut = code.failure_class == "truncated"
        return _failure("truncated" if cut else "syntax_error", parsed.message)
    if bench.tier == "static" or set(case.criteria) <= {"parsing"}:
        return _PASSED if structured.passed else _failure("structure_missing", structured.message)
    if http is None or http.execution == "not_assessed":
        if http is None:
            return _not_assessed(bench.why_no_sandbox, "not_assessed")
        return _not_assessed(http.message, http.failure_class or "not_assessed")
    if passes["functional_pass"] is False:
        return _failure(http.failure_class or "runtime", http.message)
    if passes["functional_pass"] is None:
        return _not_assessed("a criterion of the case could not be assessed", "not_assessed")
    if bench.tier == "secure" and case.exploits and not passes["secure_pass"]:
        if passes["secure_pass"] is False:
            return _failure("exploited", http.message)
        return _not_assessed("an exploit could not be tried", "not_assessed")
    return _PASSED


_PASSED = {"status": "passed"}


def _failure(failure_class: str, message: str) -> dict[str, Any]:
    return {"status": "model_failure", "failure_class": failure_class, "message": message}


def _not_assessed(message: str, failure_class: str) -> dict[str, Any]:
    return {"status": "infrastructure_error", "failure_class": failure_class, "message": message}


def _outcome(passed: bool) -> Outcome:
    return "passed" if passed else "failed"


def _checks(http: HttpTiers | None) -> tuple[Check, ...]:
    results = http.checks if http is not None else ()
    return tuple(
        Check(result.name, result.tier, result.passed, result.message, result.request, result.response)
        for result in results
    )


def _similarity(scores: WebCodeBLEU) -> dict[str, Any]:
    names = (
        "web_codebleu",
        "ngram",
        "weighted_ngram",
        "syntax",
        "dataflow",
        "dataflow_defined",
        "kw_precision",
        "kw_recall",
        "kw_f1",
        "kw_defined",
    )
    return {name: getattr(scores, name) for name in names}


def _of_sample(run_id: str, sample: Sample) -> dict[str, Any]:
    case, model = sample.case, sample.model
    return {
        "run_id": run_id,
        "node_id": sample.node_id,
        "case_id": case.id,
        "case_name": case.name,
        "case_version": case.version,
        "framework": case.framework,
        "category": case.category,
        "difficulty": case.difficulty,
        "model": model.alias,
        "model_id": model.entry.model_id,
        "provider": model.entry.provider,
        "hosting": model.entry.hosting,
        "prompt_template": sample.template.name,
        "template_sha": template_sha(sample.template),
        "prompt_sha": prompt_sha(sample.messages),
        "sample": sample.index,
        "parameters": asdict(sample.request.parameters),
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "versions": installed_versions(),
    }


def _of_completion(fetched: Fetched) -> dict[str, Any]:
    completion = fetched.completion
    return {
        "completion_key": fetched.key,
        "from_store": fetched.from_store,
        "model_returned": completion.model_returned,
        "finish_reason": completion.finish_reason,
        "input_tokens": completion.input_tokens,
        "output_tokens": completion.output_tokens,
        "cost": completion.cost,
        "latency_seconds": completion.latency_seconds,
        "trace": _trace(completion),
    }


def _answer(record: Record, messages: Sequence[Message], completion: Completion, code: Code) -> str:
    """Return one line for `completions.jsonl`."""
    return json.dumps(
        {
            "case_name": record.case_name,
            "model": record.model,
            "prompt_template": record.prompt_template,
            "sample": record.sample,
            "completion_key": record.completion_key,
            "messages": [asdict(message) for message in messages],
            "reply": completion.text,
            "code": code.text,
            "files": dict(code.files),
            **_steps(completion),
        },
        separators=(",", ":"),
    )


def _steps(completion: Completion) -> dict[str, Any]:
    """Return what was said in each step of an agent; nothing for a single model."""
    names = ("iteration", "role", "model", "messages", "reply", "code")
    steps = [{name: step[name] for name in names} for step in steps_of(completion)]
    return {"steps": steps} if steps else {}
