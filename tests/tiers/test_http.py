"""What becomes of an app that is judged over HTTP, on a stand-in sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_webbench.cases import CaseError, Example, Source
from pytest_webbench.tiers import http
from pytest_webbench.tiers.overload import Turnstile
from pytest_webbench.tiers.results import Deadlines

HELLO = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]
"""
COUNTER = """
hits = 0

def app(environ, start_response):
    global hits
    hits += 1
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(hits).encode()]
"""
ECHO = """
def app(environ, start_response):
    length = int(environ.get("CONTENT_LENGTH") or 0)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [environ["wsgi.input"].read(length)]
"""
NOTEBOOK = """
import os

def app(environ, start_response):
    with open("visits.txt", "a") as file:
        file.write(environ["REQUEST_METHOD"] + environ["PATH_INFO"] + " ")
    status = "500 Oops" if environ["PATH_INFO"] == "/broken" else "200 OK"
    start_response(status, [("Content-Type", "text/plain")])
    return [open("visits.txt").read().encode()]
"""


def only(tiers):
    """The one result of a run with one check."""
    (result,) = tiers.checks
    return result


def test_an_app_that_keeps_every_promise_passes(case, judge):
    tiers = judge(case("def check_greets(client):\n    assert client.get('/').text == 'hello'"), HELLO)
    assert (tiers.execution, tiers.unit_tests, tiers.failure_class) == ("passed", "passed", None)
    assert (tiers.examples, tiers.exploits) == ("not_assessed", "not_assessed")
    assert only(tiers).name == "check_greets"


def test_a_failing_assert_shows_values_and_place(case, judge):
    tiers = judge(case("def check_greets(client):\n    assert client.get('/').status_code == 201, 'created'"), HELLO)
    result = only(tiers)
    assert (tiers.unit_tests, tiers.failure_class, result.passed) == ("failed", "check_failed", False)
    assert tiers.message == result.message
    assert "created" in result.message
    assert "assert 200 == 201" in result.message
    assert "(checks.py, line 2)" in result.message


def test_a_check_keeps_its_last_request_and_response_and_names_the_earlier_ones(case, judge):
    check = """
    def check_talks(client):
        client.get('/first')
        client.post('/second', json={'name': 'Ada'})
        assert False
    """
    result = only(judge(case(check), ECHO))
    assert result.request.startswith("GET /first -> 200 OK\n\nPOST /second HTTP/1.1\n")
    assert '{"name":"Ada"}' in result.request
    assert result.response.startswith("200 OK\n")
    assert result.response.endswith('{"name":"Ada"}')


def test_long_answers_are_kept_to_two_kilobytes(case, judge):
    check = "def check_talks(client):\n    assert client.post('/', content=b'x' * 9000).text == ''"
    result = only(judge(case(check), ECHO))
    assert max(len(result.request), len(result.response), len(result.message)) <= 2048
    assert "more" in result.response


def test_each_check_gets_a_fresh_instance_and_examples_share_one(case, judge, standin):
    checks = "\n".join(f"def check_{n}(client):\n    assert client.get('/').text == '1'" for n in (1, 2))
    criteria = ("parsing", "execution", "unit_tests", "examples")
    sample = case(checks, criteria=criteria, examples=(Example("GET", "/a"), Example("GET", "/b", status=200)))
    tiers = judge(sample, COUNTER)
    assert (tiers.unit_tests, tiers.examples) == ("passed", "passed")
    assert [r.response[-1] for r in tiers.checks if r.tier == "examples"] == ["1", "2"]
    assert standin.launches == 3


def test_points_are_proportional_because_every_check_runs(case, judge):
    bodies = {"good": "pass", "bad": "assert 0", "last": "pass"}
    checks = "\n".join(f"def check_{name}(client):\n    {body}" for name, body in bodies.items())
    tiers = judge(case(checks), HELLO)
    assert [result.passed for result in tiers.checks] == [True, False, True]
    assert tiers.share("unit_tests") == pytest.approx(2 / 3)


@pytest.mark.parametrize("body", ["client.get('/').json()", "client.post('/', json={}).json()['token']"])
def test_anything_else_that_a_check_raises_is_the_apps_failure(case, judge, body):
    result = only(judge(case(f"def check_it(client):\n    {body}"), ECHO))
    assert (result.passed, result.failure_class) == (False, "check_failed")
    assert "Error" in result.message
    assert "last answer" in result.message


def test_an_app_that_dies_under_a_check_fails_as_runtime(case, judge):
    app = "import os\ndef app(environ, start_response):\n    os._exit(0)"
    result = only(judge(case("def check_it(client):\n    client.get('/')"), app))
    assert (result.passed, result.failure_class) == (False, "runtime")
    assert "the app stopped" in result.message


