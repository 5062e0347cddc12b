"""Similarity of code to a reference, and pass@k: pure functions of strings and numbers.

from pytest_webbench.metrics import Reference, web_codebleu

web_codebleu(reference, hypothesis).web_codebleu
prepared = Reference(reference)                       # many hypotheses, one reference
[prepared.score(hypothesis) for hypothesis in hypotheses]
"""

from pytest_webbench.metrics.codebleu import DEFAULT_WEIGHTS, PARTS, Reference, WebCodeBLEU, web_codebleu
from pytest_webbench.metrics.keywords import kw_f1
from pytest_webbench.metrics.pass_at_k import mean_pass_at_k, pass_at_k

__all__ = [
    "DEFAULT_WEIGHTS",
    "PARTS",
    "Reference",
    "WebCodeBLEU",
    "kw_f1",
    "mean_pass_at_k",
    "pass_at_k",
    "web_codebleu",
]
