"""What holds for Web-CodeBLEU of any two texts."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webbench.metrics import PARTS, Reference, WebCodeBLEU, web_codebleu
from pytest_webbench.metrics.keywords import WEB_KEYWORDS

from .rows import read_rows

PROGRAMS = sorted({row["reference"] for row in read_rows("golden_codebleu.jsonl") if len(row["reference"]) < 3000})
FRAGMENTS = [
    *"()[]{}:;,.=+-@#\\\n\t '\"\r\0\f",
    *("'''", '"""', "\n    ", "\n        ", "\\\n", "\ud800", "\ufeff", "é", "f'{x}'", "# app\n", "1", "=="),
    *("x", "y", "app", "route", " in ", " is not ", "\nif ", "\nelif ", "\nelse:", "\nfor ", "\nwhile ", "\ndef "),
    *("lambda x=y: ", " for x in ", "return ", "\nclass ", "\ntry:", "\nexcept*", "async ", "await ", ":=", "**"),
]

texts = st.text(st.characters(exclude_categories=[]), max_size=200)
near_code = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)
programs = st.sampled_from(PROGRAMS)
places = st.integers(0, 800)
cut_programs = st.builds(lambda text, start, length: text[start : start + length], programs, places, places)
anything = st.one_of(texts, near_code, programs, cut_programs)


def parts_of(score: WebCodeBLEU) -> list[float]:
    return [getattr(score, name) for name in (*PARTS, "kw_precision", "kw_recall", "web_codebleu")]


@settings(max_examples=300)
@given(anything, anything)
def test_every_number_lies_between_0_and_1(reference: str, hypothesis: str) -> None:
    score = web_codebleu(reference, hypothesis)
    assert all(0 <= value <= 1 for value in parts_of(score))
    assert score.renormalised is not None
    assert score.web_codebleu <= score.renormalised <= 1 + 1e-12


@settings(max_examples=200)
@given(anything)
def test_a_text_is_like_itself_in_every_defined_tree_part(text: str) -> None:
    score = web_codebleu(text, text)
    assert score.syntax == 1
    assert score.dataflow == float(score.dataflow_defined)
    assert score.kw_f1 == pytest.approx(float(score.kw_defined), abs=1e-6)


@given(st.lists(st.sampled_from(["if", "x", "y", "return", "+"]), min_size=4).map(" ".join))
def test_four_tokens_or_more_are_fully_like_themselves_in_bleu(text: str) -> None:
    assert web_codebleu(text, text).ngram == pytest.approx(1)


@given(anything, anything)
def test_a_prepared_reference_and_a_fresh_one_agree(reference: str, hypothesis: str) -> None:
    assert Reference(reference).score(hypothesis) == web_codebleu(reference, hypothesis)


@given(programs, st.randoms(use_true_random=False))
def test_renaming_variables_changes_neither_syntax_nor_dataflow(program: str, random: Any) -> None:
    renamed = rename(program, lambda name: f"{name}_{random.randrange(10)}")
    score = web_codebleu(program, renamed)
    assert score.syntax == 1
    assert score.dataflow == float(score.dataflow_defined)


def rename(program: str, new_name: Callable[[str], str]) -> str:
    """Rename consistently, one to one, names of three letters or more that no string holds, but no dunder."""
    word = re.compile(r"\b(?!__)[a-z_]\w\w+\b")
    kept = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
    names = [name for name in dict.fromkeys(word.findall(program)) if name not in kept]
    free = [name for name in names if not re.search(rf"['\"][^\n]*\b{name}\b", program)]
    table = {name: f"{new_name(name)}_{number}" for number, name in enumerate(free)}
    return word.sub(lambda found: table.get(found[0], found[0]), program)


def test_renaming_renames() -> None:
    assert rename("total = 'text' + text + print", str.upper) == "TOTAL_0 = 'text' + text + print"


def test_threads_share_a_reference() -> None:
    reference = Reference(PROGRAMS[-1])
    hypotheses = PROGRAMS[:40]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(reference.score, hypotheses * 3))
    assert together == [web_codebleu(PROGRAMS[-1], hypothesis) for hypothesis in hypotheses] * 3


