"""The gate in a session: its exit status alone, under -n and beside other plugins, and what it leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Loopback, Scripted, Seen, completion
from project import PYTEST, records, write_case

Bench = Callable[..., pytest.RunResult]
STATIC = "--webbench-tiers=static"
GOOD = "```python\nfrom flask import Flask\napp = Flask(__name__)\n\n@app.get('/')\ndef index():\n    return 'ok'\n```"
BAD = "```python\nfrom flask import Flask\napp = Flask(__name__\n```"
SOME = ("--model=some", "--webbench-samples=10", STATIC)
MET, MISSED = "--webbench-fail-under=pass_at_1=0.5", "--webbench-fail-under=pass_at_1=0.9"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the run `before` of a model that got alpha right and beta wrong."""
    root = tmp_path_factory.mktemp("answered")
    (root / "pytest.ini").write_text("[pytest]\ntestpaths = cases\n", "utf-8")
    write_case(root, "alpha", difficulty="hard")
    write_case(root, "beta", category="auth", tags=("smoke",))

    def answer(seen: Seen) -> Scripted:
        return completion(GOOD if "GET /alpha " in str(seen.body) else BAD)

    with Loopback(answer=answer) as server:
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{server.url}'\n"
        (root / "webbench.toml").write_text(table, "utf-8")
        assert pytested(root, "--model=some", "--webbench-run-id=before").returncode == 1
    return root


@pytest.fixture
def half(answered: Path, pytester: pytest.Pytester) -> Path:
    """That project as the current folder, with its answers in the store and nobody to ask."""
    return shutil.copytree(answered, pytester.path, symlinks=True, dirs_exist_ok=True)


