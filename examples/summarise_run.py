"""Summarise a run in one's own way: from its records, which every report is made of.

python examples/summarise_run.py reports/latest
"""

from __future__ import annotations

import sys
from collections import Counter
from statistics import fmean

from pytest_webbench import load_records


def main(run: str = "reports/latest") -> None:
    """Print the points by model and framework, and why samples did not pass."""
    records = load_records(run)
    judged = [record for record in records if record.judged]
    print(f"{len(judged)} of {len(records)} samples were judged")
    for model, framework in sorted({(record.model, record.framework) for record in judged}):
        of_group = [record for record in judged if (record.model, record.framework) == (model, framework)]
        points = [record.points for record in of_group if record.points is not None]
        passed = sum(record.status == "passed" for record in of_group)
        print(f"{model} on {framework}: {passed} of {len(of_group)} passed", end="")
        print(f", {fmean(points):.0f} points on average" if points else "")
    for reason, count in Counter(record.failure_class for record in records if record.failure_class).most_common():
        print(f"{count} x {reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
