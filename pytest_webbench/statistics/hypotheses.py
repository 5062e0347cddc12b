"""What is said of prompt templates, held against the samples of a run: each with its interval, or not enough data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from pytest_webbench.statistics.answers import FUNCTIONAL, NOT_ENOUGH, STATIC, TITLES, Answer
from pytest_webbench.statistics.comparison import Comparison, difference_interval
from pytest_webbench.statistics.intervals import Floats
from pytest_webbench.statistics.metrics import SCALES, column
from pytest_webbench.statistics.samples import Ints, Mask, ModelFacts, Samples

AS_IS, PLAIN = "as_is", "in_python"
SMALL_B = 8.0
"""Models of at most so many billions of parameters count as small."""
MARGIN = 0.05
"""A rate that is lower by less than this is as good in practice."""
AS_IS_ALONE = (
    "as_is alone was asked: it leaves unsaid what the file must define and may import, so that its scores say "
    "little of a model; add another template with --webbench-prompt"
)


def hypotheses(samples: Samples, shown: Collection[str]) -> tuple[Answer, ...]:
    """Test on the shown models what is said of prompt templates: as_is, plain prompts, long prompts."""
    samples = samples.where(samples.judged & _models(samples, lambda model: model.alias in shown))
    metric = FUNCTIONAL if not np.isnan(samples.numbers[column(FUNCTIONAL)]).all() else STATIC
    return _never_as_is(samples, metric), _plain_is_enough(samples, metric), _long_confuses_small(samples, metric)


def _never_as_is(samples: Samples, metric: str) -> Answer:
    question = "Is as_is worse than the other templates?"
    others = [name for name in _present(samples) if name != AS_IS]
    change = _change(samples, [AS_IS], others, metric)
    if change is None:
        return _not_enough(question, "as_is and another template on the same cases are needed")
    low, high = change.low or 0.0, change.high or 0.0
    word = "yes" if low > 0 else "no, it is better" if high < 0 else "cannot be told"
    return _answer(question, f"{word}: the others are better by", change, metric)


def _plain_is_enough(samples: Samples, metric: str) -> Answer:
    question = "Is a plain prompt (in_python) as good as the elaborate ones?"
    others = [name for name in _present(samples) if name not in (AS_IS, PLAIN)]
    change = _change(samples, others, [PLAIN], metric)
    if change is None:
        return _not_enough(question, "in_python and an elaborate template on the same cases are needed")
    low, high = change.low or 0.0, change.high or 0.0
    word = f"yes, within {MARGIN:g}" if low > -MARGIN else "no, it is worse" if high < 0 else "cannot be told"
    return _answer(question, f"{word}: in_python is better by", change, metric)


def _long_confuses_small(samples: Samples, metric: str) -> Answer:
    """Set the longer half of the templates against the shorter one: by mean input tokens, without as_is."""
    question = f"Do long prompts confuse small models (at most {SMALL_B:g} billion parameters)?"
    small = samples.where(_models(samples, lambda model: model.size_b is not None and model.size_b <= SMALL_B))
    known = small.where(~np.isnan(small.numbers["input_tokens"]))
    tokens = {
        name: float(known.numbers["input_tokens"][known.template == known.templates.index(name)].mean())
        for name in _present(known)
        if name != AS_IS
    }
    by_length = sorted(tokens, key=lambda name: (tokens[name], name))
    half = len(by_length) // 2
    short, long = by_length[:half], by_length[len(by_length) - half :]
    change = _change(small, short, long, metric)
    if change is None:
        return _not_enough(question, "a small model, its size known, and 2 templates on the same cases are needed")
    low, high = change.low or 0.0, change.high or 0.0
    word = "yes" if high < 0 else "no, they help" if low > 0 else "cannot be told"
    return _answer(question, f"{word}: {', '.join(long)} against {', '.join(short)}", change, metric)


def _change(samples: Samples, a: Sequence[str], b: Sequence[str], metric: str) -> Comparison | None:
    """Compare templates b with a: b - a by case, as the mean over the models that have both; None for too few cases."""
    values = samples.numbers[column(metric)]
    known = ~np.isnan(values)
    cell = samples.case.astype(np.int64) * len(samples.models) + samples.model
    (count_a, mean_a), (count_b, mean_b) = (
        _by_cell(cell, values, known & _templates(samples, names), len(samples.cases) * len(samples.models))
        for names in (a, b)
    )
    shared = np.flatnonzero((count_a > 0) & (count_b > 0))
    case = shared // len(samples.models)
    models = np.bincount(case)
    present = models > 0
    differences = np.bincount(case, weights=(mean_b - mean_a)[shared])[present] / models[present]
    noise = np.bincount(case, weights=((1 / count_a[shared] + 1 / count_b[shared]) / 2))[present] / models[present] ** 2
    interval = difference_interval(differences, SCALES[metric], float(noise.mean()) if len(noise) else None)
    if interval is None:
        return None
    low, high, _ = interval
    return Comparison(len(differences), float(differences.mean()), low, high)


def _by_cell(cell: Ints, values: Floats, wanted: Mask, size: int) -> tuple[Floats, Floats]:
    """Return number and mean of the wanted values in each cell."""
    counts = np.bincount(cell[wanted], minlength=size).astype(np.float64)
    sums = np.bincount(cell[wanted], weights=values[wanted], minlength=size)
    return counts, sums / np.maximum(counts, 1)


def _models(samples: Samples, wanted: Callable[[ModelFacts], bool]) -> Mask:
    return np.array([wanted(model) for model in samples.models], dtype=bool)[samples.model]


def _templates(samples: Samples, names: Sequence[str]) -> Mask:
    return np.array([name in names for name in samples.templates], dtype=bool)[samples.template]


def _present(samples: Samples) -> list[str]:
    return [samples.templates[position] for position in np.unique(samples.template).tolist()]


def _not_enough(question: str, needed: str) -> Answer:
    return Answer(question, f"{NOT_ENOUGH}: {needed}")


def _answer(question: str, text: str, change: Comparison, metric: str) -> Answer:
    figures = f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}] over {change.cases} cases"
    return Answer(
        question, f"{TITLES[metric]}: {text} {figures}", change.difference, change.low, change.high, change.cases
    )
