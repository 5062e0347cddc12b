"""Inputs that broke metrics elsewhere: each has a value here, and the right one."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_webbench.metrics import kw_f1, mean_pass_at_k, pass_at_k, tree, web_codebleu
from pytest_webbench.metrics.keywords import web_keywords

from .rows import read_rows

ROWS = read_rows("metric_traps.jsonl")
Traps = dict[str, dict[str, Any]]


def pair(traps: Traps, name: str) -> tuple[str, str]:
    return traps[name]["input"]["reference"], traps[name]["input"]["candidate"]


def code(row: dict[str, Any]) -> str:
    given = row["input"]
    return given["code"] if "code" in given else eval(given["code_expr"], {})


WITH_CODE = [row for row in ROWS if {"code", "code_expr"} & set(row["input"])]


@pytest.mark.parametrize("row", WITH_CODE, ids=lambda row: row["id"])
def test_any_text_has_a_score_on_both_sides(row: dict[str, Any]) -> None:
    text = code(row)
    against = web_codebleu("app = Flask(__name__)\nroute = app.route\n", text)
    itself = web_codebleu(text, text)
    assert 0 <= against.web_codebleu < 1
    assert itself.syntax == 1


def test_an_empty_candidate_scores_zero(traps: Traps) -> None:
    score = web_codebleu(*pair(traps, "C001"))
    assert score.web_codebleu == score.renormalised == 0
    assert score.dataflow_defined
    assert score.kw_defined


def test_a_reference_without_dataflow_counts_zero_and_says_so(traps: Traps, caplog: pytest.LogCaptureFixture) -> None:
    score = web_codebleu(*pair(traps, "C003"))
    assert score.dataflow == 0
    assert not score.dataflow_defined
    assert set(score.undefined) == {"dataflow", "kw_f1"}
    assert score.renormalised == pytest.approx((2 * 0.1**0.5 + 1) / 3)
    assert caplog.records == []


def test_no_dataflow_on_either_side_is_no_division_by_zero(traps: Traps) -> None:
    score = web_codebleu(*pair(traps, "C004"))
    assert score.dataflow == 0
    assert not score.dataflow_defined
    assert all(math.isfinite(value) for value in score.to_json().values() if isinstance(value, float))


def test_code_that_cannot_run_may_be_very_similar(traps: Traps) -> None:
    score = web_codebleu(*pair(traps, "C006"))
    assert 0.85 < score.web_codebleu < 1


def test_comments_count_in_the_ngram_parts_only(traps: Traps) -> None:
    score = web_codebleu(*pair(traps, "C007"))
    assert score.syntax == score.dataflow == 1
    assert score.ngram < 1


def test_a_grammar_that_does_not_fit_is_an_error_and_no_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    import tree_sitter

    def refuse(_: object) -> None:
        raise TypeError("an integer is required")

    tree.load_grammar.cache_clear()
    monkeypatch.setattr(tree_sitter, "Language", refuse)
    with pytest.raises(TypeError, match="an integer is required"):
        web_codebleu("grammar = 'of another version'", "x = 1")


def test_a_changed_route_still_looks_similar(traps: Traps) -> None:
    score = web_codebleu(*pair(traps, "C010"))
    assert 0.5 <= score.web_codebleu <= 0.95
    assert score.dataflow == 1


def test_no_common_web_keyword_is_zero(traps: Traps) -> None:
    assert kw_f1(*pair(traps, "C012")) == 0.0


def test_soft_keywords_are_no_web_keywords(traps: Traps) -> None:
    assert web_keywords(code(traps["C013"])) == frozenset()


def test_unfinished_code_counts_up_to_where_it_ends(traps: Traps) -> None:
    assert web_keywords("app = route(\n" + code(traps["C015"])) == {"app", "route"}
    assert kw_f1("app = 1\n", "app = (\n") == pytest.approx(1)


@pytest.mark.parametrize("name", ["C052", "C054"])
def test_fewer_samples_than_k_estimate_nothing(traps: Traps, name: str) -> None:
    assert pass_at_k(**traps[name]["input"]) is None


def test_pass_at_k_has_the_values_of_the_unbiased_estimator(traps: Traps) -> None:
    row = traps["C055"]
    values = [pass_at_k(*case) for case in row["input"]["cases"]]
    assert values == pytest.approx(row["expected"]["values"], abs=row["expected"]["tolerance"])


def test_one_sample_a_case_gives_pass_at_1_and_no_pass_at_10(traps: Traps) -> None:
    given, expected = traps["C057"]["input"], traps["C057"]["expected"]
    cases = [(1, 1)] * given["solved"] + [(1, 0)] * (given["cases"] - given["solved"])
    assert mean_pass_at_k(cases, 1) == pytest.approx(expected["pass_at_1"], abs=1e-9)
    assert mean_pass_at_k(cases, 10) is None


def test_cases_weigh_the_same_however_many_samples_they_have(traps: Traps) -> None:
    row = traps["C058"]
    cases = [tuple(counts) for counts in row["input"]["cases"].values()]
    assert mean_pass_at_k(cases, row["input"]["k"]) == row["expected"]["pass_at_1"]


def test_a_mean_of_nothing_is_null_in_json() -> None:
    assert json.dumps(mean_pass_at_k([], 1)) == "null"
    assert json.dumps(mean_pass_at_k([(0, 0), (0, 0)], 1)) == "null"
