"""Points and pass rates of one sample, from the outcomes of its tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_webbench.records import Outcome


def points(criteria: Sequence[str], shares: Mapping[str, float | None]) -> float | None:
    """Return 0 to 100: each declared criterion is worth the same, in proportion to its share.

    `shares` maps a criterion to the share of it that passed, 0 to 1, or `None` where it was not
    assessed. Text that does not parse gets 0. `None` where a criterion was not assessed, or where the
    case declares parsing alone. After the Julia LLM Leaderboard (25 points for each of four criteria).
    """
    if set(criteria) <= {"parsing"}:
        return None
    if shares.get("parsing") == 0:
        return 0.0
    declared = [shares.get(criterion) for criterion in criteria]
    known = [share for share in declared if share is not None]
    return 100 * sum(known) / len(declared) if len(known) == len(declared) else None


def functional_pass(criteria: Sequence[str], outcomes: Mapping[str, Outcome]) -> bool | None:
    """Return whether all declared criteria passed; `None` where that cannot be said.

    A case that declares parsing alone has no functional side.
    """
    if set(criteria) <= {"parsing"}:
        return None
    found = {outcomes.get(criterion, "not_assessed") for criterion in criteria}
    if "failed" in found:
        return False
    return None if "not_assessed" in found else True


def secure_pass(functional: bool | None, exploits: Outcome | None) -> bool | None:
    """Return whether the app works and every exploit was tried and failed; `None` where unknown.

    `exploits` is `None` where the case has none or nobody asked for them.
    """
    if exploits is None:
        return None
    if functional is False or exploits == "failed":
        return False
    return True if functional and exploits == "passed" else None
