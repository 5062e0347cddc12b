"""Exit statuses of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_webbench.gate import Verdict
    from pytest_webbench.records import Record

PASSED, FAILED, INTERRUPTED, NOT_JUDGED, USAGE_ERROR, NOTHING_COLLECTED = range(6)


def exit_status(
    status: int,
    records: Sequence[Record],
    *,
    failing_tests: bool,
    report_only: bool,
    verdict: Verdict | None = None,
) -> int:
    """Return the session's exit status; `status` is pytest's own.

    4 where a configuration error stopped a model, 3 where a sample was not judged, 1 where a sample or an
    ordinary test failed. The gate's `verdict` stands for the samples' outcomes: 0, 10 or 11. Interruptions, usage
    errors and empty selections keep pytest's status.
    """
    if status not in (PASSED, FAILED):
        return status
    if failing_tests:
        return FAILED
    if any(record.status == "config_error" for record in records):
        return USAGE_ERROR
    if verdict is not None:
        return verdict.exit_status
    if not all(record.judged for record in records):
        return NOT_JUDGED
    if report_only or all(record.status == "passed" for record in records):
        return PASSED
    return FAILED