def test_failing_samples_alone_do_not_fail_a_run_with_a_gate(
    half: Path, bench: Bench, workers: tuple[str, ...]
) -> None:
    result = bench(*SOME, MET, *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gate: PASS: 1 model met 1 rule"])


def test_a_missed_limit_exits_10_beside_other_plugins(half: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    result = bench(*SOME, MISSED, "--json-report", "--junitxml=j.xml", "-p", "syrupy", *workers)
    assert result.ret == 10
    result.stdout.fnmatch_lines(["gate: FAIL: some: fail-under pass_at_1=0.9: pass_at_1 of 0.5 is below 0.9"])
    assert json.loads((half / ".report.json").read_text())["exitcode"] == 10
    properties = {one.get("name"): one.get("value") for one in ET.parse(half / "j.xml").iter("property")}
    assert properties["webbench_gate"] == "fail"


def test_the_verdict_is_in_the_reports_and_in_the_ci_summary(
    half: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = half / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    bench(*SOME, MISSED)
    latest = half / "reports" / "latest"
    gate = json.loads((latest / "summary.json").read_text())["gate"]
    assert (gate["outcome"], gate["exit_status"]) == ("fail", 10)
    assert "## Gate: fail" in (latest / "summary.md").read_text()
    assert page.read_text().strip() == (latest / "summary.md").read_text().strip()


def test_missing_answers_are_inconclusive(half: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    more = ("--model=some", "--webbench-samples=20", STATIC, "--webbench-offline")
    result = bench(*more, MET, *workers)
    assert result.ret == 11
    result.stdout.fnmatch_lines(["gate: INCONCLUSIVE: *between 0.25 and 0.75 whatever the missing samples are*"])


def test_a_run_like_its_baseline_drops_by_nothing(half: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    baseline = ("--webbench-baseline=reports/runs/before", "--webbench-max-drop=pass_at_1=0")
    result = bench(*SOME, *baseline, *workers)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["some: pass_at_1 +0.000 [[]+0.000, +0.000[]] against the baseline (2 cases, *"])


def test_a_real_drop_exits_10_against_runs_and_against_benchmark_json(half: Path, bench: Bench) -> None:
    bench("--model=reference", "--webbench-samples=10", STATIC, "--webbench-run-id=oracle")
    drop = ("--webbench-max-drop=pass_at_1=0.05", "--webbench-baseline-common")
    for baseline in ("reports/runs/oracle", "reports/benchmark.json"):
        named = ("--webbench-baseline-model=reference", f"--webbench-baseline={baseline}", "-k", "beta or alpha")
        result = bench(*SOME, *drop, *named)
        assert result.ret in (10, 11)
        result.stdout.fnmatch_lines(["some: pass_at_1 -0.500 *"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--webbench-max-drop=pass_at_1=0.1",), "*max-drop pass_at_1=0.1: a drop needs a baseline*"),
        (("--webbench-fail-under=pass=0.1",), "*--webbench-fail-under: unknown metric 'pass'; known: pass_at_1, *"),
        (("--webbench-baseline=nothing",), "*baseline *nothing: no such file or run folder"),
        (("--webbench-baseline=old.json",), "*old.json: case web_alpha, model some: parameters, *missing*"),
        (("--webbench-baseline=reports/runs/before", "--webbench-baseline-model=x"), "*no model 'x'; it has some*"),
    ],
    ids=["no baseline", "unknown metric", "absent baseline", "baseline without settings", "unknown baseline model"],
)
def test_what_cannot_be_used_is_known_before_the_first_call(
    half: Path, bench: Bench, arguments: tuple[str, ...], message: str
) -> None:
    old = [{"id": "web_alpha", "scores": {"acme/some": {"alias": "some", "pass_at_1": 1.0, "n": 10}}}]
    (half / "old.json").write_text(json.dumps(old), "utf-8")
    result = bench(*SOME, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-k", "alpha"), "*cases only in the baseline: flask/beta"),
        (("--webbench-prompt=as_is",), "*templates: web_expert -> as_is"),
        (("--webbench-temperature=0.1",), "*temperature: 0.8 -> 0.1"),
    ],
)
def test_a_run_unlike_its_baseline_is_refused_before_the_first_call(
    half: Path, bench: Bench, workers: tuple[str, ...], arguments: tuple[str, ...], message: str
) -> None:
    result = bench(*SOME, "--webbench-baseline=reports/runs/before", *arguments, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*not like this run; --webbench-baseline-common compares*", message])
    result.stdout.no_fnmatch_line("*cases selected*")
    assert records(half, "before")
    assert len(list((half / "reports" / "runs").iterdir())) == 1


def test_another_case_version_is_refused(half: Path, bench: Bench) -> None:
    definition = half / "cases" / "flask" / "alpha" / "definition.toml"
    definition.write_text(definition.read_text().replace('version = "1.0"', 'version = "1.1"'))
    result = bench(*SOME, "--webbench-baseline=reports/runs/before")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*case versions: flask/alpha 1.0 -> 1.1"])


def test_an_ordinary_failing_test_and_an_empty_selection_keep_their_status(half: Path, bench: Bench) -> None:
    (half / "test_other.py").write_text("def test_no(): assert False", "utf-8")
    assert bench(*SOME, MET, "cases", "test_other.py").ret == 1
    assert bench(*SOME, MET, "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_finished_runs_are_judged_by_the_same_rules_without_a_call(half: Path, pytester: pytest.Pytester) -> None:
    def webbench(*arguments: str) -> pytest.RunResult:
        return pytester.run(sys.executable, "-m", "pytest_webbench", *arguments)

    assert webbench("gate", "before", "--fail-under", "pass_at_1=0.5").ret == 0
    assert webbench("gate", "before", "--fail-under", "pass_at_1=0.9").ret == 10
    assert webbench("gate", "before", "--baseline", "before", "--max-drop", "pass_at_1=0").ret == 0
    assert webbench("gate", "before", "--max-drop", "pass_at_1=0").ret == 4
    assert webbench("gate", "before").ret == 4
    twice = webbench("gate", "before", "before", "--fail-under", "pass_at_1=0.5")
    assert twice.ret == 4
    twice.stderr.fnmatch_lines(["error: in more than one run: flask/alpha some web_expert sample-0 *"])


BESIDE = {
    "alone": (),
    "two workers": ("-n", "2"),
    "beside other plugins": (
        "-p",
        "syrupy",
        "-p",
        "html",
        "--json-report",
        "--html=page.html",
        "--self-contained-html",
    ),
}
BEFORE = ("--webbench-baseline=reports/runs/good", "--webbench-baseline-model=good")
LIMIT = "--webbench-max-drop=pass_at_1=0.05"
TABLE = {
    "identical": ("good", (*BEFORE, LIMIT), 0, "gate: PASS: 1 model met 1 rule"),
    "real drop": ("bad", (*BEFORE, LIMIT), 10, "gate: FAIL: bad: *pass_at_1 dropped by 1 *is more than 0.05*"),
    "within noise": ("noisy", (*BEFORE, LIMIT), 11, "gate: INCONCLUSIVE: noisy: *may or may not be more than 0.05*"),
    "too few": ("good", (*BEFORE, LIMIT, "--webbench-samples=1"), 11, "gate: INCONCLUSIVE: good: *"),
    "missing case": ("good", (*BEFORE, LIMIT, "-k", "not alpha"), 4, "*cases only in the baseline: flask/alpha*"),
    "other template": ("good", (*BEFORE, LIMIT, "--webbench-prompt=as_is"), 4, "*templates: web_expert -> as_is*"),
    "other version": ("good", (*BEFORE, LIMIT, "renewed"), 4, "*case versions: flask/beta 1.0 -> 1.1*"),
    "all infrastructure": ("down", (*BEFORE, LIMIT), 11, "gate: INCONCLUSIVE: down: *measured on no case of both*"),
    "infrastructure, lower limit": (
        "down",
        ("--webbench-fail-under=pass_at_1=0.1",),
        11,
        "gate: INCONCLUSIVE: down: *",
    ),
    "empty selection": ("good", (*BEFORE, LIMIT, "-k", "nothing"), 5, "webbench: 0 of 4 cases selected by -k nothing"),
    "absent baseline": ("good", ("--webbench-baseline=reports/runs/old", LIMIT), 4, "*no such file or run folder*"),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with answers of three models in its store, one that no server answers, and the run `good`."""
    root = tmp_path_factory.mktemp("judged")
    (root / "pytest.ini").write_text("[pytest]\ntestpaths = cases\n", "utf-8")
    names = ("alpha", "beta", "gamma", "delta")
    for name in names:
        write_case(root, name)
    wrong: set[str] = set()

    def answer(seen: Seen) -> Scripted:
        model, prompt = seen.body["model"], str(seen.body["messages"])
        first = model == "noisy" and prompt not in wrong
        wrong.update({prompt} if model == "noisy" else ())
        return completion(BAD if model == "bad" or first else GOOD)

    with Loopback(answer=answer) as server:
        table = "[models.{0}]\nprovider = 'openai'\nmodel = '{0}'\nbase_url = '{1}'\n"
        text = "".join(table.format(model, server.url) for model in ("good", "bad", "noisy", "down"))
        (root / "webbench.toml").write_text(text, "utf-8")
        for model in ("good", "bad", "noisy"):
            assert pytested(root, f"--model={model}", f"--webbench-run-id={model}").returncode in (0, 1)
    return root


def pytested(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [*PYTEST, "--webbench-samples=10", STATIC, *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("situation", TABLE)
def test_only_what_was_measured_and_holds_passes(judged: Path, tmp_path: Path, situation: str, beside: str) -> None:
    model, arguments, status, said = TABLE[situation]
    root = shutil.copytree(judged, tmp_path / "project")
    if "renewed" in arguments:
        arguments = tuple(one for one in arguments if one != "renewed")
        definition = root / "cases" / "flask" / "beta" / "definition.toml"
        definition.write_text(definition.read_text().replace('version = "1.0"', 'version = "1.1"'))
    result = pytested(root, f"--model={model}", "--webbench-offline", *arguments, *BESIDE[beside])
    assert result.returncode == status, result.stdout + result.stderr
    lines = pytest.LineMatcher((result.stdout + result.stderr).splitlines())
    lines.fnmatch_lines([said])
    if beside == "beside other plugins" and status in (0, 10, 11):
        assert json.loads((root / ".report.json").read_text())["exitcode"] == status
        assert (root / "page.html").exists()
