"""Agreement with the published package, pair by pair, to 1e-9."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_webbench.metrics import WebCodeBLEU, kw_f1, web_codebleu

TOLERANCE = 1e-9

# The package turns a block's tabs into single spaces, except on its first line, and so breaks the tree.
REPAIRED_SYNTAX = {"tabs_hyp", "tabs_both"}
# The package raises UnicodeEncodeError, so there is nothing to agree with.
WITHOUT_REFERENCE_VALUE = {"lone_surrogate"}
# The package meets the recursion limit and scores 0, on identical data-flow but for one constant.
RECURSION_LIMIT = {"chain_1500"}

Golden = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def scores(golden: Golden) -> dict[str, WebCodeBLEU]:
    return {name: web_codebleu(row["reference"], row["hypothesis"]) for name, row in golden.items()}


def differences(
    golden: Golden, scores: dict[str, WebCodeBLEU], part: str, source: str, names: set[str]
) -> dict[str, tuple[float, float]]:
    pairs = {name: (getattr(scores[name], part), golden[name][source][part]) for name in names}
    return {name: pair for name, pair in pairs.items() if abs(pair[0] - pair[1]) > TOLERANCE}


@pytest.mark.parametrize("part", ["ngram", "weighted_ngram"])
def test_ngram_parts_equal_the_package(golden: Golden, scores: dict[str, WebCodeBLEU], part: str) -> None:
    names = set(golden) - WITHOUT_REFERENCE_VALUE
    assert len(names) == 230
    assert differences(golden, scores, part, "codebleu_0_7_0_ts026_py025", names) == {}


def test_syntax_equals_the_package(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    names = set(golden) - WITHOUT_REFERENCE_VALUE - REPAIRED_SYNTAX
    assert differences(golden, scores, "syntax", "codebleu_0_7_0_ts026_py025", names) == {}


def test_syntax_of_tab_pairs_equals_the_repaired_package(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    assert differences(golden, scores, "syntax", "fixed_ts026_py025", REPAIRED_SYNTAX) == {}


def test_dataflow_equals_the_repaired_package(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    names = set(golden) - WITHOUT_REFERENCE_VALUE - RECURSION_LIMIT
    assert differences(golden, scores, "dataflow", "fixed_ts026_py025", names) == {}


def test_a_long_chain_has_dataflow_where_the_package_gives_up(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    assert golden["chain_1500"]["fixed_ts026_py025"]["dataflow"] == 0
    assert scores["chain_1500"].dataflow == pytest.approx(0.9973386560212908, abs=TOLERANCE)


def test_a_lone_surrogate_costs_nothing(scores: dict[str, WebCodeBLEU]) -> None:
    assert scores["lone_surrogate"].syntax == scores["lone_surrogate"].dataflow == 1.0


def test_kw_f1_equals_the_published_values(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    expected = "kw_f1_lenient" if sys.version_info < (3, 12) else "kw_f1_py312"
    compared = {name: row for name, row in golden.items() if row[expected] is not None}
    wrong = {
        name: (scores[name].kw_f1, row[expected])
        for name, row in compared.items()
        if abs(scores[name].kw_f1 - row[expected]) > TOLERANCE
    }
    assert wrong == {}
    assert len(compared) > 200


def test_kw_f1_alone_equals_the_part(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    for name, row in golden.items():
        assert kw_f1(row["reference"], row["hypothesis"]) == scores[name].kw_f1


def test_undefined_dataflow_is_flagged_where_the_package_warns(golden: Golden, scores: dict[str, WebCodeBLEU]) -> None:
    for name in set(golden) - WITHOUT_REFERENCE_VALUE - RECURSION_LIMIT:
        warned = golden[name]["codebleu_0_7_0_ts026_py025"]["no_reference_dataflow_warning"]
        if not warned:
            assert scores[name].dataflow_defined, name
        if not scores[name].dataflow_defined:
            assert warned, name
            assert scores[name].dataflow == 0, name
            assert scores[name].undefined["dataflow"] == "the reference has no data-flow"


@pytest.mark.parametrize(
    ("reference", "hypothesis", "syntax", "dataflow"),
    [
        ('="\\i"', "='}'", 0.8, 0.0),
        ("()=e", "e=e", 0.0, 0.0),
        (
            'def o(:\n global c r+=1\n t={"d":r,"t":y.e,"e":y.e}etailtodos[o]=o\n return o',
            'def o(:\n global o e+=1\n t={"d":r,"e":y.t,"e":y.e}\n t[r]=o\n return t',
            19 / 22,
            0.75,
        ),
    ],
    ids=["escape without a node", "target without a variable", "missing line end"],
)
def test_broken_text_scores_as_in_the_repaired_package(
    reference: str, hypothesis: str, syntax: float, dataflow: float
) -> None:
    score = web_codebleu(reference, hypothesis)
    assert (score.syntax, score.dataflow) == pytest.approx((syntax, dataflow), abs=TOLERANCE)


HASH_SCRIPT = """
import json, pathlib, sys
from pytest_webbench.metrics import web_codebleu
for line in pathlib.Path(sys.argv[1]).read_text("utf-8").split("\\n"):
    row = json.loads(line) if line else {}
    if row.get("hash_order_dependent", {}).get("ts026_py025") or row.get("category") == "renamed":
        print(row["id"], json.dumps(web_codebleu(row["reference"], row["hypothesis"]).to_json()))
"""


def test_values_are_the_same_in_20_processes_with_different_hash_seeds() -> None:
    data = Path(__file__).parent / "data" / "golden_codebleu.jsonl"
    command = [sys.executable, "-c", HASH_SCRIPT, str(data)]
    root = str(Path(__file__).parents[2])
    processes = [
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": root},
            stdout=subprocess.PIPE,
        )
        for seed in range(20)
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 20
    assert outputs[0].count(b"\n") > 20
    assert len(set(outputs)) == 1
