"""The cases that models fail most, each with one reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pytest_webbench.records import Record, sort_key
from pytest_webbench.statistics.summary import Summary

WORST = 5


@dataclass(frozen=True, slots=True)
class FirstFailures:
    """The first failing record, in report order, of each case and model."""

    records: dict[tuple[str, str], Record] = field(default_factory=dict)

    def seen_in(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records and keep the first failures among them, so that they are read once."""
        for record in records:
            if record.status == "model_failure":
                key = record.case_name, record.model
                self.records[key] = min(record, self.records.get(key, record), key=sort_key)
            yield record


def worst_cases(summary: Summary, records: Iterable[Record], width: int) -> list[str]:
    """Return a line for each of the up to five cases that the shown models fail most: how often, and one reason.

    The reason is the first failing check of the first sample that failed. A run of one case has no worst one.
    """
    worst = _worst(summary)
    first: dict[str, Record] = {}
    for record in records:
        if record.case_name in worst and record.status == "model_failure" and record.model in summary.ranking:
            first[record.case_name] = min(record, first.get(record.case_name, record), key=sort_key)
    lines = (
        f"{case}: {passed} of {n} passed; {_why(first[case])}" for case, (passed, n) in worst.items() if case in first
    )
    return [line if len(line) <= width else f"{line[: width - 4]} ..." for line in lines]


def _worst(summary: Summary) -> dict[str, tuple[int, int]]:
    """Return passed and judged samples of the cases that fail most, worst first."""
    sums: dict[str, tuple[int, int]] = {}
    for row in summary.by_case:
        case, model = row.key
        if model in summary.ranking and row.n:
            passed, n = sums.get(case, (0, 0))
            sums[case] = passed + row.passed, n + row.n
    failing = [case for case, (passed, n) in sums.items() if passed < n]
    failing.sort(key=lambda case: (sums[case][0] / sums[case][1], case))
    return {case: sums[case] for case in failing[:WORST]} if len(sums) > 1 else {}


def _why(record: Record) -> str:
    failed = next((check for check in record.checks if check.passed is False), None)
    said, text = (failed.name, failed.message) if failed else (record.failure_class or record.status, record.message)
    return f"{record.model} sample-{record.sample}: {said}" + (f": {' '.join(text.split())}" if text.strip() else "")