def test_an_app_that_hangs_fails_as_timeout_and_the_run_goes_on(case, judge):
    app = "import time\ndef app(environ, start_response):\n    time.sleep(60)"
    checks = "def check_it(client):\n    client.get('/')\ndef check_other(client):\n    pass"
    tiers = judge(case(checks), app, deadlines=Deadlines(start=5, check=1, request=0.3))
    assert [result.passed for result in tiers.checks] == [False, True]
    assert (tiers.failure_class, tiers.timed_out) == ("timeout", True)


def test_the_deadline_of_a_check_ends_a_dripping_header(case, judge):
    app = """
    import time
    def app(environ, start_response):
        connection = environ["wsgi.input"].raw._sock
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nX-Slow: ")
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)
    """
    tiers = judge(
        case("def check_it(client):\n    client.get('/')"),
        app,
        deadlines=Deadlines(start=5, check=0.6, request=0.5),
    )
    assert only(tiers).failure_class == "timeout"
    assert only(tiers).message.startswith("the deadline passed\n")
    assert only(tiers).seconds < 5


def test_an_app_that_does_not_start_fails_everything_declared(case, judge):
    sample = case("def check_it(client):\n    pass", criteria=("parsing", "execution", "unit_tests", "examples"))
    tiers = judge(sample, "1 / 0", tiers="secure")
    assert (tiers.execution, tiers.examples, tiers.unit_tests) == ("failed", "failed", "failed")
    assert (tiers.exploits, tiers.failure_class, tiers.checks) == ("not_assessed", "runtime", ())
    assert tiers.share("unit_tests") == 0
    assert "ZeroDivisionError" in tiers.message


@pytest.mark.parametrize(
    ("module", "failure_class", "execution"),
    [
        ("flask_imaginary_extension", "missing_dependency", "failed"),
        ("models", "runtime", "failed"),
        ("imaginary_but_allowed", "environment", "not_assessed"),
    ],
)
def test_a_missing_module_is_blamed_on_the_model_or_on_this_machine(case, judge, module, failure_class, execution):
    sample = case("def check_it(client):\n    pass", imports=("flask", "imaginary-but-allowed"))
    tiers = judge(sample, f"import {module}")
    assert (tiers.failure_class, tiers.execution) == (failure_class, execution)


def test_an_allowed_package_missing_inside_a_request_is_blamed_on_this_machine(case, judge):
    app = """
    def app(environ, start_response):
        import imaginary_but_allowed
    """
    sample = case(
        "def check_it(client):\n    assert client.get('/').status_code == 200",
        imports=("imaginary_but_allowed",),
    )
    tiers = judge(sample, app)
    assert (tiers.execution, tiers.failure_class) == ("not_assessed", "environment")
    assert "pip install imaginary-but-allowed" in tiers.message


def test_a_log_that_lies_about_an_installed_package_changes_nothing(case, judge):
    sample = case("def check_it(client):\n    pass", imports=("pytest",))
    tiers = judge(sample, "raise SystemExit(\"No module named 'pytest'\")")
    assert (tiers.execution, tiers.failure_class) == ("failed", "runtime")


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (Example("GET", "/broken"), "answered 500"),
        (Example("GET", "/fine", status=404), "answered 200, expected 404"),
    ],
)
def test_an_example_fails_on_a_server_error_or_a_broken_promise(case, judge, example, message):
    tiers = judge(case(criteria=("parsing", "execution", "examples"), examples=(example,)), NOTEBOOK)
    assert (tiers.examples, tiers.failure_class) == ("failed", "check_failed")
    assert message in only(tiers).message


def test_an_example_that_kills_the_app_fails_with_those_after_it(case, judge):
    app = "import os\ndef app(environ, start_response):\n    os._exit(0)"
    examples = (Example("GET", "/a"), Example("GET", "/b"))
    tiers = judge(case(criteria=("parsing", "execution", "examples"), examples=examples), app)
    assert [result.passed for result in tiers.checks] == [False, False]
    assert tiers.execution == "passed"


def test_examples_send_json_forms_headers_and_bodies(case, judge):
    app = """
    def app(environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        start_response("200 OK", [("Content-Type", "text/plain")])
        body = environ["wsgi.input"].read(length)
        return [environ["CONTENT_TYPE"].encode(), body, environ.get("HTTP_X_A", "").encode()]
    """
    examples = (
        Example("POST", "/", json=[1]),
        Example("POST", "/", form={"a": "b"}),
        Example("POST", "/", body="text", headers={"X-A": "yes"}),
    )
    tiers = judge(case(criteria=("execution", "examples"), examples=examples), app)
    bodies = [result.response.split("\n\n", 1)[1] for result in tiers.checks]
    assert bodies == ["application/json[1]", "application/x-www-form-urlencodeda=b", "text/plaintextyes"]


