"""`webbench scan`: settings tried on one case, the best few on all, and what can be said of them."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import Loopback, Scripted, completion, error
from made import record
from project import REFERENCE, write_case

from pytest_webbench.cases import load_cases
from pytest_webbench.model_table import ModelEntry
from pytest_webbench.models import Parameters
from pytest_webbench.options import SettingsError
from pytest_webbench.records import Record, load_records
from pytest_webbench.reports.scans import scan_lines, scan_table, write_scan
from pytest_webbench.scan import at, drawn, every, hardest, named, parse_axes, settings_of
from pytest_webbench.selection import Model
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.scans import ScanResult, holm, ranked, scan_result

NAMES = ("alpha", "beta", "gamma")
STATIC = ("--metric", "pass_at_1", "--samples", "3")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        write_case(tmp_path, name, difficulty="hard" if name == "beta" else "easy")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_temperature(seen: Any) -> Scripted:
    """Answer the better the colder: always well at 0, never at 1."""
    body = seen.body
    name = next(name for name in NAMES if f"GET /{name} " in body["messages"][-1]["content"])
    code = REFERENCE.replace("{name}", name)
    luck = random.Random(f"{name} {body['seed']} {body['temperature']}").random()
    return completion(f"```python\n{code if luck >= body['temperature'] else code.replace('(', '((')}\n```")


@pytest.fixture
def server(project: Path) -> Iterator[Loopback]:
    with Loopback(answer=by_temperature) as served:
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{served.url}'\n"
        (project / "webbench.toml").write_text(table, "utf-8")
        yield served


def scan(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest_webbench", "scan", "--model", "some", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")


def newest(project: Path) -> Path:
    return max((project / "reports" / "runs").iterdir(), key=lambda folder: folder.stat().st_mtime)


def test_every_setting_is_tried_on_the_hardest_case_and_the_best_on_all(project: Path, server: Loopback) -> None:
    done = scan("--grid", "temperature=0,0.5,1", "--grid", "top_p=0.5,1.0", "--top", "2", *STATIC)
    assert done.returncode == 0, done.stderr
    assert (
        "stage 1: 6 settings x 1 case x 3 samples = 18 completions: flask/beta (hard, with the longest" in done.stdout
    )
    assert "stage 2: 2 settings x 2 cases x 3 samples = 12 completions" in done.stdout
    assert len(server.log) == 30
    by_case = {name: [body for body in server.bodies if f"/{name} " in str(body["messages"])] for name in NAMES}
    settings = {name: {(body["temperature"], body["top_p"]) for body in bodies} for name, bodies in by_case.items()}
    assert len(settings["beta"]) == 6
    assert settings["alpha"] == settings["gamma"] == {(0, 0.5), (0, 1.0)}
    assert (
        "6 settings of some were tried on flask/beta; the best 2 of them were compared on 2 other cases" in done.stdout
    )
    assert "p is corrected for 1 comparison" in done.stdout
    assert "highest: temperature=0 top_p=0.5, Pass@1 static 1.000" in done.stdout
    assert "it cannot be told apart from temperature=0 top_p=1" in done.stdout


def test_a_second_scan_asks_nothing_and_finds_the_same(project: Path, server: Loopback) -> None:
    arguments = ("--grid", "temperature=0,1", *STATIC)
    first = scan(*arguments)
    asked = len(server.log)
    second = scan(*arguments)
    assert len(server.log) == asked == 18
    assert "completions: 0 from the store, 18 from models" in first.stdout
    assert "6 of them stored" in second.stdout
    assert "completions: 18 from the store, 0 from models" in second.stdout
    table = re.compile(r"^temperature .*?^highest", re.DOTALL | re.MULTILINE)
    assert table.findall(first.stdout) == table.findall(second.stdout) != []


def test_a_scan_leaves_the_accumulated_scores_alone(project: Path, server: Loopback) -> None:
    from pytest_webbench import run_benchmark

    run_benchmark("some", samples=1, tier="static", temperature=0.0)
    before = (project / "reports" / "benchmark.json").read_bytes()
    latest = (project / "reports" / "latest").readlink()
    scan("--grid", "temperature=0.3,0.6", *STATIC)
    assert (project / "reports" / "benchmark.json").read_bytes() == before
    assert (project / "reports" / "latest").readlink() == latest


def test_its_records_hold_the_parameters_and_shared_settings_share_completions(project: Path, server: Loopback) -> None:
    scan("--grid", "temperature=0.3,0.8", "--grid", "top_k=20,40", *STATIC)
    folder = newest(project)
    parameters = [one.parameters for one in load_records(folder)]
    assert {(one["temperature"], one["extra"][0][1]) for one in parameters} == {
        (0.3, 20), (0.3, 40), (0.8, 20), (0.8, 40),
    }  # fmt: skip
    assert {body["top_k"] for body in server.bodies} == {20, 40}
    models = {one.model for one in load_records(folder)}
    assert "some-temperature_0.3-top_k_20" in models
    asked = len(server.log)
    scan("--grid", "temperature=0.3", "--grid", "top_k=20", *STATIC)
    assert len(server.log) == asked


def test_a_scan_leaves_table_figures_page_and_heat_map(project: Path, server: Loopback) -> None:
    pytest.importorskip("matplotlib")
    done = scan("--grid", "temperature=0,1", "--grid", "top_p=0.5,1.0", *STATIC)
    folder = newest(project)
    assert {"scan.md", "scan.csv", "scan.json", "scan.png", "records.jsonl", "index.html"} <= {
        path.name for path in folder.iterdir()
    }
    assert (folder / "scan.png").read_bytes().startswith(b"\x89PNG")
    assert f"{folder.relative_to(project)} (scan.png)" in done.stdout
    result = json.loads((folder / "scan.json").read_text("utf-8"))
    assert result["settings"][0]["point"] == {"temperature": 0, "top_p": 0.5}
    assert "| temperature | top_p | n | coverage | truncated |" in (folder / "scan.md").read_text("utf-8")


def test_random_settings_are_drawn_and_drawn_again(project: Path, server: Loopback) -> None:
    arguments = ("--grid", "temperature=0.0..1.0", "--grid", "top_p=0.1..1.0", "--random", "4", *STATIC)
    assert scan(*arguments).returncode == 0
    asked = len(server.log)
    assert len({(body["temperature"], body["top_p"]) for body in server.bodies}) == 4
    scan(*arguments)
    assert len(server.log) == asked


def test_chosen_cases_that_are_all_there_is_make_one_stage(project: Path, server: Loopback) -> None:
    done = scan("cases/flask/alpha", "cases/flask/beta", "--case", "flask/alpha", "--case", "web_beta",
                "--grid", "temperature=0,1", *STATIC)  # fmt: skip
    assert "stage 2" not in done.stdout
    assert "were tried and compared on flask/alpha, flask/beta" in done.stdout
    assert len(server.log) == 12


def test_a_dry_run_asks_nothing(project: Path, server: Loopback) -> None:
    done = scan("--grid", "temperature=0,1", "--dry-run", *STATIC)
    assert (done.returncode, len(server.log)) == (0, 0)
    assert "stage 1: 2 settings x 1 case x 3 samples = 6 completions" in done.stdout
    assert not (project / "reports").exists()


def test_offline_nothing_is_judged_and_the_exit_status_says_so(project: Path, server: Loopback) -> None:
    done = scan("--grid", "temperature=0,1", "--offline", *STATIC)
    assert (done.returncode, len(server.log)) == (3, 0)
    assert "no sample was judged" in done.stdout
    assert "not judged: no stored completion" in done.stdout


def test_a_refused_key_is_a_configuration_error(project: Path) -> None:
    with Loopback(answer=lambda seen: error(401, "bad key")) as refusing:
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{refusing.url}'\n"
        (project / "webbench.toml").write_text(table, "utf-8")
        assert scan("--grid", "temperature=0,1", *STATIC).returncode == 4


@pytest.mark.parametrize(("limit", "most"), [("concurrency = 1\n", 1), ("concurrency = 3\n", 3)])
def test_settings_share_the_limits_of_their_model(project: Path, limit: str, most: int) -> None:
    with Loopback(answer=by_temperature, latency=0.1) as slow:
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{slow.url}'\n{limit}"
        (project / "webbench.toml").write_text(table, "utf-8")
        scan("--grid", "temperature=0,0.5,1", *STATIC)
    assert slow.most_in_flight == most


def test_an_interrupted_scan_goes_on_where_it_stopped(project: Path) -> None:
    with Loopback(answer=by_temperature, latency=0.2) as slow:
        table = f"[models.some]\nprovider = 'openai'\nmodel = 'a'\nbase_url = '{slow.url}'\nconcurrency = 1\n"
        (project / "webbench.toml").write_text(table, "utf-8")
        command = [sys.executable, "-m", "pytest_webbench", "scan", "--model", "some", "--grid", "temperature=0,1"]
        process = subprocess.Popen([*command, *STATIC], stderr=subprocess.PIPE, text=True)
        while len(slow.log) < 4:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "the same command goes on" in told
        sent = len(slow.log)
        assert scan("--grid", "temperature=0,1", *STATIC).returncode == 0
        assert sent < 18
        assert len(slow.log) <= 18 + 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--grid", "temprature=0,1"), "unknown parameter 'temprature'; known: temperature, top_p"),
        (("--grid", "temperature=-1"), "temperature=-1: Input should be greater"),
        (("--grid", "top_p=0.5,2"), "top_p=2: Input should be less"),
        (("--grid", "max_tokens=0.5"), "max_tokens=0.5"),
        (("--grid", "temperature="), "expected temperature=V1,V2"),
        (("--grid", "temperature=0..1"), "add --random N"),
        (("--grid", "temperature=0", "--grid", "temperature=1"), "given twice"),
        (("--grid", "temperature=0", "--case", "nothing"), "no case 'nothing'"),
        (("--grid", "temperature=0", "--prompt", "nothing"), "unknown template 'nothing'"),
        (("--grid", "temperature=0", "--prompt", "all"), "a scan takes one template"),
        (("--grid", "temperature=0", "nowhere"), "nowhere: no such file"),
        (("--grid", "temperature=0", "--budget", "1"), "the price of model"),
    ],
)
def test_what_cannot_be_scanned_is_said_in_one_line(
    project: Path, server: Loopback, arguments: Sequence[str], problem: str
) -> None:
    done = scan(*arguments)
    assert done.returncode == 4
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert not server.log


def test_points_are_every_combination_in_the_order_given() -> None:
    axes = parse_axes(["temperature=0,0.5", "top_k=20,40"])
    assert every(axes) == [
        {"temperature": 0, "top_k": 20}, {"temperature": 0, "top_k": 40},
        {"temperature": 0.5, "top_k": 20}, {"temperature": 0.5, "top_k": 40},
    ]  # fmt: skip


def test_drawn_points_are_different_and_within_their_spans() -> None:
    axes = parse_axes(["temperature=0.2..0.4", "max_tokens=256..512", "reasoning_effort=low,high"])
    points = drawn(axes, 20, seed=1)
    assert len({json.dumps(point) for point in points}) == 20
    assert all(0.2 <= float(point["temperature"]) <= 0.4 for point in points)
    assert all(isinstance(point["max_tokens"], int) and 256 <= point["max_tokens"] <= 512 for point in points)
    assert {point["reasoning_effort"] for point in points} == {"low", "high"}
    assert points == drawn(axes, 20, seed=1) != drawn(axes, 20, seed=2)
    assert len(drawn(parse_axes(["temperature=0,1"]), 20, seed=1)) == 2
    assert len(drawn(parse_axes(["presence_penalty=0..1"]), 20, seed=1)) == 20


def test_a_temperature_is_the_same_however_it_is_written() -> None:
    (written, float_) = parse_axes(["temperature=1"]), parse_axes(["temperature=1.0"])
    assert repr(written) == repr(float_)


def model(provider: Any = "openai", **parameters: Any) -> Model:
    return Model("some", ModelEntry(provider=provider, model="m"), Parameters(**parameters), 3)


def test_a_setting_changes_what_it_names_and_nothing_else() -> None:
    found = at(model(temperature=0.8, max_tokens=99, extra=(("top_k", 5),)), "x", {"temperature": 0.1, "min_p": 0.2})
    assert found.parameters == Parameters(0.1, None, 99, None, (("min_p", 0.2), ("top_k", 5)))


def test_the_aliases_of_settings_can_stand_in_a_node_id() -> None:
    points = [{"temperature": 1e-5, "reasoning_effort": "very high"}, {"presence_penalty": -0.5}]
    assert list(settings_of(model(), points)) == [
        "some-temperature_1e-05-reasoning_effort_very-high",
        "some-presence_penalty_-0.5",
    ]


def test_an_agent_has_no_parameters_of_its_own() -> None:
    with pytest.raises(SettingsError, match="agent answers have no parameters"):
        settings_of(model("agent"), [{"temperature": 0}])


def score(alias: str, points: float | None) -> dict[str, Any]:
    return {"alias": alias, "points": points}


def test_the_hardest_case_is_the_one_with_fewest_points_that_is_not_hopeless(project: Path) -> None:
    cases = load_cases("cases")
    entries = [
        {"id": "web_alpha", "scores": {"a": score("some", 40.0), "b": score("other", 90.0)}},
        {"id": "web_beta", "scores": {"a": score("some", 0.0), "b": score("other", 20.0), "c": None}},
        {"id": "web_gamma", "scores": {"a": score("some", 70.0), "r": score("reference", 1.0)}},
    ]
    assert hardest(cases, entries, "some")[0].name == "flask/alpha"
    case, reason = hardest(cases, entries, "new")
    assert (case.name, reason) == (
        "flask/beta", "fewest points above 0 of all models together in benchmark.json: 10",
    )  # fmt: skip


def test_without_earlier_scores_the_most_difficult_case_is_the_hardest(project: Path) -> None:
    case, reason = hardest(load_cases("cases"), [], "some")
    assert case.name == "flask/beta"
    assert "benchmark.json knows none" in reason


def test_cases_are_named_by_id_or_name_once(project: Path) -> None:
    cases = load_cases("cases")
    assert [case.name for case in named(cases, ["web_beta", "flask/beta", "flask/alpha"])] == [
        "flask/beta", "flask/alpha",
    ]  # fmt: skip


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm(np.array([0.04, 0.01, 0.03, 0.9])) == pytest.approx([0.09, 0.04, 0.09, 0.9])
    assert holm(np.array([0.6, 0.6])).tolist() == [1.0, 1.0]
    assert holm(np.array([])).tolist() == []


def outcomes(setting: str, passes: int, of: int, cases: Sequence[str]) -> list[Record]:
    return [record(case, index, index < passes, model=setting) for case in cases for index in range(of)]


def found(*groups: tuple[str, int, int, Sequence[str]], finalists: Sequence[str], first: Sequence[str]) -> ScanResult:
    samples = Samples.of(row for group in groups for row in outcomes(*group))
    points = {setting: {"temperature": float(setting)} for setting in sorted({group[0] for group in groups})}
    return scan_result("some", samples, points, finalists, first, "points")


def test_settings_are_ranked_by_their_means_and_unmeasured_ones_last() -> None:
    rows = outcomes("a", 1, 4, ["flask/x"]) + outcomes("b", 3, 4, ["flask/x"])
    rows.append(record("flask/x", 0, None, model="c"))
    assert ranked(Samples.of(rows), ["c", "a", "b"], "points") == ["b", "a", "c"]


def test_a_large_difference_on_many_samples_is_told_apart() -> None:
    result = found(
        ("0.0", 20, 20, ["flask/x"]), ("1.0", 2, 20, ["flask/x"]), finalists=["0.0", "1.0"], first=["flask/x"]
    )
    (against,) = result.against
    assert result.best.setting == "0.0"
    assert against.told_apart
    assert against.difference == pytest.approx(45.0)
    assert against.low is None
    assert "on these cases it is better than temperature=1" in "\n".join(scan_lines(result))


def test_the_same_difference_on_few_samples_is_not() -> None:
    result = found(("0.0", 3, 3, ["flask/x"]), ("1.0", 1, 3, ["flask/x"]), finalists=["0.0", "1.0"], first=["flask/x"])
    assert not result.against[0].told_apart
    assert "cannot be told apart from temperature=1: take any of them" in scan_lines(result)[-1]


def test_what_one_comparison_would_tell_many_do_not() -> None:
    few = [("0.0", 12, 12, ["flask/x"]), ("1.0", 6, 12, ["flask/x"])]
    names = [f"{number / 10}" for number in range(1, 10)]
    many = [*few, *((name, 11, 12, ["flask/x"]) for name in names)]
    alone = found(*few, finalists=["0.0", "1.0"], first=["flask/x"]).against[0]
    among = next(
        one for one in found(*many, finalists=["0.0", *names, "1.0"], first=["flask/x"]).against if one.setting == "1.0"
    )
    assert alone.told_apart
    assert among.p == alone.p
    assert not among.told_apart


def test_the_first_stages_case_does_not_decide_where_there_are_others() -> None:
    later = ["flask/y", "flask/z"]
    result = found(
        ("0.0", 4, 4, ["flask/x"]), ("1.0", 3, 4, ["flask/x"]), ("2.0", 0, 4, ["flask/x"]),
        ("0.0", 1, 4, later), ("1.0", 3, 4, later),
        finalists=["0.0", "1.0"], first=["flask/x"],
    )  # fmt: skip
    assert result.deciding_cases == ("flask/y", "flask/z")
    assert [setting.setting for setting in result.settings] == ["1.0", "0.0", "2.0"]
    assert result.comparisons == 1
    assert result.settings[0].first.value == pytest.approx(87.5)
    assert result.settings[2].overall is None
    assert scan_table(result).headings[4:7] == ("first stage", "deciding", "all cases")
    assert "the best 2 of them were compared on 2 other cases" in scan_lines(result)[0]


def test_an_interval_of_points_stays_between_0_and_100() -> None:
    result = found(("0.0", 5, 6, ["flask/x"]), ("1.0", 6, 6, ["flask/x"]), finalists=["0.0", "1.0"], first=["flask/x"])
    for setting in result.settings:
        assert setting.first.low is not None
        assert setting.first.high is not None
        assert 0 <= setting.first.low < setting.first.high <= 100


def test_settings_whose_answers_were_cut_are_named() -> None:
    whole = outcomes("0.0", 6, 6, ["flask/x"])
    cut = [record("flask/x", index, index > 2, model="1.0", finish_reason="length" if index < 2 else "stop")
           for index in range(6)]  # fmt: skip
    points = {"0.0": {"temperature": 0.0}, "1.0": {"temperature": 1.0}}
    result = scan_result("some", Samples.of([*whole, *cut]), points, list(points), ["flask/x"], "points")
    assert scan_lines(result)[-1] == (
        "answers were cut at max_tokens with temperature=1 (33 %); a higher one may change the order"
    )


def test_one_setting_alone_has_nothing_to_be_compared_with() -> None:
    result = found(("0.0", 5, 6, ["flask/x"]), finalists=["0.0"], first=["flask/x"])
    assert scan_lines(result) == ["temperature=0 alone was tried: there is nothing to compare it with"]


def test_without_matplotlib_there_is_the_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = found(("0.0", 5, 6, ["flask/x"]), ("1.0", 6, 6, ["flask/x"]), finalists=["0.0", "1.0"], first=["flask/x"])
    monkeypatch.setattr("pytest_webbench.reports.scans.why_no_plots", lambda: "no charts")
    assert [path.name for path in write_scan(tmp_path, result)] == ["scan.md", "scan.csv", "scan.json"]
    assert (tmp_path / "scan.csv").read_text("utf-8").startswith("temperature,n,coverage,truncated,first stage,")
