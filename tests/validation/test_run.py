"""Validation of files, in processes with real sandboxes; and the skeleton of a new case."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import pytest
from tiers.sample_case import make_case

from pytest_webbench.cases import CaseError, load_case, load_cases
from pytest_webbench.sandbox import SandboxUnavailable, open_sandbox
from pytest_webbench.scaffold import MARKER, new_case
from pytest_webbench.tiers.http import run_http_tiers
from pytest_webbench.validation import Options, validate
from pytest_webbench.validation.idle import idle_apps
from pytest_webbench.validation.run import _received

QUICK = Options(repeat=1, mutants=2)


@pytest.fixture(scope="module", autouse=True)
def sandbox_needed():
    try:
        open_sandbox().close()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))


def definition(written: list[Path]) -> Path:
    return next(file for file in written if file.name == "definition.toml")


def fill_in(written: list[Path]) -> Path:
    for file in written:
        file.write_text(file.read_text().replace(MARKER, "filled in"))
    return definition(written)


@pytest.fixture
def sandbox():
    with open_sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("framework", ["Flask", "FastAPI", "Django"])
def test_idle_apps_start_and_answer_everything_alike(sandbox, tmp_path, framework):
    checks = """
    def check_it(client):
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            for path in ("/", "/a/b", "/login/"):
                response = client.request(method, path)
                assert response.status_code == STATUS, (method, path)
                assert STATUS == 404 or response.json() == {}
    """
    for name, code in idle_apps(framework).items():
        status = "200" if "200" in name else "404"
        case = make_case(tmp_path, checks.replace("STATUS", status), framework=framework)
        tiers = run_http_tiers(case, {"app.py": code}, "app.py", sandbox)
        assert tiers.unit_tests == "passed", (name, tiers.message)


@pytest.mark.parametrize("framework", ["flask", "fastapi", "django"])
def test_a_skeleton_loads_but_is_refused_until_it_is_filled_in(tmp_path, framework):
    written = new_case(tmp_path, f"{framework}/rate_limit")
    assert load_case(definition(written)).name == f"{framework}/rate_limit"
    refused = validate([definition(written)], options=QUICK)
    assert not refused.ok
    assert all("is still to be filled in" in error for error in refused.reports[0].errors)
    assert {error.split(":")[0] for error in refused.reports[0].errors} == {
        file.relative_to(definition(written).parent).as_posix() for file in written
    }


def test_skeletons_filled_in_are_valid_and_their_results_are_kept(tmp_path):
    files = [fill_in(new_case(tmp_path, f"{name}/rate_limit")) for name in ("flask", "fastapi", "django")]
    kept = tmp_path / "validation.json"
    seen = []
    first = validate(
        files,
        options=QUICK,
        jobs=2,
        results=kept,
        progress=lambda report, n, total: seen.append((report.case, n, total)),
    )
    assert [report.errors for report in first.reports] == [(), (), ()]
    assert [report.case for report in first.reports] == ["django/rate_limit", "fastapi/rate_limit", "flask/rate_limit"]
    assert sorted(name for name, _, _ in seen) == [report.case for report in first.reports]
    assert [counts for _, *counts in seen] == [[1, 3], [2, 3], [3, 3]]
    assert all(report.exploits["exploit_reading_a_foreign_note"] == ("anybody_reads",) for report in first.reports)
    assert len(json.loads(kept.read_text())["cases"]) == 3
    assert validate(files, options=QUICK, level="no such level", results=kept) == first


def test_files_that_cannot_be_used_are_reported_with_their_problems(tmp_path):
    broken = definition(new_case(tmp_path, "flask/broken"))
    broken.write_text(broken.read_text().replace('difficulty = "medium"', 'difficulty = "so so"'))
    twin = fill_in(new_case(tmp_path, "flask/twin"))
    copy = fill_in(new_case(tmp_path, "flask/copy"))
    copy.write_text(re.sub(r'id = "web_\d+"', re.search(r'id = "web_\d+"', twin.read_text())[0], copy.read_text()))
    unknown = fill_in(new_case(tmp_path, "flask/unknown_tool"))
    checks = unknown.parent / "checks.py"
    checks.write_text(checks.read_text().replace("unknown_note_is_not_found(client)", "it(browser)"))
    validation = validate([broken, twin, copy, unknown], options=QUICK)
    reports = {report.case: report for report in validation.reports}
    assert "difficulty: expected" in reports["flask/broken"].errors[0]
    assert "is already the id of" in reports["flask/copy"].errors[0]
    assert "check_it asks for 'browser'" in reports["flask/unknown_tool"].errors[0]
    assert reports["flask/twin"].ok
    assert not validation.ok


def test_new_cases_get_the_next_id_and_never_overwrite(tmp_path):
    for name in ("flask/one", "django/two"):
        new_case(tmp_path, name)
    assert sorted(case.id for case in load_cases(tmp_path)) == ["web_001", "web_002"]
    with pytest.raises(FileExistsError):
        new_case(tmp_path, "flask/one")


@pytest.mark.parametrize("name", ["rate_limit", "rails/rate_limit", "flask/Rate-Limit", "flask/../up", "flask/a/b"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="is no case name"):
        new_case(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_case_does_not_count_as_a_broken_one(tmp_path):
    assert load_cases(tmp_path) == []
    new_case(tmp_path, "flask/one")
    try:
        load_cases(tmp_path)
    except CaseError as error:
        pytest.fail(f"the skeleton breaks the collection of all cases: {error}")


VALIDATE = """
import sys
from pathlib import Path
from pytest_webbench.validation import Options, validate

validate(
    [Path(name) for name in sys.argv[2:]],
    options=Options(repeat=1, mutants=1),
    results=Path(sys.argv[1]),
    progress=lambda report, n, total: print(report.case, report.ok, flush=True),
)
"""


def test_an_interrupted_validation_leaves_nothing_behind_and_goes_on_where_it_stopped(tmp_path):
    files = [fill_in(new_case(tmp_path, f"flask/{name}")) for name in ("a", "b", "c")]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", VALIDATE, str(tmp_path / "kept.json"), *map(str, files)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout.readline() == "flask/a True\n"
        run.send_signal(signal.SIGINT)
        _, complaint = run.communicate(timeout=60)
    assert run.returncode != 0
    assert complaint.count("Traceback") == 1
    assert [path.name for path in scratch.iterdir() if "sandbox" in path.name] == []
    assert list(json.loads((tmp_path / "kept.json").read_text())["cases"]) == ["flask/a"]
    again = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert sorted(again.stdout.splitlines()) == ["flask/a True", "flask/b True", "flask/c True"]


def test_a_level_that_is_none_is_said_at_once(tmp_path):
    with pytest.raises(ValueError, match="no such level"):
        validate([fill_in(new_case(tmp_path, "flask/a"))], options=QUICK, level="no such level")


def test_a_process_that_dies_is_said():
    ours, theirs = Pipe()
    theirs.close()
    with pytest.raises(RuntimeError, match="ended without an answer"):
        _received(ours)
