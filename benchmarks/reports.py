"""How fast `webbench report` reads records, and how much memory it takes.

python benchmarks/reports.py 40000
python benchmarks/reports.py 1000000
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_webbench.records import RECORDS, TIERS, Check, Record

SAMPLES, MODELS = 10, 20
NUMBER, SCORE = 987654321, 0.123456789


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=40_000)
    parser.add_argument("--parts", nargs="*", default=["csv", "json", "markdown"], help="reports to write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "reports" / "runs" / "made"
        count = write_run(run, options.records)
        size = (run / RECORDS).stat().st_size / 1e6
        started = time.perf_counter()
        only = [argument for part in options.parts for argument in ("--only", part)]
        subprocess.run(
            [sys.executable, "-m", "pytest_webbench", "report", str(run), *only], check=True, capture_output=True
        )
        took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{count} records ({size:.0f} MB) in {took:.1f} s: {count / took:.0f} records/s, peak {peak:.0f} MB")


def write_run(folder: Path, count: int) -> int:
    """Write a run of about so many records: cases x MODELS models x SAMPLES samples, or more samples for many."""
    folder.mkdir(parents=True)
    samples = max(SAMPLES, count // (200 * MODELS))
    cases = max(1, count // (MODELS * samples))
    chance = random.Random(1)
    names = [f"{('flask', 'fastapi', 'django')[number % 3]}/case{number:04}" for number in range(cases)]
    models = [f"model{number:02}" for number in range(MODELS)]
    expected = []
    outcomes = {passed: record("@case@", "@model@", passed).to_json() + "\n" for passed in (True, False)}
    with (folder / RECORDS).open("w", encoding="utf-8") as lines:
        for name in names:
            for model in models:
                for sample in range(samples):
                    expected.append([name, model, "web_expert", sample])
                    lines.write(line(chance, outcomes, name, model, sample))
    (folder / "run.json").write_text(json.dumps(description(names, models, samples) | {"expected": expected}), "utf-8")
    return len(expected)


def line(chance: random.Random, outcomes: dict[bool, str], case: str, model: str, sample: int) -> str:
    """Return one record as a line."""
    text = outcomes[chance.random() < 0.6].replace("@case@", case).replace("@model@", model)
    return text.replace(str(NUMBER), str(sample)).replace(str(SCORE), f"{chance.random():.6f}")


def record(case: str, model: str, passed: bool) -> Record:
    """Return a record of the usual size, with NUMBER and SCORE to be replaced."""
    sample, similarity = NUMBER, SCORE
    checks = tuple(
        Check(f"check_{number}", "unit_tests", passed, "" if passed else "expected 200, got 500",
              "GET / HTTP/1.1\r\nhost: app\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n" + "x" * 60)
        for number in range(6)
    )  # fmt: skip
    return Record(
        run_id="made", node_id=f"cases/{case}/definition.toml::{model}::web_expert::sample-{sample}", case_id=case,
        case_name=case, case_version="1.0", framework=case.split("/")[0], category="crud", difficulty="easy",
        model=model, model_id=f"acme/{model}", provider="openai", hosting="paid", prompt_template="web_expert",
        sample=sample, parameters={"temperature": 0.8}, completion_key=f"{case}{model}{sample}",
        status="passed" if passed else "model_failure", failure_class=None if passed else "assertion",
        tiers=dict.fromkeys(TIERS, "passed"), checks=checks, points=100.0 if passed else 62.5, static_pass=True,
        functional_pass=passed, web_codebleu=similarity, ngram=similarity, weighted_ngram=similarity,
        syntax=similarity, dataflow=similarity, kw_precision=1.0, kw_recall=1.0, kw_f1=1.0, finish_reason="stop",
        input_tokens=400, output_tokens=600, cost=0.001, latency_seconds=3.2, code_sha=f"{case}{model}{sample}",
        started_at="2026-01-01T00:00:00+00:00", duration_seconds=0.4,
    )  # fmt: skip


def description(names: list[str], models: list[str], samples: int) -> dict[str, object]:
    """Return `run.json` without its expected samples."""
    about = {"category": "crud", "difficulty": "easy", "version": "1.0", "scenario": None}
    model = {"provider": "openai", "hosting": "paid", "size_b": None, "price": None, "exclude": None}
    return {
        "schema": 1,
        "run_id": "made",
        "created_at": "2026-01-01T00:00:00+00:00",
        "models": {
            name: {**model, "model_id": f"acme/{name}", "samples": samples, "parameters": {"temperature": 0.8}}
            for name in models
        },
        "cases": {name: {**about, "id": name, "framework": name.split("/")[0]} for name in names},
    }


if __name__ == "__main__":
    main()
