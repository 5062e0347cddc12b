"""The gate: rules, results and a baseline -> Verdict. It never passes on what was not measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_webbench.statistics.comparison import (
    NOTHING,
    CaseValue,
    Comparison,
    Side,
    compare_sides,
    in_common,
    setting_differences,
    sides,
)
from pytest_webbench.statistics.intervals import mean_interval, rate_interval
from pytest_webbench.statistics.metrics import METRICS as ALL_METRICS
from pytest_webbench.statistics.metrics import RATES, SCALES
from pytest_webbench.statistics.samples import CaseFacts, Samples

METRICS = (*RATES, "web_codebleu", "points")
FRAMEWORKS = ("Flask", "FastAPI", "Django")
TOLERANCE = 1e-9
RULE = re.compile(r"(?P<metric>\w+)(?:\[(?P<framework>[^\]]*)\])?=(?P<value>.+)")
PASSED, FAILED, INCONCLUSIVE = 0, 10, 11

Kind = Literal["max-drop", "fail-under"]
Outcome = Literal["pass", "fail", "inconclusive"]


class GateError(Exception):
    """A rule that cannot be used; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition that every model must meet; `value` is in the metric's unit (points: 0 to 100)."""

    kind: Kind
    metric: str
    framework: str | None
    value: float

    def __str__(self) -> str:
        framework = f"[{self.framework}]" if self.framework else ""
        return f"{self.kind} {self.metric}{framework}={self.value:g}"

    def wants(self, case: CaseFacts) -> bool:
        """Whether the rule is about a case."""
        return self.framework is None or case.framework == self.framework


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of one model; `value` is the point value or the drop, `low` to `high` its interval."""

    rule: str
    model: str
    outcome: Outcome
    reason: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says and why, in one sentence; `warnings` do not change the outcome."""

    outcome: Outcome
    reason: str
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 passed, 10 failed, 11 inconclusive."""
        return {"pass": PASSED, "fail": FAILED, "inconclusive": INCONCLUSIVE}[self.outcome]


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules of a run, and what each of its models is compared with (None: no baseline).

    With `common` the comparison is made on what run and baseline have in common.
    """

    rules: tuple[Rule, ...]
    baseline: Mapping[str, Side] | None
    common: bool = False

    def differences(self, samples: Samples) -> list[str]:
        """Return what forbids a comparison with the baseline, one line each."""
        if self.baseline is None or self.common:
            return []
        current = sides(samples)
        return [text for alias, side in self._paired(current) for text in setting_differences(side, current[alias])]

    def changes(self, samples: Samples) -> dict[str, dict[str, Comparison]]:
        """Return model -> metric -> comparison with the baseline, on what both have."""
        current = sides(samples)
        return {
            alias: {metric: compare_sides(*in_common(side, current[alias]), metric) for metric in ALL_METRICS}
            for alias, side in self._paired(current)
        }

    def judge(self, samples: Samples) -> Verdict | None:
        """Hold the samples against the rules; None where there are none."""
        if not self.rules:
            return None
        current = sides(samples)
        return judge(self.rules, current, dict(self._paired(current)), common=self.common)

    def _paired(self, current: Mapping[str, Side]) -> list[tuple[str, Side]]:
        return [(alias, side) for alias, side in (self.baseline or {}).items() if alias in current]


def parse_rule(kind: Kind, text: str) -> Rule:
    """Read METRIC[FRAMEWORK]=VALUE; raises `GateError`.

    >>> parse_rule("max-drop", "functional_pass_at_1[Flask]=0.05")
    Rule(kind='max-drop', metric='functional_pass_at_1', framework='Flask', value=0.05)
    """
    found = RULE.fullmatch(text.strip())
    if found is None:
        raise GateError(f"{kind}: expected METRIC=VALUE or METRIC[FRAMEWORK]=VALUE, found {text!r}")
    metric, framework = found["metric"], found["framework"]
    if metric not in METRICS:
        raise GateError(f"{kind}: unknown metric {metric!r}; known: {', '.join(METRICS)}")
    if framework is not None:
        known = {name.lower(): name for name in FRAMEWORKS}
        if framework.lower() not in known:
            raise GateError(f"{kind}: unknown framework {framework!r}; known: {', '.join(FRAMEWORKS)}")
        framework = known[framework.lower()]
    return Rule(kind, metric, framework, _value(kind, metric, found["value"]))