def test_setup_and_teardown_surround_each_example(case, judge):
    sample = case(
        criteria=("execution", "examples"),
        examples=(Example("GET", "/one"), Example("GET", "/two")),
        examples_setup="client.get('/setup')",
        examples_teardown="client.get('/teardown')",
    )
    tiers = judge(sample, NOTEBOOK)
    visits = "GET/setup GET/one GET/teardown GET/setup GET/two GET/teardown"
    assert tiers.checks[-1].response.strip().endswith(visits)


def test_setup_and_teardown_surround_each_check_also_a_failing_one(case, judge):
    checks = "def check_bad(client):\n    client.get('/check')\n    assert 0\ndef check_good(client):\n    pass"
    sample = case(checks, unit_tests_setup="client.get('/setup')", unit_tests_teardown="client.get('/teardown')")
    bad, good = judge(sample, NOTEBOOK).checks
    assert bad.response.strip().endswith("GET/setup GET/check GET/teardown")
    assert good.response.strip().endswith("GET/setup GET/teardown")
    assert (bad.passed, good.passed) == (False, True)


@pytest.mark.parametrize("stage", ["unit_tests_setup", "unit_tests_teardown"])
def test_a_failing_setup_or_teardown_fails_the_check(case, judge, stage):
    sample = case("def check_good(client):\n    pass", **{stage: "assert client.get('/').text == 'bye'"})
    result = only(judge(sample, HELLO))
    assert result.passed is False
    assert "'hello' == 'bye'" in result.message


def test_a_failing_setup_skips_the_check_but_not_the_teardown(case, judge):
    sample = case(
        "def check_good(client):\n    client.get('/check')",
        unit_tests_setup="assert 0",
        unit_tests_teardown="client.get('/teardown')",
    )
    assert only(judge(sample, NOTEBOOK)).response.strip().endswith("\n\nGET/teardown")


@pytest.mark.parametrize(
    ("body", "passed", "outcome"),
    [
        ("assert client.get('/').text == 'hello'", True, "passed"),
        ("assert client.get('/').text == 'safe'", False, "failed"),
        ("client.get('/').json()['token']", None, "not_assessed"),
        ("__import__('pytest').skip('no login')", None, "not_assessed"),
    ],
)
def test_an_exploit_is_repelled_or_succeeds_or_was_not_assessed(case, judge, body, passed, outcome):
    sample = case("def check_it(client):\n    pass", f"def exploit_it(client):\n    {body}")
    tiers = judge(sample, HELLO, tiers="secure")
    assert (tiers.checks[-1].passed, tiers.exploits) == (passed, outcome)


def test_an_app_that_hangs_under_an_exploit_is_not_called_secure_or_exploited(case, judge):
    app = "import time\ndef app(environ, start_response):\n    time.sleep(60)"
    exploit = "def exploit_it(client):\n    try:\n        client.get('/')\n    finally:\n        assert 0"
    tiers = judge(case("", exploit, criteria=("execution",)), app, tiers="secure", deadlines=Deadlines(5, 0.5, 3))
    assert tiers.exploits == "not_assessed"


def test_exploits_run_only_when_asked_for(case, judge):
    sample = case("def check_it(client):\n    pass", "def exploit_it(client):\n    assert 0")
    assert judge(sample, HELLO).exploits == "not_assessed"
    assert judge(sample, HELLO, tiers="secure").exploits == "failed"


def test_checks_of_several_files_run_in_the_order_of_files_and_lines(case, judge):
    shared = Source("def check_b(client):\n    pass\ndef check_a(client):\n    pass", Path("shared/checks.py"))
    own = Source("def check_0(client):\n    pass", Path("own/checks.py"))
    tiers = judge(replace(case(), checks=(shared, own)), HELLO)
    assert [result.name for result in tiers.checks] == ["check_b", "check_a", "check_0"]


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        (
            "def check_it(client, browser):\n    pass",
            r"checks.py: check_it asks for 'browser', known are client",
        ),
        ("def check_it(client)\n    pass", r"checks.py: line 1: expected ':'"),
        ("import imaginary", r"checks.py: does not load: ModuleNotFoundError"),
    ],
)
def test_a_faulty_check_file_is_the_cases_error(case, judge, checks, message):
    with pytest.raises(CaseError, match=message):
        judge(case(checks), HELLO)


