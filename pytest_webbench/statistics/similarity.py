"""How far similarity to the reference (Web-CodeBLEU) tells whether an answer works: it is no measure of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_webbench.statistics.intervals import CONFIDENCE, Floats, mean_interval
from pytest_webbench.statistics.samples import UNPARSED, Mask, Samples, groups

SEED = 20110
RESAMPLES = 200
LARGEST = 2000
FEWEST = 5
Ends = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Rank correlation of Web-CodeBLEU with passing: Spearman's rho with its 95 % interval, Kendall's tau-b.

    Over `n` samples, or models or cases as `of` says; None where it is not defined. `auc` is the chance that an
    answer that passed has the higher Web-CodeBLEU of two, one that passed and one that failed (Mann and Whitney
    1947; 0.5: it tells nothing), with its 95 % interval. Intervals are a bootstrap over cases.
    """

    of: str
    n: int
    spearman: float | None = None
    low: float | None = None
    high: float | None = None
    kendall: float | None = None
    auc: float | None = None
    auc_low: float | None = None
    auc_high: float | None = None


@dataclass(frozen=True, slots=True)
class GroupMean:
    """Mean Web-CodeBLEU of a group of samples, macro over cases, with its 95 % interval."""

    group: str
    n: int
    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Similarity:
    """What Web-CodeBLEU says about passing; `judged_by` names the pass it is held against."""

    judged_by: str
    correlations: tuple[Correlation, ...]
    means: tuple[GroupMean, ...]


def similarity(samples: Samples, shown: Sequence[str]) -> Similarity:
    """Return correlations over all shown models' samples, within cases, per model and between models."""
    positions = [position for position, model in enumerate(samples.models) if model.alias in shown]
    judged = samples.judged & np.isin(samples.model, positions)
    functional = not np.isnan(samples.numbers["functional_pass"][judged]).all()
    name = "functional_pass" if functional else "static_pass"
    columns = samples.with_numbers((name, "web_codebleu"))
    known = columns.where(judged & ~np.isnan(columns.numbers[name]) & ~np.isnan(columns.numbers["web_codebleu"]))
    per_model = (_pooled(known.of_model(samples.models[position].alias), name, samples.models[position].alias)
                 for position in positions)  # fmt: skip
    return Similarity(
        judged_by=name,
        correlations=(_pooled(known, name, "all samples"), _within(known, name), *per_model, _between(known, name)),
        means=_means(known, name),
    )


def _pooled(known: Samples, name: str, of: str) -> Correlation:
    x, y = known.numbers["web_codebleu"], known.numbers[name]
    if not _varies(x, y):
        return Correlation(of, len(known))
    rho, auc = _bootstrap(known, name)
    return Correlation(of, len(known), _spearman(x, y), *rho, _kendall(x, y), _auc(x, y), *auc)


def _within(known: Samples, name: str) -> Correlation:
    """Mean over cases of the correlation within a case, so that a case's difficulty cannot fake it."""
    rho, tau, auc = [], [], []
    for _, rows in groups((known.case,)):
        x, y = known.numbers["web_codebleu"][rows], known.numbers[name][rows]
        if len(rows) >= FEWEST and _varies(x, y):
            rho.append(_spearman(x, y))
            tau.append(_kendall(x, y))
            auc.append(_auc(x, y))
    if not rho:
        return Correlation("within cases", 0)
    return Correlation("within cases", len(rho), float(np.mean(rho)), *_over_cases(rho), float(np.mean(tau)),
                       float(np.mean(auc)), *_over_cases(auc))  # fmt: skip


def _over_cases(values: Sequence[float]) -> Ends:
    """Return the t interval of the mean of the cases' values; none where they do not vary."""
    return (mean_interval(np.array(values)) if np.ptp(values) > 0 else None) or (None, None)


def _between(known: Samples, name: str) -> Correlation:
    members = [rows for _, rows in groups((known.model,))]
    x = np.array([known.numbers["web_codebleu"][rows].mean() for rows in members])
    y = np.array([known.numbers[name][rows].mean() for rows in members])
    if len(members) < 3 or not _varies(x, y):
        return Correlation("models", len(members))
    return Correlation("models", len(members), _spearman(x, y), kendall=_kendall(x, y))


def _bootstrap(known: Samples, name: str) -> tuple[Ends, Ends]:
    """Return percentile intervals of rho and AUC over resampled cases; of very many samples a part of each case."""
    step = max(1, len(known) // LARGEST)
    rows_of = [rows[::step] for _, rows in groups((known.case,))]
    if len(rows_of) < 2:
        return (None, None), (None, None)
    x, y = known.numbers["web_codebleu"], known.numbers[name]
    drawn = []
    for cases in np.random.default_rng(SEED).integers(0, len(rows_of), (RESAMPLES, len(rows_of))):
        rows = np.concatenate([rows_of[case] for case in cases])
        if _varies(x[rows], y[rows]):
            drawn.append((_of_passes(x[rows], y[rows]), _auc(x[rows], y[rows])))
    if not drawn:
        return (None, None), (None, None)
    rho, auc = np.percentile(drawn, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)], axis=0).T
    return _ends(*rho), _ends(*auc)


def _ends(low: float, high: float) -> Ends:
    """Return an interval; none where resampling changes nothing, which is not certainty."""
    return (float(low), float(high)) if high > low else (None, None)


def _spearman(x: Floats, y: Floats) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def _kendall(x: Floats, y: Floats) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(x, y).statistic)


def _of_passes(x: Floats, y: Floats) -> float:
    """Spearman's rho where y is 0 or 1: the ranks of y are a linear function of y."""
    from scipy.stats import rankdata

    ranks, passes = rankdata(x) - (len(x) + 1) / 2, y - y.mean()
    return float(ranks @ passes / np.sqrt((ranks @ ranks) * (passes @ passes)))


def _auc(x: Floats, y: Floats) -> float:
    """Mann and Whitney's U of the x where y is 1 against those where y is 0, as a share of the pairs."""
    from scipy.stats import rankdata

    passed = float(y.sum())
    u = float(rankdata(x)[y == 1].sum()) - passed * (passed + 1) / 2
    return u / (passed * (len(y) - passed))


def _varies(x: Floats, y: Floats) -> bool:
    return len(x) > 2 and float(np.ptp(x)) > 0 and float(np.ptp(y)) > 0


def _means(known: Samples, name: str) -> tuple[GroupMean, ...]:
    unparsed = known.marks & UNPARSED > 0
    passed = known.numbers[name] == 1
    return (
        _group("passed", known, passed),
        _group("failed", known, ~passed & ~unparsed),
        _group("does not parse", known, ~passed & unparsed),
    )


def _group(group: str, known: Samples, mask: Mask) -> GroupMean:
    chosen = known.where(mask)
    means = np.array([chosen.numbers["web_codebleu"][rows].mean() for _, rows in groups((chosen.case,))])
    if not len(means):
        return GroupMean(group, 0, None)
    low, high = mean_interval(means) or (None, None)
    return GroupMean(group, len(chosen), float(means.mean()), low, high)
