"""Similarity of code to a reference, and pass@k: pure functions of strings and numbers.

>>> reference = Reference("app = Flask(__name__)")  # parsed once, for many hypotheses and threads
>>> [round(reference.score(text).web_codebleu, 2) for text in ("app = Flask(__name__)", "app = 1", "")]
[0.81, 0.36, 0.0]
>>> pass_at_k(n=10, c=3, k=1)
0.3
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