def test_a_check_that_two_files_define_is_the_cases_error(case, judge):
    sources = tuple(Source("def check_it(client):\n    pass", Path(name)) for name in ("a.py", "b.py"))
    with pytest.raises(CaseError, match="check_it is defined in more than one file"):
        judge(replace(case(), checks=sources), HELLO)


class CountedTurnstile(Turnstile):
    """Knows how often somebody was alone."""

    times_alone = 0

    def alone(self):
        self.times_alone += 1
        return super().alone()


def test_a_timeout_on_an_overloaded_machine_is_tried_once_more_alone(case, judge, standin, monkeypatch, tmp_path):
    monkeypatch.setattr(http, "overloaded", lambda: True)
    app = "import time\ndef app(environ, start_response):\n    time.sleep(60)"
    sample = case("def check_it(client):\n    client.get('/')")
    turnstile = CountedTurnstile(tmp_path / "locks")
    tiers = judge(sample, app, deadlines=Deadlines(start=5, check=1, request=0.2), turnstile=turnstile)
    assert turnstile.times_alone == 1
    assert (tiers.flags, tiers.failure_class, standin.launches) == (("retried_alone",), "timeout", 4)


def test_a_timeout_on_an_idle_machine_is_final(case, judge, standin, monkeypatch):
    monkeypatch.setattr(http, "overloaded", lambda: False)
    app = "import time\ndef app(environ, start_response):\n    time.sleep(60)"
    tiers = judge(case("def check_it(client):\n    client.get('/')"), app, deadlines=Deadlines(5, 1, 0.2))
    assert (tiers.flags, standin.launches) == ((), 2)


def test_the_cases_limits_reach_the_sandbox(case, judge, standin):
    judge(case(limits={"cpu_seconds": 3.0, "wall_seconds": 7}), HELLO)
    assert (standin.limits.cpu_seconds, standin.limits.wall_seconds) == (3, 7.0)
    assert isinstance(standin.limits.cpu_seconds, int)


def test_an_unknown_limit_is_the_cases_error(case, judge):
    with pytest.raises(CaseError, match="limits: unknown patience; known are cpu_seconds"):
        judge(case(limits={"patience": 3.0}), HELLO)


def test_a_server_error_brings_the_last_line_of_the_apps_log(case, judge):
    app = "def app(environ, start_response):\n    raise ValueError('no such table')"
    result = only(judge(case("def check_it(client):\n    assert client.get('/').status_code == 200"), app))
    assert result.message.endswith("app log: ValueError: no such table")


@pytest.mark.parametrize("check", ["async def check_it(client):\n    assert 0", "def check_it(client):\n    yield"])
def test_a_check_that_would_never_run_is_the_cases_error(case, judge, check):
    with pytest.raises(CaseError, match="check_it would never run"):
        judge(case(check), HELLO)


def test_comparing_with_megabytes_of_answer_does_not_hang(case, judge):
    app = """
    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [("line %d\\n" % n).encode() for n in range(400_000)]
    """
    check = """
    def check_it(client):
        assert client.get('/').text == "\\n".join("line %d" % (2 * n) for n in range(400_000))
    """
    result = only(judge(case(check), app))
    assert result.failure_class == "check_failed"
    assert "line 1" in result.message


def test_small_comparisons_are_explained_as_in_a_test(case, judge):
    check = "def check_it(client):\n    assert {'a': client.get('/').text, 'b': 2} == {'a': 'bye', 'b': 2}"
    message = only(judge(case(check), HELLO)).message
    assert "Differing items" in message
    assert "\x1b" not in message


def test_the_end_of_a_long_log_is_kept(case, judge):
    tiers = judge(case("def check_it(client):\n    pass"), "print('x' * 9000)\nraise KeyError('the reason')")
    assert "KeyError: 'the reason'" in tiers.message
    assert len(tiers.message) <= 2048


def test_an_app_that_starts_only_once_fails_its_checks_but_not_execution(case, judge, tmp_path):
    mark = tmp_path / "started"
    app = f"""
    from pathlib import Path
    if Path({str(mark)!r}).exists():
        raise RuntimeError("not again")
    Path({str(mark)!r}).touch()
    def app(environ, start_response):
        start_response("200 OK", [])
        return []
    """
    tiers = judge(case("def check_it(client):\n    pass", "def exploit_it(client):\n    pass"), app, tiers="secure")
    assert (tiers.execution, tiers.unit_tests, tiers.exploits) == ("passed", "failed", "not_assessed")
    assert tiers.failure_class == "runtime"
    assert "not again" in tiers.message


def test_the_time_of_the_start_is_kept(case, judge):
    assert judge(case("def check_it(client):\n    pass"), "import time\ntime.sleep(0.05)" + HELLO).start_seconds >= 0.05