def test_equal_hypotheses_are_scored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    compute = Reference.base_parts
    monkeypatch.setattr(Reference, "base_parts", lambda self, text: scored.append(text) or compute(self, text))
    reference = Reference("x = 1")
    assert len({reference.score(text) for text in ["y = 1", "y = 2", "y = 1", "y = 1"]}) == 2
    assert scored == ["y = 1", "y = 2"]


def test_changing_a_result_does_not_change_the_next() -> None:
    first = web_codebleu("import os", "import os")
    first.undefined.clear()  # type: ignore[attr-defined]
    assert set(web_codebleu("import os", "import os").undefined) == {"dataflow", "kw_f1"}


def test_weights_choose_the_parts() -> None:
    reference, hypothesis = PROGRAMS[0], PROGRAMS[1]
    for number, name in enumerate(PARTS):
        weights = [float(number == place) for place in range(5)]
        score = web_codebleu(reference, hypothesis, weights)
        assert score.web_codebleu == getattr(score, name)


def test_the_default_is_the_mean_of_the_five_parts() -> None:
    score = web_codebleu(PROGRAMS[0], PROGRAMS[5])
    assert score.web_codebleu == pytest.approx(sum(getattr(score, name) for name in PARTS) / 5)


@pytest.mark.parametrize(
    "weights", [(0.25,) * 4, (0.2,) * 6, (1, 1, 1, 1, 1), (-0.2, 0.6, 0.2, 0.2, 0.2), (float("nan"),) * 5, ()]
)
def test_weights_that_are_no_weights_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected 5 weights"):
        web_codebleu("x = 1", "x = 1", weights)


def test_without_a_defined_part_there_is_no_renormalised_score() -> None:
    score = web_codebleu("import os", "import os", (0, 0, 0, 1, 0))
    assert score.web_codebleu == 0
    assert score.renormalised is None


def test_an_empty_reference_says_what_it_leaves_undefined() -> None:
    score = web_codebleu("", "")
    assert set(score.undefined) == {"ngram", "weighted_ngram", "dataflow", "kw_f1"}
    assert score.web_codebleu == pytest.approx(0.2)
    assert score.renormalised == 1


def test_every_web_keyword_is_found_in_code_and_not_in_strings() -> None:
    for word, weight in WEB_KEYWORDS.items():
        score = web_codebleu(f"{word} = 1", f"x = '{word}'  # {word}")
        assert score.kw_defined
        assert score.kw_f1 == 0
        assert web_codebleu(f"{word} = app", f"{word} = 1").kw_recall == pytest.approx(
            weight / (weight + 3.0 * (word != "app")), abs=1e-6
        )


MONSTERS = {
    "nested parentheses": "x = " + "(" * 10_000 + "1" + ")" * 10_000,
    "nested lists, unclosed": "x = " + "[" * 10_000,
    "nested blocks": "".join(" " * depth + f"for x{depth} in y:\n" for depth in range(1_000)),
    "nested calls": "f(" * 10_000 + ")" * 10_000,
    "long sum": "x = " + " + ".join(["y"] * 10_000),
    "attributes": "x" + ".y" * 10_000,
    "unary": "x = " + "not " * 10_000 + "y",
    "one megabyte of brackets": "([{" * 333_333,
    "quotes": "'\"" * 10_000,
    "backslashes": "\\\n" * 10_000,
    "chained assignment": "x = " * 2_000 + "1",
    "nested comprehensions": "[" * 500 + "x" + " for x in y]" * 500,
    "elif": "if x:\n    y = 0\n" + "".join(f"elif x == {n}:\n    y = {n}\n" for n in range(5_000)),
    "surrogates": "x = '\ud800'\n\udfff = x\n" * 100,
    "NUL": "x\0 = \0\n" * 100,
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_have_a_score(name: str) -> None:
    limit = sys.getrecursionlimit()
    score = web_codebleu("app = Flask(__name__)\n", MONSTERS[name])
    assert 0 <= score.web_codebleu < 1
    assert sys.getrecursionlimit() == limit


def test_a_deeply_nested_reference_is_like_itself() -> None:
    assert web_codebleu(MONSTERS["nested lists, unclosed"], MONSTERS["nested lists, unclosed"]).syntax == 1
    assert web_codebleu(MONSTERS["nested blocks"], MONSTERS["nested blocks"]).dataflow == 1