def check_rules(rules: Sequence[Rule], has_baseline: bool) -> None:
    """Raise `GateError` where a rule needs a baseline and there is none."""
    for rule in rules:
        if rule.kind == "max-drop" and not has_baseline:
            raise GateError(f"{rule}: a drop needs a baseline to be measured from; none was given")


def judge(
    rules: Sequence[Rule],
    current: Mapping[str, Side],
    baseline: Mapping[str, Side] | None = None,
    *,
    common: bool = False,
) -> Verdict:
    """Hold every model of a run against every rule.

    `baseline` maps a model of the run to what it is compared with. Where settings differ between the two
    the comparison is inconclusive, or made on what they have in `common`. Missing samples are filled with
    the worst case to pass and with the best case to fail.
    """
    pairs = baseline or {}
    differences = [text for alias, side in pairs.items() for text in setting_differences(side, current[alias])]
    findings = [
        finding
        for rule in rules
        for alias, side in current.items()
        for finding in _judge(rule, side, pairs.get(alias), common)
    ]
    warnings = [*differences] if common else []
    warnings += [text for rule in rules for side in current.values() for text in _straddling(rule, side)]
    outcome, reason = _overall(findings)
    return Verdict(outcome, reason, tuple(findings), tuple(warnings))


def _judge(rule: Rule, side: Side, before: Side | None, common: bool) -> Iterator[Finding]:
    if rule.kind == "fail-under":
        yield _fail_under(rule, side)
    elif before is None:
        yield Finding(str(rule), side.model, "inconclusive", "the baseline has nothing to compare it with")
    elif not common and (differences := setting_differences(before, side)):
        reason = f"baseline and run are not alike: {'; '.join(differences)}"
        yield Finding(str(rule), side.model, "inconclusive", reason)
    else:
        yield _max_drop(rule, *(in_common(before, side) if common else (before, side)))


def _fail_under(rule: Rule, side: Side) -> Finding:
    scale = SCALES[rule.metric]
    point = _value_of(rule, side, None)
    worst, best = _value_of(rule, side, 0.0), _value_of(rule, side, scale)
    if point is None or worst is None or best is None or not math.isfinite(point):
        return Finding(str(rule), side.model, "inconclusive", f"{_what(rule)} was measured on no sample{_remedy(rule)}")
    low, high = _point_interval(rule, side) or (None, None)
    slack = TOLERANCE * scale
    between = f", and between {worst:.4g} and {best:.4g} whatever the missing samples are" if best > worst else ""
    outcome: Outcome
    if worst >= rule.value - slack:
        outcome, word = "pass", "is at least"
    elif best < rule.value - slack:
        outcome, word = "fail", "is below"
    else:
        outcome, word = "inconclusive", "is not known to reach"
    reason = f"{_what(rule)} of {point:.4g} {word} {rule.value:g}{between}"
    return Finding(str(rule), side.model, outcome, reason, point, low, high)


