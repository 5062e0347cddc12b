"""Whether a case tells right from wrong, on the stand-in sandbox."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest
from tiers.sample_case import make_case
from tiers.standin import StandIn

from pytest_webbench.cases import Case, CaseError
from pytest_webbench.scaffold import MARKER
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.validation.case import validate_case
from pytest_webbench.validation.idle import idle_apps
from pytest_webbench.validation.mutants import all_mutants
from pytest_webbench.validation.report import CaseReport, Options

ADDER = dedent("""
    from urllib.parse import parse_qs

    def app(environ, start_response):
        terms = parse_qs(environ["QUERY_STRING"]).get("term", [])
        numbers = [int(term) for term in terms if term.isdigit()]
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(sum(numbers) + 1000).encode()]
""")
CHECKS = """
def check_adds(client):
    assert client.get("/?term=2&term=3").text == "1005"
def check_leaves_words_out(client):
    assert client.get("/?term=two&term=3").text == "1003"
"""
WRONG = {"first_term_only": ADDER.replace("in terms if", "in terms[:1] if")}
QUICK = Options(repeat=2, mutants=0)


IDLE = dedent("""
    def app(environ, start_response):
        start_response("STATUS Some", [("Content-Type", "application/json")])
        return [b"{}"]
""")


def quick_idle_apps(framework):
    """The apps that do nothing, without the framework's import time."""
    return {name: IDLE.replace("STATUS", "200" if "200" in name else "404") for name in idle_apps(framework)}


@pytest.fixture
def validate(tmp_path, monkeypatch) -> Callable[..., CaseReport]:
    monkeypatch.setattr("pytest_webbench.validation.case.idle_apps", quick_idle_apps)

    def run(options: Options = QUICK, **changes) -> CaseReport:
        case = adder(tmp_path, **changes)
        return validate_case(case, StandIn(), options, Turnstile(tmp_path / "locks"))

    return run


def adder(folder, **changes) -> Case:
    """A case about adding numbers; its definition exists because validation reads it."""
    (folder / "definition.toml").touch()
    given = {"checks": CHECKS, "reference": ADDER, "wrong": WRONG} | changes
    return make_case(folder, given.pop("checks"), given.pop("exploits", ""), **given)


def test_a_good_case_is_valid_and_the_report_says_why(validate):
    report = validate()
    assert (report.ok, report.errors, report.warnings) == (True, (), ())
    assert (report.repetitions, report.checks) == (2, 2)
    assert report.wrong == {"first_term_only": ("check_adds", "check_leaves_words_out")}
    assert CaseReport.from_json(report.to_json()) == report


def test_a_check_that_the_reference_fails_is_an_error_and_ends_the_matter(validate):
    report = validate(checks=CHECKS + "def check_more(client):\n    assert client.get('/').text == 'more'\n")
    (error,) = report.errors
    assert error.startswith("reference fails check_more (always): ")
    assert "'1000' == 'more'" in error
    assert report.wrong == {}


def test_a_flaky_check_is_named(validate):
    moody = "turns = []\ndef check_moody(client):\n    turns.append(0)\n    assert len(turns) != 2\n"
    report = validate(Options(repeat=3, mutants=0), checks=CHECKS + moody)
    assert report.flaky == ("check_moody",)
    assert report.errors[0].startswith("reference fails check_moody (1 of 3 times)")


def test_a_reference_that_does_not_run_is_an_error(validate):
    (error,) = validate(reference="raise RuntimeError('broken')").errors
    assert error.startswith("reference does not run: ")
    assert "broken" in error


def test_a_wrong_solution_that_passes_is_an_error(validate):
    report = validate(wrong={"not_wrong": ADDER + "\n# as good as the reference\n"})
    assert report.errors == ("wrong/not_wrong.py passes everything",)


def test_a_wrong_solution_that_does_not_run_shows_nothing(validate):
    (error,) = validate(wrong={"torn": "raise RuntimeError('torn')"}).errors
    assert error.startswith("wrong/torn.py does not run")


