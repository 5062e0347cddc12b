"""The reports of a small recorded run of four models, as they were when somebody last looked at them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from made import describe, many, records, write_run
from syrupy.assertion import SnapshotAssertion

from pytest_webbench.cli import main
from pytest_webbench.gate import Gate, parse_rule
from pytest_webbench.records import Check
from pytest_webbench.reports.files import write_run_reports
from pytest_webbench.reports.terminal import flags, leaderboard, verdict_lines
from pytest_webbench.reports.worst import worst_cases
from pytest_webbench.runs import Runs, open_runs
from pytest_webbench.statistics.summary import summarise, summarise_samples

RECORDED = Path(__file__).parent / "data" / "run"
TEXTS = ("leaderboard.csv", "by_framework.csv", "by_template.csv", "samples.csv", "midpoint_scores.txt")
PARTS = ("csv", "json", "markdown")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RECORDED, tmp_path / "reports" / "runs" / "four-models"))


def written(folder: Path) -> Runs:
    """Write the reports of a run folder but for page and plots."""
    runs = open_runs([folder])
    samples = runs.samples()
    write_run_reports(folder, summarise_samples(runs.run_id, samples), samples, records=list, only=PARTS)
    return runs


def webbench(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "160"}).invoke(main, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("name", ["summary.md", *TEXTS])
def test_the_files_are_as_recorded(folder: Path, name: str, snapshot: SnapshotAssertion) -> None:
    written(folder)
    assert (folder / name).read_text("utf-8") == snapshot


def test_the_json_is_as_recorded(folder: Path, snapshot: SnapshotAssertion) -> None:
    written(folder)
    assert json.loads((folder / "summary.json").read_text("utf-8")) == snapshot


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_is_as_recorded(folder: Path, width: int, snapshot: SnapshotAssertion) -> None:
    runs = open_runs([folder])
    summary = summarise_samples(runs.run_id, runs.samples())
    text = "\n".join([leaderboard(summary, width), *worst_cases(summary, runs.records(), width)])
    assert max(len(line) for line in text.splitlines()) <= width
    assert "\n".join([text, *flags(summary)]) == snapshot


def test_the_worst_cases_tell_their_first_failing_check() -> None:
    checks = (
        Check("check_the_list_is_empty", "unit_tests", passed=True),
        Check("check_a_name", "unit_tests", passed=False, message="got 500,\n expected 400"),
        Check("check_a_date", "unit_tests", passed=False, message="got 404, expected 200"),
    )
    rows = [replace(row, checks=() if row.status == "passed" else checks)
            for row in records({"flask/a": [True, True], "flask/b": [True, False], "flask/c": [False, False]})]  # fmt: skip
    assert worst_cases(summarise("r", rows), rows, 100) == [
        "flask/c: 0 of 2 passed; m sample-0: check_a_name: got 500, expected 400",
        "flask/b: 1 of 2 passed; m sample-1: check_a_name: got 500, expected 400",
    ]


def test_a_report_names_the_worst_cases_of_a_run(folder: Path) -> None:
    runs = open_runs([folder])
    wanted = worst_cases(summarise_samples(runs.run_id, runs.samples()), runs.records(), 160)
    _, output = webbench("report", folder, "--only", "csv")
    assert len(wanted) == 5
    assert "\n".join(wanted) in output


def test_there_are_at_most_five_worst_cases_and_none_of_a_run_that_passed_or_has_one_case() -> None:
    for rows, count in ((many(9, 0.0, 1), 5), (many(9, 1.0, 1), 0), (many(1, 0.0, 3), 0)):
        assert len(worst_cases(summarise("r", rows), rows, 80)) == count


def test_the_gate_in_the_terminal_is_as_recorded(folder: Path, snapshot: SnapshotAssertion) -> None:
    rules = (parse_rule("fail-under", "functional_pass_at_1[Flask]=0.5"), parse_rule("fail-under", "points=60"))
    verdict = Gate(rules, None).judge(open_runs([folder]).samples())
    assert verdict is not None
    assert "\n".join(verdict_lines(verdict)) == snapshot


def test_the_order_of_arrival_changes_no_byte(folder: Path) -> None:
    """E039"""
    written(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "records.jsonl"}
    lines = (folder / "records.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[::-1]), "utf-8")
    written(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "records.jsonl"} == before


def test_unknown_is_never_zero_and_zero_never_unknown(tmp_path: Path) -> None:
    """E027, E028"""
    none = write_run(tmp_path / "none", records({"flask/a": [None]}))
    zero = write_run(tmp_path / "zero", records({"flask/a": [False]}))
    written(none)
    written(zero)
    assert "| m | 0 | 0 % | n/a | n/a |" in (none / "summary.md").read_text()
    assert "| 0.000 [0.00, 0.79] |" in (zero / "summary.md").read_text()


def test_a_share_of_the_cases_is_said_beside_its_rate(tmp_path: Path) -> None:
    """E001"""
    run = write_run(tmp_path / "r", records({f"flask/{n}": [True if n < 20 else None] for n in range(60)}))
    _, output = webbench("report", run, "--only", "csv")
    assert (
        "m: 40 of 60 samples not judged (40 infrastructure); 1.000 is of 20 samples in 20 cases, 0.333 to 1.000 of all"
    ) in output


def test_only_what_is_asked_for_is_written(folder: Path) -> None:
    assert webbench("report", folder, "--only", "markdown")[0] == 0
    names = {path.name for path in folder.iterdir()}
    assert "summary.md" in names
    assert names.isdisjoint({"summary.json", "samples.csv", "index.html"})


def test_shards_are_merged_into_a_run_of_their_own(tmp_path: Path) -> None:
    rows = many(4, 0.5, 2)
    cases = describe(rows)["cases"]
    shards = [
        write_run(tmp_path / f"s{index}", rows[4 * index : 4 * index + 4], shard=f"{index + 1}/2", cases=cases)
        for index in (0, 1)
    ]
    code, output = webbench("report", *shards, "--out", tmp_path / "whole", "--only", "csv")
    assert code == 0, output
    assert sorted(open_runs([tmp_path / "whole"]).description["merged"]) == ["s0", "s1"]
    assert len(open_runs([tmp_path / "whole"]).samples()) == 8


@pytest.mark.parametrize(
    ("first", "second", "changes", "message"),
    [
        (many(2, 1.0, 2), many(2, 1.0, 2), {}, "in more than one run: flask/c000 m web_expert sample-0 (again in b)"),
        (many(2, 1.0, 2)[:2], many(2, 1.0, 2)[3:], {}, "in none of the runs: flask/c001 m web_expert sample-0"),
        (many(1, 1.0, 2), many(2, 1.0, 2)[2:], {"shard": "3/3"}, "missing: shard 1/3, 2/3 of m"),
        (many(1, 1.0, 2), many(2, 1.0, 2, model_id="acme/other")[2:], {},
         "runs a and b cannot be merged: m has model_id acme/m in one and acme/other in the other"),
        (many(1, 1.0, 2), many(1, 1.0, 2, model="n", case_version="2.0"), {},
         "runs a and b cannot be merged: flask/c000 has version 1.0 in one and 2.0 in the other"),
    ],
    ids=["duplicate", "gap", "missing shards", "one name, two models", "two versions of a case"],
)  # fmt: skip
def test_runs_that_do_not_fit_together_are_refused_by_name(
    tmp_path: Path,
    first: list,
    second: list,
    changes: dict[str, str],
    message: str,  # type: ignore[type-arg]
) -> None:
    a, b = write_run(tmp_path / "a", first), write_run(tmp_path / "b", second, **changes)
    for command in (("report",), ("gate", "--fail-under", "points=1")):
        code, output = webbench(*command, a, b)
        assert code == 4
        assert message in output


def test_two_runs_are_compared_with_flips(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", records({"flask/up": [False], "flask/down": [True], "django/same": [True]}))
    b = write_run(tmp_path / "b", records({"flask/up": [True], "flask/down": [False], "django/same": [True]}))
    code, output = webbench("compare", a, b)
    assert code == 0
    assert "cases that changed: 2 of 3" in output
    assert [line.split()[0] for line in output.splitlines()[-2:]] == ["flask/down", "flask/up"]
    change = json.loads(webbench("compare", a, b, "--json")[1])
    assert change["models"][0]["overall"]["points"]["worse"] == ["flask/down"]


def test_a_run_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    code, output = webbench("report", tmp_path / "r")
    assert (code, output.count("\n")) == (4, 1)
    assert "run.json: No such file or directory" in output