def _max_drop(rule: Rule, before: Side, side: Side) -> Finding:
    scale, slack = SCALES[rule.metric], TOLERANCE * SCALES[rule.metric]
    known = compare_sides(before, side, rule.metric, wanted=rule.wants)
    worst = compare_sides(before, side, rule.metric, (scale, 0.0), rule.wants)
    best = compare_sides(before, side, rule.metric, (0.0, scale), rule.wants)
    if NOTHING in (known, worst, best) or known.difference is None:
        reason = f"{_what(rule)} was measured on no case of both{_remedy(rule)}"
        return Finding(str(rule), side.model, "inconclusive", reason)
    drop = 0.0 - known.difference
    if known.low is None or known.high is None or worst.low is None or best.high is None:
        reason = f"{known.cases} case in common is too few for an interval of the drop ({drop:+.4g})"
        return Finding(str(rule), side.model, "inconclusive", reason, drop)
    low, high = 0.0 - known.high, 0.0 - known.low
    highest, lowest = (high, low) if worst.identical else (0.0 - worst.low, 0.0 - best.high)
    outcome: Outcome
    if highest <= rule.value + slack:
        outcome, word = "pass", "is at most"
    elif lowest > rule.value + slack:
        outcome, word = "fail", "is more than"
    else:
        outcome, word = "inconclusive", "may or may not be more than"
    missing = f", [{lowest:+.4g}, {highest:+.4g}] whatever the missing samples are"
    reason = (
        f"{_what(rule)} dropped by {drop:.4g} [{low:+.4g}, {high:+.4g}] on {known.cases} cases, which {word} "
        f"{rule.value:g}{missing if (lowest, highest) != (low, high) else ''}"
    )
    if outcome == "inconclusive" and known.detectable is not None:
        reason += f" (a drop of {known.detectable:.2g} could be told from none)"
    return Finding(str(rule), side.model, outcome, reason, drop, low, high)


def _overall(findings: Sequence[Finding]) -> tuple[Outcome, str]:
    """The worst outcome decides, and its first finding is the reason."""
    order: tuple[Outcome, ...] = ("fail", "inconclusive")
    for outcome in order:
        if those := [finding for finding in findings if finding.outcome == outcome]:
            more = f" (and {len(those) - 1} more)" if len(those) > 1 else ""
            return outcome, f"{those[0].model}: {those[0].rule}: {those[0].reason}{more}"
    if not findings:
        return "inconclusive", "no model was measured"
    count = len({finding.model for finding in findings})
    rules = len({finding.rule for finding in findings})
    return "pass", f"{count} {_plural('model', count)} met {rules} {_plural('rule', rules)}"


def _straddling(rule: Rule, side: Side) -> Iterator[str]:
    interval = _point_interval(rule, side) if rule.kind == "fail-under" else None
    if interval is not None and interval[0] < rule.value <= interval[1]:
        samples = sum(value.n for value in _values(rule, side, None))
        low, high = interval
        yield (
            f"{side.model}: n={samples} cannot support {rule}: the interval [{low:.4g}, {high:.4g}] lies on both sides"
        )


def _values(rule: Rule, side: Side, fill: float | None) -> list[CaseValue]:
    return [value for key, value in side.values(rule.metric, fill).items() if rule.wants(side.cases[key])]


def _value_of(rule: Rule, side: Side, fill: float | None) -> float | None:
    values = _values(rule, side, fill)
    return sum(value.mean for value in values) / len(values) if values else None


def _point_interval(rule: Rule, side: Side) -> tuple[float, float] | None:
    import numpy as np

    values = _values(rule, side, None)
    if not values:
        return None
    means, samples = np.array([value.mean for value in values]), sum(value.n for value in values)
    return rate_interval(means, samples) if rule.metric in RATES else mean_interval(means, SCALES[rule.metric])


def _value(kind: Kind, metric: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= SCALES[metric]:
        raise GateError(f"{kind} {metric}: expected a number from 0 to {SCALES[metric]:g}, found {text!r}")
    return value


def _what(rule: Rule) -> str:
    return rule.metric + (f" on {rule.framework}" if rule.framework else "")


def _remedy(rule: Rule) -> str:
    """Return how a metric comes to be measured, where a run must be told to."""
    return "; run with --webbench-tiers secure" if rule.metric == "secure_pass_at_1" else ""


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
