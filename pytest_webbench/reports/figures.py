"""The figures that `index.html` draws, as JSON: rows for every choice of filters, cells, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from pytest_webbench.reports.tables import similarity_tables
from pytest_webbench.reports.terminal import flags
from pytest_webbench.statistics.comparison import Side, compare_sides, sides
from pytest_webbench.statistics.metrics import RATES, SCALES
from pytest_webbench.statistics.samples import STATUSES, Ints, Samples, groups
from pytest_webbench.statistics.summary import Row, Summary, row

LABELS = {
    "functional_pass_at_1": "Functional",
    "secure_pass_at_1": "Secure",
    "pass_at_1": "Static",
    "points": "Points",
    "web_codebleu": "Web-CodeBLEU",
    "kw_f1": "KW-F1",
}
SIMILARITIES = ("web_codebleu", "kw_f1")
COUNTS = ("expected", "n", "passed", "coverage", "truncated", "refused", "cost", "points_per_cent", "latency_seconds")
FILTERS = ("framework", "category", "difficulty", "template")


def run_figures(summary: Summary, samples: Samples, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that the page shows but for the single samples."""
    rows, slices = _slices(samples)
    values = {name: samples.attribute(name)[0] for name in FILTERS[:3]} | {"template": samples.templates}
    return {
        "run": {
            "id": summary.run_id,
            "created": description.get("created_at"),
            "tier": description.get("settings", {}).get("tier"),
            "versions": description.get("versions", {}),
            "samples": len(samples),
        },
        "metrics": [
            {"name": name, "label": label, "rate": name in RATES, "scale": SCALES[name],
             "similarity": name in SIMILARITIES}
            for name, label in LABELS.items()
        ],
        "filters": values,
        "models": [
            {"name": alias, "id": facts.model_id, "hosting": facts.hosting, "size_b": facts.size_b}
            for alias, facts in summary.models.items()
        ],
        "ranking": summary.ranking,
        "excluded": dict(summary.excluded),
        "notes": summary.notes,
        "notices": flags(summary),
        "answers": [asdict(answer) for answer in summary.answers],
        "similarity": [asdict(table) for table in similarity_tables(summary)],
        "cases": [
            {"name": case.name, "id": case.id, **{name: getattr(case, name) for name in FILTERS[:3]}}
            for case in samples.cases
        ],
        "rows": rows,
        "slices": slices,
        "cells": _cells(samples),
        "comparisons": _comparisons(sides(samples)),
    }  # fmt: skip


def rounded(value: Any) -> Any:
    """Return a float with five decimals, anything else as it is."""
    return round(value, 5) if isinstance(value, float) else value


def _slices(samples: Samples) -> tuple[list[dict[str, Any]], dict[str, dict[str, int]]]:
    """Return the different rows, and by choice of filters and model which of them it is.

    A choice is one value a filter, an empty one for all, joined by newlines.
    """
    columns = {name: samples.attribute(name) for name in FILTERS[:3]}
    columns["template"] = samples.templates, samples.template
    rows: list[dict[str, Any]] = []
    known: dict[bytes, int] = {}
    slices: dict[str, dict[str, int]] = {}
    for chosen in (names for count in range(len(FILTERS) + 1) for names in combinations(FILTERS, count)):
        for (model, *values), members in groups([samples.model, *(columns[name][1] for name in chosen)]):
            choice = dict(zip(chosen, values, strict=True))
            key = "\n".join(columns[name][0][choice[name]] if name in choice else "" for name in FILTERS)
            same = np.sort(members).tobytes()
            if same not in known:
                known[same] = len(rows)
                rows.append(_row(row((), samples.at(members))))
            slices.setdefault(key, {})[samples.models[model].alias] = known[same]
    return rows, slices


def _row(figures: Row) -> dict[str, Any]:
    metrics = {
        name: [rounded(value) for value in (estimate.value, estimate.low, estimate.high, estimate.n)]
        for name, estimate in figures.metrics.items()
    }
    per_sample = None if figures.cost is None or figures.n == 0 else figures.cost / figures.n
    return {name: rounded(getattr(figures, name)) for name in COUNTS} | {
        "cost_per_sample": per_sample,
        "metrics": metrics,
    }


def _cells(samples: Samples) -> list[list[Any]]:
    """Return case, model, template, expected, judged and passed samples, and how often each failure occurred."""
    judged = samples.judged
    return [
        [
            samples.cases[case].name,
            samples.models[model].alias,
            samples.templates[template],
            len(members),
            int(judged[members].sum()),
            int((samples.status[members] == 0).sum()),
            _failures(samples, members),
        ]
        for (case, model, template), members in groups([samples.case, samples.model, samples.template])
    ]


def _failures(samples: Samples, members: Ints) -> dict[str, int]:
    failing = members[samples.failure[members] >= 0]
    kinds = groups([samples.status[failing], samples.failure[failing]])
    return {f"{STATUSES[status]}:{samples.failures[failure]}": len(rows) for (status, failure), rows in kinds}


def _comparisons(of_model: Mapping[str, Side]) -> dict[str, dict[str, Any]]:
    """Return the differences b - a of each pair of models by metric, paired by case; the names joined by a newline."""
    return {
        f"{a}\n{b}": {
            metric: {name: rounded(value) for name, value in asdict(compare_sides(side_a, side_b, metric)).items()}
            for metric in LABELS
        }
        for (a, side_a), (b, side_b) in combinations(of_model.items(), 2)
    }