def test_an_exploit_must_succeed_against_a_wrong_solution(validate):
    exploit = "def exploit_{}(client):\n    assert client.get('/?term=1&term=2').text != '{}'\n"
    report = validate(exploits=exploit.format("proven", "1001") + exploit.format("unproven", "7"))
    assert report.exploits == {"exploit_proven": ("first_term_only",), "exploit_unproven": ()}
    assert report.errors == ("exploit_unproven succeeds against no wrong solution",)


def test_an_exploit_that_cannot_be_tried_on_the_reference_is_an_error(validate):
    report = validate(exploits="def exploit_it(client):\n    client.get('/').json()['token']\n")
    assert report.errors[0].startswith("reference fails exploit_it (always)")


@pytest.mark.parametrize(
    ("status", "name"),
    [(200, "an app that answers 200 {} to everything"), (404, "an app that answers 404 to everything")],
)
def test_checks_that_an_idle_app_passes_are_an_error(validate, status, name):
    reference = IDLE.replace("STATUS", str(status))
    wrong = {"other_status": reference.replace(str(status), "500")}
    check = f"def check_status(client):\n    assert client.get('/').status_code == {status}\n"
    report = validate(checks=check, reference=reference, wrong=wrong)
    assert f"{name} passes all checks" in report.errors


def test_a_check_that_every_idle_app_passes_is_weak(validate):
    report = validate(checks=CHECKS + "def check_answers(client):\n    assert client.get('/').status_code < 500\n")
    assert report.weak == ("check_answers",)
    assert report.warnings == ("check_answers passes for apps that do nothing",)
    assert report.ok


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"checks": "x = 1"}, "checks.py: there is no check_* function"),
        ({"criteria": ("parsing", "execution")}, "criteria: unit_tests is missing"),
        ({"wrong": {}}, "wrong/: there is no wrong solution"),
        ({"checks": f"# {MARKER}\n" + CHECKS}, f"checks.py: {MARKER} is still to be filled in (1 times)"),
        ({"reference": f"# {MARKER}\n" + ADDER}, f"reference.py: {MARKER} is still"),
        ({"wrong": {"a": f"# {MARKER}\n"}}, f"wrong/a.py: {MARKER} is still"),
    ],
)
def test_an_unfinished_case_is_refused_before_anything_runs(validate, changes, error):
    report = validate(**changes)
    assert any(found.startswith(error) for found in report.errors)
    assert report.repetitions == 0


def test_a_check_file_that_does_not_load_is_the_cases_error(validate):
    with pytest.raises(CaseError, match="asks for 'browser'"):
        validate(checks="def check_it(browser):\n    pass")


def test_survivors_are_listed_with_line_and_diff(validate):
    lenient = "def check_adds(client):\n    assert client.get('/?term=2&term=3').text.endswith('5')\n"
    report = validate(Options(repeat=1, mutants=None), checks=lenient)
    assert report.mutants == len(all_mutants(ADDER))
    assert 0 < len(report.survivors) < report.mutants
    survivor = report.survivors[0]
    assert ADDER.splitlines()[survivor.line - 1] == survivor.diff.splitlines()[0][1:]
    assert report.killed == 1 - len(report.survivors) / report.mutants


def test_checks_that_notice_too_few_mutants_are_an_error(validate):
    guess = "def check_guess(client):\n    assert client.get('/?term=1').text[0] == '1'\n"
    wrong = {"none": ADDER.replace("+ 1000", "+ 0")}
    report = validate(Options(repeat=1, mutants=None), checks=guess, wrong=wrong)
    assert report.killed < 0.75
    assert any(error.startswith("the checks notice ") for error in report.errors)


def test_equivalent_mutants_are_left_out_and_stale_ones_are_named(validate):
    options = Options(repeat=1, mutants=None)
    known = all_mutants(ADDER)[0].id
    report = validate(options, equivalent_mutants=(f"{known}: no difference to see", "number-00000000"))
    assert report.mutants == len(all_mutants(ADDER)) - 1
    assert "equivalent_mutants: the reference has no mutant number-00000000" in report.errors
