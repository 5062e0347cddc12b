"""The metrics that reports and gates speak of: their columns and their scales."""

from __future__ import annotations

RATES = {
    "pass_at_1": "static_pass",
    "functional_pass_at_1": "functional_pass",
    "secure_pass_at_1": "secure_pass",
}
MEANS = ("web_codebleu", "kw_f1", "points")
METRICS = (*RATES, *MEANS)
SCALES = {metric: 100.0 if metric == "points" else 1.0 for metric in METRICS}


def column(metric: str) -> str:
    """Return the field of a record that a metric is the mean of."""
    return RATES.get(metric, metric)
