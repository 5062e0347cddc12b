"""Makes `run/`, a small recorded run of four models: `python tests/reports/data/make_run.py`."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from made import describe, record  # noqa: E402

from pytest_webbench.ledger import Ledger  # noqa: E402
from pytest_webbench.records import TIERS, Record  # noqa: E402

SCENARIOS = {"todo": ("crud", "easy", 0.1), "login": ("auth", "hard", -0.2), "upload": ("files", "medium", 0.0)}
FRAMEWORKS = {"flask": 0.1, "fastapi": 0.05, "django": -0.15}
MODELS: dict[str, tuple[float, dict[str, Any]]] = {
    "agent": (0.85, {"provider": "agent", "model_id": "agent_system", "hosting": "paid"}),
    "gemini": (0.6, {"provider": "gemini", "model_id": "gemini-1.5-flash", "hosting": "paid"}),
    "llama": (0.7, {"provider": "openai", "model_id": "meta/llama-3.1-70b-instruct", "hosting": "paid"}),
    "local": (0.3, {"provider": "local", "model_id": "qwen2.5-coder-0.5b-instruct-q4_k_m", "hosting": "local"}),
}
COSTS = {"agent": 0.004, "gemini": None, "llama": 0.001, "local": 0.0}
SIZES = {"llama": 70, "local": 0.5}


def sample(chance: random.Random, case: str, alias: str, template: str, index: int) -> Record:
    framework, scenario = case.split("/")
    category, difficulty, ease = SCENARIOS[scenario]
    rate, about = MODELS[alias]
    draw = chance.random()
    passed: bool | None = draw < rate + ease + FRAMEWORKS[framework]
    parses = draw < 0.97
    if alias == "gemini" and case == "django/login":
        passed = None
    row = record(case, index, passed, model=alias, prompt_template=template, category=category, difficulty=difficulty,
                 node_id=f"cases/{case}/definition.toml::{alias}::{template}::sample-{index}", **about)  # fmt: skip
    if passed is None:
        return replace(row, message="no reply in time")
    tiers = dict.fromkeys(TIERS, "passed") if parses else {**dict.fromkeys(TIERS, "not_assessed"), "syntax": "failed"}
    similarity = round(0.45 + 0.2 * bool(passed) + 0.2 * chance.random(), 4)
    return replace(
        row,
        tiers=tiers,
        static_pass=parses,
        failure_class=None if passed else "assertion" if parses else "syntax_error",
        points=100.0 if passed else 50.0 if parses else 0.0,
        web_codebleu=similarity,
        kw_f1=round(min(1.0, similarity + 0.1), 4),
        flags=(("revised", "repaired") if passed and draw > 0.4 else ("revised",))
        if alias == "agent" and index == 1
        else (),
        finish_reason="length" if not parses else "stop",
        input_tokens=300 + len(case),
        output_tokens=400 + round(200 * draw),
        cost=COSTS[alias],
        latency_seconds=round(2 + 6 * draw, 2),
        completion_key=f"{case} {alias} {template} {index}",
        code_sha=f"{case} {alias} {template} {index}",
    )


def main() -> None:
    chance = random.Random(20260101)
    rows = [
        sample(chance, f"{framework}/{scenario}", alias, template, index)
        for scenario in SCENARIOS
        for framework in FRAMEWORKS
        for alias in MODELS
        for template in (("web_expert", "as_is") if alias in ("gemini", "llama") else ("web_expert",))
        for index in range(2)
    ]
    description = describe(rows, run_id="four-models")
    for name, about in description["cases"].items():
        about["scenario"] = name.split("/")[1]
    for alias, about in description["models"].items():
        about["size_b"] = SIZES.get(alias)
        about["codegen"] = "llama" if alias == "agent" else None
    ledger = Ledger(HERE / "run", {key: value for key, value in description.items() if key != "expected"})
    ledger.expect((row.case_name, row.model, row.prompt_template, row.sample) for row in rows)
    for row in rows[:-1]:
        ledger.add(row)
    ledger.close()


if __name__ == "__main__":
    main()
