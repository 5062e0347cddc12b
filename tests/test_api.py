"""The functions that a Python program calls."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loopback import Loopback, error
from project import records, run_json, write_case, write_dataset

import pytest_webbench
from pytest_webbench import load_cases, load_records, run_benchmark, validate_definition
from pytest_webbench.ledger import read_run
from pytest_webbench.options import SettingsError
from pytest_webbench.validation import Options

STATIC = {"tier": "static", "samples": 2}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_case(tmp_path, "alpha", difficulty="hard")
    write_case(tmp_path, "beta")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def served(root: Path, server: Loopback) -> None:
    table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{server.url}'\n"
    (root / "webbench.toml").write_text(table, "utf-8")


def test_every_public_name_is_there_and_importing_the_package_is_cheap() -> None:
    for name in pytest_webbench.__all__:
        assert getattr(pytest_webbench, name) is not None
    code = "import sys, pytest_webbench; sys.exit('numpy' in sys.modules or 'pytest_webbench.driver' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_reference_passes_all_of_its_cases(project: Path) -> None:
    noted = []
    summary = run_benchmark("reference", samples=1, note=noted.append)
    (row,) = summary.by_model
    assert (row.expected, row.n, row.passed) == (2, 2, 2)
    assert row.metrics["functional_pass_at_1"].value == 1.0
    assert [record.case_name for record in noted] == ["flask/alpha", "flask/beta"]
    assert all(record.sandbox for record in noted)


def test_it_leaves_what_a_run_of_pytest_leaves(project: Path) -> None:
    run_benchmark(["reference"], "cases", 2, ["web_expert"], tier="static")
    command = [sys.executable, "-m", "pytest", "-q", "cases", "--model=reference", "--webbench-samples=2",
               "--webbench-tiers=static", "--webbench-report-dir=other", "-p", "no:cacheprovider"]  # fmt: skip
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    (project / "other").rename(project / "by_pytest")
    ours, theirs = project / "reports" / "latest", project / "by_pytest" / "latest"
    assert {path.name for path in theirs.iterdir()} == {path.name for path in ours.iterdir()}
    assert (project / "by_pytest" / "benchmark.json").exists() == (project / "reports" / "benchmark.json").exists()
    found = [load_records(folder / "records.jsonl") for folder in (ours, theirs)]
    same = [[(record.node_id, record.completion_key, record.status, record.points) for record in one] for one in found]
    assert same[0] == same[1]


def test_a_second_run_asks_nothing(project: Path) -> None:
    with Loopback() as server:
        served(project, server)
        first = run_benchmark("some", **STATIC)
        again = run_benchmark("some", **STATIC)
        assert len(server.log) == 4
    assert first.run_id != again.run_id
    assert {record["from_store"] for record in records(project)} == {True}
    assert again.by_model[0].metrics == first.by_model[0].metrics


def test_models_templates_and_chosen_cases(project: Path) -> None:
    (project / "manners").mkdir()
    (project / "manners" / "mine.toml").write_text('description = "d"\nuser = "Do: {prompt}"\n', "utf-8")
    hard = [case for case in load_cases("cases") if case.difficulty == "hard"]
    with Loopback() as server:
        served(project, server)
        summary = run_benchmark(
            ["some", "reference"], hard, 1, ["web_expert", "mine"], temperature=0.3, tier="static",
            template_folder="manners",
        )  # fmt: skip
    assert [row.key for row in summary.by_template] == [
        ("reference", "mine"), ("reference", "web_expert"), ("some", "mine"), ("some", "web_expert"),
    ]  # fmt: skip
    assert {case for case, *_ in run_json(project)["expected"]} == {"flask/alpha"}
    assert {body["temperature"] for body in server.bodies} == {0.3}


def test_a_lasting_error_of_a_model_shows_in_the_summary(project: Path) -> None:
    with Loopback(answer=lambda seen: error(401, "bad key")) as server:
        served(project, server)
        summary = run_benchmark("some", **STATIC)
    (row,) = summary.by_model
    assert (row.n, row.config, row.coverage) == (0, 4, 0.0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"models": "nobody"}, "unknown model 'nobody'"),
        ({"models": "llama"}, "NIM_API_KEY"),
        ({"models": "reference", "templates": "nothing"}, "unknown template 'nothing'"),
        ({"models": "reference", "cases": []}, "no case in"),
        ({"models": "reference", "samples": 0}, "at least 1"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_done_is_said_before_the_first_call(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        run_benchmark(**arguments)
    assert not Path("reports").exists()


def test_offline_asks_no_model(project: Path) -> None:
    with Loopback() as server:
        served(project, server)
        summary = run_benchmark("some", offline=True, **STATIC)
        assert not server.log
    assert summary.by_model[0].infrastructure == 4


def test_nothing_goes_on_once_it_is_done(project: Path) -> None:
    with Loopback() as server:
        served(project, server)
        run_benchmark("some", **STATIC)
    assert not [thread for thread in threading.enumerate() if thread.name == "webbench-fetch"]


def test_an_interrupted_run_keeps_what_it_had(project: Path) -> None:
    def stop(record: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark("reference", note=stop, **STATIC)
    (folder,) = (project / "reports" / "runs").iterdir()
    statuses = [record.failure_class for record in read_run(folder).records]
    assert statuses == [None, "lost", "lost", "lost"]


def test_a_definition_is_validated() -> None:
    folder = Path(__file__).parents[1] / "cases" / "flask" / "article_pages"
    report = validate_definition(folder / "definition.toml", options=Options(repeat=2, mutants=1))
    assert report.ok
    assert (report.case, report.repetitions, report.mutants) == ("flask/article_pages", 2, 1)
    assert report.wrong.keys() == {file.stem for file in (folder / "wrong").glob("*.py")}


@pytest.mark.usefixtures("project")
def test_what_a_case_lacks_is_an_error_of_its_report() -> None:
    report = validate_definition("cases/flask/alpha")
    assert not report.ok
    assert "there is no wrong solution" in report.errors[0]


def test_a_broken_definition_is_a_report_with_errors(project: Path) -> None:
    path = project / "cases" / "flask" / "alpha" / "definition.toml"
    path.write_text(path.read_text("utf-8").replace('difficulty = "hard"', 'difficulty = "terrible"'), "utf-8")
    report = validate_definition(path)
    assert not report.ok
    assert "difficulty" in report.errors[0]


def test_only_one_definition_is_validated(project: Path) -> None:
    with pytest.raises(ValueError, match="expected the folder of one case"):
        validate_definition("cases")
    write_dataset(project, 3)
    with pytest.raises(ValueError, match="expected the folder of one case"):
        validate_definition("dataset.json")
