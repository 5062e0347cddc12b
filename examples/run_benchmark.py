"""Benchmark models from Python, and print how good each is and how sure that is.

python examples/run_benchmark.py reference              the oracle, no key
python examples/run_benchmark.py local cases/flask      a small model on this machine
python examples/run_benchmark.py openai:gpt-5-mini cases/flask/jwt_login
"""

from __future__ import annotations

import sys

from pytest_webbench import Summary, run_benchmark


def main(model: str = "reference", cases: str = "cases") -> None:
    """Put two prompt templates to a model, one sample a case, and show both."""
    summary = run_benchmark(model, cases, samples=1, templates=["web_expert", "in_python"])
    show(summary)


def show(summary: Summary) -> None:
    """Print one line a template, and what a reader must know beside the figures."""
    for row in summary.by_template:
        name, template = row.key
        rate = row.metrics["functional_pass_at_1"]
        between = "" if rate.low is None else f" [{rate.low:.2f}, {rate.high:.2f}]"
        value = "unknown" if rate.value is None else f"{rate.value:.2f}{between}"
        print(f"{name} {template}: functional Pass@1 {value}, {row.n} of {row.expected} samples judged")
    for note in summary.notes:
        print(note)
    print(f"reports: reports/runs/{summary.run_id}")


if __name__ == "__main__":
    main(*sys.argv[1:])
