"""Run folders for tests of the page and of the plots, made from records that nobody had to run."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webbench.ledger import Ledger, read_run, sample_id
from pytest_webbench.records import Check, Record, Status, no_tiers
from pytest_webbench.reports.references import REFERENCES

CASES = (
    ("flask/todo_crud", "web_002", "Flask", "crud", "easy"),
    ("flask/jwt_login", "web_001", "Flask", "auth", "hard"),
    ("fastapi/pagination", "web_101", "FastAPI", "crud", "easy"),
    ("fastapi/cors", "web_102", "FastAPI", "security", "medium"),
    ("django/login_lockout", "web_202", "Django", "auth", "medium"),
)
MODELS = {
    # alias: model id, hosting, share that passes, USD a sample, seconds
    "llama": ("meta/llama-3.1-70b-instruct", "paid", 0.6, 0.0021, 8.0),
    "gemini": ("gemini-1.5-flash", "paid", 0.75, 0.0004, 3.5),
    "mystery": ("acme/mystery", "paid", 0.5, None, None),
    "local": ("qwen2.5-coder-0.5b", "local", 0.2, 0.0, 31.0),
}
REFERENCE = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/')\ndef index():\n    return 'ok'\n"
REQUEST = "GET / HTTP/1.1\nHost: 127.0.0.1:5000\nAccept: */*\n\n"
RESPONSE = "500 Internal Server Error\nContent-Type: text/html\n\n<h1>Internal Server Error</h1>"
FAILURES = ("assertion", "assertion", "runtime", "syntax_error", "no_code", "truncated")


def write_run(
    folder: Path,
    *,
    models: Sequence[str] = tuple(MODELS),
    cases: Sequence[tuple[str, ...]] = CASES,
    templates: Sequence[str] = ("web_expert", "as_is"),
    samples: int = 3,
    references: dict[str, str] | None = None,
    code: str = REFERENCE,
    checks: int = 4,
) -> Path:
    """Write a run folder; the same arguments give the same records."""
    chance = random.Random(7)
    ledger = Ledger(folder, _description(models, cases, templates))
    ledger.expect((case[0], model, template, index) for case in cases for model in models
                  for template in templates for index in range(samples))  # fmt: skip
    names = {case[0]: case for case in cases}
    for name, model, template, index in list(ledger.expected):
        record = _record(chance, names[name], model, template, index, checks)
        ledger.add(record, answer(record, code))
    ledger.close()
    texts = references if references is not None else {case[0]: REFERENCE for case in cases}
    (folder / REFERENCES).write_text(json.dumps(texts), "utf-8")
    return folder


def answer(record: Record, code: str | None, reply: str | None = None) -> str:
    """Return a line for `completions.jsonl`."""
    name, model, template, index = sample_id(record)
    if record.failure_class in ("assertion", "runtime") and code:
        code = code.replace("'ok'", f"'sample {index}'")
    return json.dumps({
        "case_name": name, "model": model, "prompt_template": template, "sample": index, "completion_key": "k",
        "messages": [{"role": "system", "content": f"You are an expert ({template})."},
                     {"role": "user", "content": f"Write {name}."}],
        "reply": reply if reply is not None else f"Here it is:\n\n```python\n{code}```\n", "code": code, "files": {},
    })  # fmt: skip


def records_of(folder: Path) -> list[Record]:
    """Return the records of a run folder."""
    return read_run(folder).records


def _description(models: Sequence[str], cases: Sequence[tuple[str, ...]], templates: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": 1,
        "run_id": "20260102T030405Z-abcdef",
        "created_at": "2026-01-02T03:04:05+00:00",
        "settings": {"templates": list(templates), "tier": "secure"},
        "versions": {"python": "3.13.1", "flask": "3.1.2"},
        "models": {alias: {"model_id": MODELS[alias][0], "provider": "openai", "hosting": MODELS[alias][1],
                           "size_b": None, "exclude": None, "parameters": {}} for alias in models},
        "cases": {name: {"id": identity, "version": "1.0", "framework": framework, "category": category,
                         "difficulty": difficulty} for name, identity, framework, category, difficulty in cases},
    }  # fmt: skip


def _record(chance: random.Random, case: tuple[str, ...], model: str, template: str, index: int, checks: int) -> Record:
    model_id, hosting, skill, cost, seconds = MODELS[model]
    status, failure = _outcome(chance, skill - 0.15 * ("easy", "medium", "hard").index(case[4]))
    passed, judged = status == "passed", status in ("passed", "model_failure")
    static = judged and failure not in ("syntax_error", "no_code", "truncated")
    return Record(
        run_id="20260102T030405Z-abcdef", node_id=f"cases/{case[0]}::{model}::{template}::sample-{index}",
        case_id=case[1], case_name=case[0], case_version="1.0", framework=case[2], category=case[3],
        difficulty=case[4], model=model, model_id=model_id, provider="openai", hosting=hosting,
        prompt_template=template, sample=index, parameters={"temperature": 0.8}, status=status,
        failure_class=failure, message="" if passed else f"{failure}: GET / answered 500, expected 200",
        tiers=no_tiers() | {"syntax": "passed" if static else "failed", "unit_tests": "passed" if passed else "failed"},
        checks=_checks(passed, checks) if static else (),
        points=100.0 if passed else 50.0 if static else 0.0 if judged else None,
        static_pass=static if judged else None, functional_pass=passed if judged else None,
        secure_pass=(passed and chance.random() < 0.8) if judged else None,
        web_codebleu=chance.uniform(0.3, 0.7) if judged else None, kw_f1=chance.uniform(0.5, 1) if judged else None,
        finish_reason="length" if failure == "truncated" else "stop", input_tokens=700,
        output_tokens=chance.randrange(300, 900), cost=cost,
        latency_seconds=seconds and seconds * chance.uniform(0.7, 1.4),
        started_at="2026-01-02T03:05:00+00:00",
    )  # fmt: skip


def _outcome(chance: random.Random, skill: float) -> tuple[Status, str | None]:
    draw = chance.random()
    if draw < skill:
        return "passed", None
    if draw > 0.98:
        return "infrastructure_error", "rate_limited"
    return "model_failure", chance.choice(FAILURES)


def _checks(passed: bool, count: int) -> tuple[Check, ...]:
    good = Check("check_the_index_answers", "unit_tests", True, "", REQUEST, "200 OK\n\nok")
    bad = Check("check_a_bad_name_is_refused", "unit_tests", False, "got 500, expected 400", REQUEST, RESPONSE)
    return (*[good] * (count - 1), good if passed else bad)
