"""The questions that a run is made for, answered from its samples: each with its interval, or not enough data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pytest_webbench.statistics.comparison import Comparison, Side, compare_sides, difference_interval, sides
from pytest_webbench.statistics.metrics import SCALES
from pytest_webbench.statistics.samples import BROKEN, REPAIRED, REVISED, CaseFacts, Samples, groups

NOT_ENOUGH = "not enough data"
FUNCTIONAL, STATIC, SIMILARITY = "functional_pass_at_1", "pass_at_1", "web_codebleu"
TITLES = {FUNCTIONAL: "functional Pass@1", STATIC: "static Pass@1", SIMILARITY: "Web-CodeBLEU"}
MOST_RIVALS = 4
AGENT_QUESTIONS = (
    "Did the agent improve on the best zero-shot model?",
    "Did the agent improve on its base model?",
    "Which framework gained most from the agent?",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, its answer as a sentence, and the figures behind it where there are any.

    `difference` is a mean over `cases` cases (or scenarios) with its 95 % interval `low` to `high`.
    """

    question: str
    text: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    cases: int = 0


def answers(samples: Samples, shown: Sequence[str]) -> tuple[Answer, ...]:
    """Answer for the shown models: agents against single models, frameworks, reviews, model against model."""
    of_model = {alias: side for alias, side in sides(samples).items() if alias in shown}
    facts = {model.alias: model for model in samples.models}
    agents = [alias for alias in of_model if facts[alias].provider == "agent"]
    single = {alias: side for alias, side in of_model.items() if alias not in agents}
    metric = FUNCTIONAL if any(side.values(FUNCTIONAL, None) for side in of_model.values()) else STATIC
    return (
        *_about_agents(of_model, agents, single, {alias: facts[alias].base for alias in agents}, metric),
        *_about_reviews(of_model, agents),
        *_model_against_model(of_model, metric),
        *_frameworks(of_model, metric),
    )


def _about_agents(of_model: Mapping[str, Side], agents: Sequence[str], single: Mapping[str, Side],
                  bases: Mapping[str, str | None], metric: str) -> Iterator[Answer]:  # fmt: skip
    if not agents or not single:
        for question in AGENT_QUESTIONS:
            yield Answer(question, f"{NOT_ENOUGH}: this needs an agent and a single model in the run, or their runs "
                         "given together to 'webbench report'")  # fmt: skip
    for agent in agents if single else ():
        base = single.get(bases[agent] or "")
        for one in (SIMILARITY, metric):
            best = max(single.values(), key=lambda side: _mean(side, of_model[agent], one))
            question = f"Did {agent} improve on the best zero-shot model ({best.model})?"
            yield _better(question, best, of_model[agent], one)
            if base is not None:
                yield _better(f"Did {agent} improve on its base model ({base.model})?", base, of_model[agent], one)
        if base is None:
            yield Answer(f"Did {agent} improve on its base model?", f"{NOT_ENOUGH}: "
                         f"{bases[agent] or 'its base model'} is not in the run")  # fmt: skip
        yield _most_gained(agent, base or best, of_model[agent], metric)


def _mean(side: Side, other: Side, metric: str) -> float:
    """Mean over the cases that the other side has too."""
    values = side.values(metric, None)
    common = [values[key].mean for key in values.keys() & other.values(metric, None).keys()]
    return sum(common) / len(common) if common else -1.0


def _better(question: str, a: Side, b: Side, metric: str) -> Answer:
    change = compare_sides(a, b, metric)
    if change.difference is None or change.low is None or change.high is None:
        return Answer(question, f"{TITLES[metric]}: {NOT_ENOUGH} ({_cases(change.cases)})", cases=change.cases)
    word = "yes" if change.low > 0 else "no, it is worse" if change.high < 0 else "cannot be told"
    return Answer(question, f"{TITLES[metric]}: {word}: {_signed(change)}", change.difference, change.low, change.high,
                  change.cases)  # fmt: skip


def _most_gained(agent: str, base: Side, side: Side, metric: str) -> Answer:
    question = f"Which framework gained most from {agent} over {base.model}?"
    gains = {name: compare_sides(base, side, metric, wanted=_on(name)) for name in _frameworks_of(side)}
    known = {name: gain for name, gain in gains.items() if gain.difference is not None and gain.cases > 1}
    if len(known) < 2:
        return Answer(question, f"{TITLES[metric]}: {NOT_ENOUGH} (2 frameworks with 2 cases each are needed)")
    best = max(known, key=lambda name: known[name].difference or 0.0)
    listed = "; ".join(f"{name} {_signed(gain)}" for name, gain in known.items())
    gain = known[best]
    sure = all((other.high or 0) < (gain.low or 0) for name, other in known.items() if name != best)
    return Answer(question, f"{TITLES[metric]}: {best}{'' if sure else ', though the intervals overlap'}: {listed}",
                  gain.difference, gain.low, gain.high, gain.cases)  # fmt: skip


