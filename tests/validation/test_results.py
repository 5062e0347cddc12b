"""Results that are kept between validations."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tiers.sample_case import make_case

from pytest_webbench.cases import Source
from pytest_webbench.validation.report import CaseReport, Options, Survivor, Validation
from pytest_webbench.validation.results import Results

FULL = Options(repeat=20, mutants=None)
DAILY = Options()
REPORT = CaseReport(
    "flask/sample",
    repetitions=20,
    wrong={"a": ("check_it",)},
    mutants=40,
    survivors=(Survivor("number-1", 3, "-a\n+b"),),
)


@pytest.fixture
def case(tmp_path):
    """A case with files on disk: definition, reference, a wrong solution, a scenario's shared checks."""
    folder = tmp_path / "flask" / "sample"
    (folder / "wrong").mkdir(parents=True)
    shared = tmp_path / "scenarios" / "s" / "checks.py"
    shared.parent.mkdir(parents=True)
    for file in (folder / "definition.toml", folder / "reference.py", folder / "wrong" / "a.py", shared):
        file.write_text("one")
    return replace(make_case(folder), checks=(Source("one", shared),))


def test_a_result_is_found_again_after_the_process(case, tmp_path):
    Results(tmp_path / "validation.json").keep(case, FULL, REPORT)
    assert Results(tmp_path / "validation.json").find(case, FULL) == REPORT


@pytest.mark.parametrize(
    ("kept", "asked", "found"),
    [
        (FULL, DAILY, True),
        (DAILY, FULL, False),
        (DAILY, Options(repeat=4), False),
        (DAILY, Options(mutants=19), True),
        (DAILY, Options(seed=1), False),
        (FULL, Options(seed=1), True),
    ],
)
def test_a_more_thorough_result_answers_a_lesser_question(case, kept, asked, found):
    results = Results(None)
    results.keep(case, kept, REPORT)
    assert (results.find(case, asked) is not None) is found


@pytest.mark.parametrize("file", ["flask/sample/reference.py", "flask/sample/wrong/a.py", "scenarios/s/checks.py"])
def test_any_change_of_a_file_makes_the_result_void(case, tmp_path, file):
    results = Results(None)
    results.keep(case, FULL, REPORT)
    (tmp_path / file).write_text("two")
    assert results.find(case, FULL) is None


def test_a_new_wrong_solution_or_framework_version_makes_the_result_void(case, tmp_path, monkeypatch):
    results = Results(None)
    results.keep(case, FULL, REPORT)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.metadata.version", lambda name: "99")
        assert results.find(case, FULL) is None
    assert results.find(case, FULL) is not None
    (case.path.parent / "wrong" / "b.py").touch()
    assert results.find(case, FULL) is None


def test_results_with_errors_are_not_kept(case):
    results = Results(None)
    results.keep(case, FULL, CaseReport("flask/sample", errors=("bad",)))
    assert results.find(case, FULL) is None


def test_a_file_of_another_schema_is_ignored_and_replaced(case, tmp_path):
    file = tmp_path / "validation.json"
    file.write_text(json.dumps({"schema": 0, "cases": {"flask/sample": {}}}))
    results = Results(file)
    assert results.find(case, FULL) is None
    results.keep(case, FULL, REPORT)
    assert json.loads(file.read_text())["cases"]["flask/sample"]["report"]["killed"] == 1 - 1 / 40


def test_validations_side_by_side_keep_each_others_results(case, tmp_path):
    one, other = Results(tmp_path / "validation.json"), Results(tmp_path / "validation.json")
    one.keep(case, FULL, REPORT)
    other.keep(replace(case, name="flask/other"), FULL, REPORT)
    assert Results(tmp_path / "validation.json").find(case, FULL) == REPORT


def test_the_checks_of_several_cases_must_notice_nine_of_ten_mutants():
    survivors = tuple(Survivor(f"number-{line}", line, "-a\n+b") for line in range(7))
    weak = CaseReport("flask/weak", mutants=40, survivors=survivors)
    strong = CaseReport("flask/strong", mutants=40)
    assert Validation((weak,)).ok
    assert not Validation((weak, weak)).ok
    assert Validation((weak, strong)).ok


def test_the_set_is_valid_if_there_are_cases_and_all_are():
    bad = CaseReport("flask/bad", errors=("wrong",), mutants=10)
    assert Validation((REPORT,)).ok
    assert not Validation((REPORT, bad)).ok
    assert not Validation(()).ok
    assert Validation((REPORT, bad)).killed == 1 - 1 / 50
    assert Validation(()).killed is None
