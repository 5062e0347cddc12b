"""Reading dataset entries, and what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import write_case, write_dataset

from pytest_webbench.cases import CaseError, load_case, load_cases, load_dataset, marker_name

ROOT = Path(__file__).parents[1]


def broken(definition: Path, old: str, new: str) -> list[str]:
    """Return what is said of a definition in which `old` is `new`."""
    text = definition.read_text("utf-8")
    assert old in text
    definition.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(CaseError) as caught:
        load_case(definition)
    assert caught.value.path == definition
    return caught.value.problems


def test_a_folder_becomes_a_case(tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha", tags=("smoke", "json-api"))
    (definition.parent / "wrong").mkdir()
    (definition.parent / "wrong" / "no_route.py").write_text('"""No route."""\n', "utf-8")
    case = load_case(definition)
    assert case.name == "flask/alpha"
    assert case.reference.startswith("from flask")
    assert [source.path.name for source in case.checks] == ["checks.py"]
    assert case.examples[0].path == "/alpha"
    assert case.wrong == {"no_route": '"""No route."""\n'}
    assert case.markers == ("flask", "easy", "category_crud", "smoke", "json_api")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('version = "1.0"\n', "", "version: required key is missing"),
        ('version = "1.0"', "version = 1", "version: expected input should be a valid string, found 1"),
        ('framework = "Flask"', 'framework = "flask"', "framework: expected 'Flask', 'FastAPI' or 'Django', found 'flask'"),
        ('"unit_tests", ', '"tests", ', "criteria[2]: expected 'parsing', 'execution', 'unit_tests' or 'examples', found 'tests'"),
        ('imports = ["flask"]', 'imports = "flask"', "imports: expected input should be a valid list, found 'flask'"),
        ('name = "flask/alpha"', 'name = "flask/beta"', "name: expected 'flask/alpha' (the folder's path), found 'flask/beta'"),
        ('request = "GET /alpha"', 'request = "alpha"', "examples[0].request: "),
        ("status = 200", "status = 20", "examples[0].status: expected input should be greater than or equal to 100, found 20"),
        ("status = 200", 'form = {a = "1"}\nbody = "x"', "examples[0]: expected one of json, form and body, not form and body"),
        ('prompt = "', 'prompt = "  "\ncwe = ["79"]\n# "', "prompt: expected text, found an empty string"),
    ],
)  # fmt: skip
def test_a_problem_names_key_and_expectation(tmp_path: Path, old: str, new: str, problem: str) -> None:
    found = broken(write_case(tmp_path, "alpha"), old, new)
    assert any(line.startswith(problem) for line in found), found


def test_every_problem_of_a_definition_is_told_at_once(tmp_path: Path) -> None:
    assert len(broken(write_case(tmp_path, "alpha"), 'domain = "web"\n', "colour = 1\nshape = 2\n")) == 3


def test_criteria_need_what_they_judge(tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha")
    (definition.parent / "checks.py").unlink()
    with pytest.raises(CaseError, match=r"criteria: unit_tests needs checks\.py or unit_tests"):
        load_case(definition)


def test_a_case_without_reference_is_refused(tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha")
    (definition.parent / "reference.py").unlink()
    with pytest.raises(CaseError, match=r"reference_solution: required key is missing \(or write reference\.py"):
        load_case(definition)


def test_a_short_case_holds_its_reference_and_checks_inline(tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha")
    (definition.parent / "reference.py").unlink()
    (definition.parent / "checks.py").unlink()
    inline = 'reference_solution = "app = 1"\nunit_tests = ["assert client.get(\'/\').status_code == 200"]\n'
    text = definition.read_text("utf-8")
    definition.write_text(text.replace('prompt = "', inline + 'prompt = "'), "utf-8")
    case = load_case(definition)
    assert case.reference == "app = 1"
    assert case.checks[0].text == "def check_inline_1(client):\n    assert client.get('/').status_code == 200"


def test_a_scenario_shares_its_checks(tmp_path: Path) -> None:
    definition = write_case(tmp_path, "alpha")
    shared = tmp_path / "cases" / "scenarios" / "names"
    text = definition.read_text("utf-8").replace("tags = []", 'tags = []\nscenario = "names"')
    definition.write_text(text, "utf-8")
    with pytest.raises(CaseError, match="scenario: no folder"):
        load_case(definition)
    shared.mkdir(parents=True)
    (shared / "checks.py").write_text("def check_shared(client): pass\n", "utf-8")
    assert [source.path.parent.name for source in load_case(definition).checks] == ["names", "alpha"]


def test_a_dataset_entry_has_the_static_side_only(tmp_path: Path) -> None:
    cases = load_dataset(write_dataset(tmp_path, 3))
    assert [case.id for case in cases] == ["ds_0", "ds_1", "ds_2"]
    assert cases[1].framework == "FastAPI"
    assert cases[0].criteria == ("parsing",)
    assert cases[0].checks == ()


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("{", "not valid JSON"),
        ("{}", "expected input should be a valid list"),
        ('[{"id": "a"}]', r"\[0\]\.domain: required key is missing"),
    ],
)
def test_a_broken_dataset_names_the_entry(tmp_path: Path, entries: str, problem: str) -> None:
    path = tmp_path / "dataset.json"
    path.write_text(entries, "utf-8")
    with pytest.raises(CaseError, match=problem):
        load_dataset(path)


def test_an_id_that_stands_twice_in_a_dataset_is_refused(tmp_path: Path) -> None:
    path = write_dataset(tmp_path, 1)
    entries = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(entries * 2), "utf-8")
    with pytest.raises(CaseError, match="id 'ds_0' stands in more than one entry"):
        load_dataset(path)


def test_marker_names_are_what_an_expression_can_say() -> None:
    assert marker_name("search-filter/API 2") == "search_filter_api_2"


def test_every_case_of_the_dataset_is_usable() -> None:
    cases = load_cases(ROOT / "cases")
    assert len(cases) >= 12
    assert {case.framework for case in cases} == {"Flask", "FastAPI", "Django"}
    assert sum("smoke" in case.tags for case in cases) == 6
    for case in cases:
        assert len(case.wrong) >= 3, case.name
        assert case.source.startswith("https://"), case.name