def _about_reviews(of_model: Mapping[str, Side], agents: Sequence[str]) -> Iterator[Answer]:
    if not agents:
        yield Answer("Did the reviews lead to repairs?", f"{NOT_ENOUGH}: this needs an agent in the run")
    for agent in agents:
        samples = of_model[agent].samples
        judged = None if samples is None else samples.where(samples.judged)
        question = f"Did the reviews of {agent} lead to repairs?"
        if judged is None or not (revised := _marked(judged, REVISED)):
            yield Answer(question, f"{NOT_ENOUGH}: no answer was revised after a review")
            continue
        repaired, broken = _marked(judged, REPAIRED), _marked(judged, BROKEN)
        text = (f"{revised} of {len(judged)} answers were revised after a review: {repaired} pass and did not before, "
                f"{broken} passed before and do not now")  # fmt: skip
        change = _gained(judged)
        if change.low is None or change.high is None:
            yield Answer(question, f"{text}; {NOT_ENOUGH} ({_counted(change.cases)})", cases=change.cases)
            continue
        word = "yes" if change.low > 0 else "no, they did harm" if change.high < 0 else "cannot be told"
        yield Answer(question, f"{word}: {text}: {_signed(change)}", change.difference, change.low, change.high,
                     change.cases)  # fmt: skip


def _marked(samples: Samples, mark: int) -> int:
    return int(np.count_nonzero(samples.marks & mark))


def _gained(judged: Samples) -> Comparison:
    """Return what the revisions changed in the share of answers that pass, paired by case."""
    effect = (judged.marks & REPAIRED > 0) * 1.0 - (judged.marks & BROKEN > 0)
    members = [rows for _, rows in groups((judged.case,))]
    differences = np.array([effect[rows].mean() for rows in members])
    noise = float(np.mean([1 / len(rows) for rows in members]))
    low, high, _ = difference_interval(differences, 1.0, noise) or (None, None, None)
    return Comparison(len(members), float(differences.mean()), low, high)


def _model_against_model(of_model: Mapping[str, Side], metric: str) -> Iterator[Answer]:
    for name in sorted({framework for side in of_model.values() for framework in _frameworks_of(side)}):
        means = {alias: mean for alias, side in of_model.items()
                 if (mean := _framework_mean(side, metric, name)) is not None}  # fmt: skip
        if len(means) < 2:
            yield Answer(f"Which model is better on {name}?", f"{NOT_ENOUGH}: one model was measured on it at most")
            continue
        first, *others = sorted(means, key=lambda alias: (-means[alias], alias))
        for other in others[:MOST_RIVALS]:
            change = compare_sides(of_model[other], of_model[first], metric, wanted=_on(name))
            question = f"Which model is better on {name}, {first} or {other}?"
            yield _told(question, first, other, change, metric)


def _framework_mean(side: Side, metric: str, framework: str) -> float | None:
    known = side.values(metric, None).items()
    values = [value.mean for key, value in known if side.cases[key].framework == framework]
    return sum(values) / len(values) if values else None


def _frameworks(of_model: Mapping[str, Side], metric: str) -> Iterator[Answer]:
    """Compare frameworks for each model on the scenarios that both frameworks have a case of."""
    for alias, side in of_model.items():
        by_framework = _by_scenario(side, metric)
        if len(by_framework) < 2:
            yield Answer(f"Which framework is {alias} better on?",
                         f"{NOT_ENOUGH}: this needs cases of the same scenarios in two frameworks")  # fmt: skip
        for first, second in combinations(sorted(by_framework), 2):
            a, b = by_framework[first], by_framework[second]
            shared = sorted(a.keys() & b.keys())
            differences = np.array([a[name] - b[name] for name in shared])
            interval = difference_interval(differences, SCALES[metric], 1.0) if shared else None
            question = f"Is {alias} better on {first} or on {second}?"
            if interval is None:
                yield Answer(question, f"{TITLES[metric]}: {NOT_ENOUGH} (scenarios in both: {len(shared)})")
                continue
            low, high, _ = interval
            change = Comparison(len(shared), float(differences.mean()), low, high)
            yield _told(question, first, second, change, metric, "scenarios")


def _by_scenario(side: Side, metric: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for key, value in side.values(metric, None).items():
        case = side.cases[key]
        if case.scenario:
            found.setdefault(case.framework, {})[case.scenario] = value.mean
    return found


def _told(question: str, first: str, second: str, change: Comparison, metric: str, unit: str = "cases") -> Answer:
    if change.difference is None or change.low is None or change.high is None:
        return Answer(question, f"{TITLES[metric]}: {NOT_ENOUGH} ({_cases(change.cases)})", cases=change.cases)
    better = first if change.low > 0 else second if change.high < 0 else None
    word = f"{better}" if better else "cannot be told"
    return Answer(question, f"{TITLES[metric]}: {word}: {first} {_signed(change, unit)}", change.difference, change.low,
                  change.high, change.cases)  # fmt: skip


def _frameworks_of(side: Side) -> list[str]:
    return sorted({case.framework for case in side.cases.values()})


def _on(framework: str) -> Callable[[CaseFacts], bool]:
    def wanted(case: CaseFacts) -> bool:
        return case.framework == framework

    return wanted


def _signed(change: Comparison, unit: str = "cases") -> str:
    return f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}] over {change.cases} {unit}"


def _cases(count: int) -> str:
    return f"{_counted(count)} in common"


def _counted(count: int) -> str:
    return f"{count} {'case' if count == 1 else 'cases'}"
