"""A run in parts: what each has, what it leaves, and how the parts become a whole again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from project import records, run_json, write_case

from pytest_webbench.shards import Shard, parse_shard

Bench = Callable[..., pytest.RunResult]
ORACLE = ("--model=reference", "--webbench-samples=2", "--webbench-tiers=static")
WHOLE = 5


@pytest.fixture
def five(cases: Path) -> Path:
    """A project of five cases."""
    for name in ("gamma", "delta", "epsilon"):
        write_case(cases, name)
    return cases


@pytest.fixture
def shard(five: Path, bench: Bench) -> Callable[..., pytest.RunResult]:
    """Run one shard of the reference as run `sI`."""

    def run(text: str, *arguments: str) -> pytest.RunResult:
        name = f"--webbench-run-id=s{text.partition('/')[0]}"
        return bench(*ORACLE, f"--webbench-shard={text}", name, *arguments)

    return run


@pytest.fixture
def webbench(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    return lambda *arguments: pytester.run(sys.executable, "-m", "pytest_webbench", *arguments)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 45, 60])
def test_shards_are_disjoint_complete_and_of_equal_size(count: int) -> None:
    ids = [f"web_{number:03}" for number in range(45)]
    shards = [Shard(index, count).of(ids) for index in range(1, count + 1)]
    assert sorted(case for shard in shards for case in shard) == ids
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


def test_a_shard_does_not_depend_on_the_order_or_on_repetition() -> None:
    ids = [f"web_{number:03}" for number in range(45)]
    assert Shard(2, 4).of(ids) == Shard(2, 4).of([*ids[::-1], *ids])


def test_a_shard_is_the_same_on_every_machine() -> None:
    assert sorted(Shard(1, 3).of(f"web_{number:03}" for number in range(9))) == ["web_000", "web_005", "web_006"]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1/0", "2", "a/b", "-1/2", ""])
def test_what_is_no_shard_says_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected I/N with I from 1 to N"):
        parse_shard(text)


def test_the_shards_of_a_run_have_each_sample_once(
    five: Path, shard: Callable[..., pytest.RunResult], bench: Bench, workers: tuple[str, ...]
) -> None:
    assert bench(*ORACLE, "--webbench-run-id=whole").ret == 0
    for text in ("1/2", "2/2"):
        assert shard(text, *workers).ret == 0
    first, second = (sorted(record["node_id"] for record in records(five, name)) for name in ("s1", "s2"))
    assert (len(first), len(second)) == (6, 4)
    assert sorted(first + second) == [record["node_id"] for record in records(five, "whole")]
    assert (run_json(five, "s1")["shard"], run_json(five, "whole")["shard"]) == ("1/2", None)
    assert len(run_json(five, "s2")["expected"]) == 4


def test_a_selection_is_shared_out_evenly(five: Path, shard: Callable[..., pytest.RunResult]) -> None:
    for text in ("1/2", "2/2"):
        assert shard(text, "-k", "alpha or beta").ret == 0
    assert [len(records(five, name)) for name in ("s1", "s2")] == [2, 2]


def test_collecting_shows_the_shard(shard: Callable[..., pytest.RunResult]) -> None:
    assert shard("2/2", "--collect-only", "-q").stdout.str().count("::sample-") == 4


def test_one_of_one_is_the_whole_run(
    five: Path, shard: Callable[..., pytest.RunResult], webbench: Callable[..., pytest.RunResult]
) -> None:
    shard("1/1")
    assert (len(records(five, "s1")), run_json(five, "s1")["shard"]) == (10, None)
    assert webbench("gate", "s1", "--fail-under", "pass_at_1=1").ret == 0


def test_an_ordinary_test_is_in_every_shard(five: Path, shard: Callable[..., pytest.RunResult]) -> None:
    (five / "test_other.py").write_text("def test_no(): assert False", "utf-8")
    assert [shard(text, "cases", "test_other.py").ret for text in ("1/2", "2/2")] == [1, 1]


@pytest.mark.parametrize(
    "gate",
    ["--webbench-fail-under=points=5", "--webbench-max-drop=points=5", "--webbench-baseline=reports/benchmark.json"],
)
def test_a_gate_on_a_shard_is_a_usage_error(shard: Callable[..., pytest.RunResult], gate: str) -> None:
    result = shard("1/2", gate)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{gate.split('=')[0]}: one shard cannot be judged; let 'webbench gate' judge*"])


@pytest.mark.parametrize(
    ("text", "message"),
    [("3/2", "*--webbench-shard: expected I/N with I from 1 to N*"), ("1/9", "*there are only 5 cases to share out")],
)
def test_a_shard_that_cannot_be_is_a_usage_error(
    shard: Callable[..., pytest.RunResult], text: str, message: str
) -> None:
    result = shard(text)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_all_shards_become_the_whole_run(
    five: Path, shard: Callable[..., pytest.RunResult], bench: Bench, webbench: Callable[..., pytest.RunResult]
) -> None:
    bench(*ORACLE, "--webbench-run-id=whole")
    for text in ("1/3", "2/3", "3/3"):
        shard(text)
    merged = webbench("report", "s1", "s2", "s3", "--out", "reports/runs/merged")
    assert merged.ret == 0
    folder = five / "reports" / "runs"
    assert "shard" not in run_json(five, "merged")
    one, other = (json.loads((folder / name / "summary.json").read_text()) for name in ("merged", "whole"))
    assert one["by_case"] == other["by_case"]
    assert len(json.loads((folder / "merged" / "prompts.json").read_text())) == WHOLE
    assert webbench("gate", "s1", "s2", "s3", "--fail-under", "pass_at_1=1").ret == 0
    assert webbench("gate", "merged", "--baseline", "whole", "--max-drop", "pass_at_1=0").ret == 0


def test_gaps_and_duplicates_are_refused_by_name(
    shard: Callable[..., pytest.RunResult], webbench: Callable[..., pytest.RunResult]
) -> None:
    for text in ("1/3", "2/3"):
        shard(text)
    limit = ("--fail-under", "pass_at_1=1")
    for command, message in (
        (("report", "s1", "s2"), "error: missing: shard 3/3 of reference"),
        (("gate", "s1", "s2", *limit), "error: missing: shard 3/3 of reference"),
        (("gate", "s1", *limit), "error: run s1 is shard 1/3 only; give all shards of the run"),
    ):
        result = webbench(*command)
        assert result.ret == 4
        result.stderr.fnmatch_lines([message])
    webbench("report", "s1").stdout.fnmatch_lines(["this is shard 1/3 only; give all shards of the run for the whole"])
    shard("3/3")
    twice = webbench("gate", "s1", "s2", "s3", "s3", *limit)
    assert twice.ret == 4
    twice.stderr.fnmatch_lines(["error: in more than one run: flask/* reference web_expert sample-0 (again in s3)*"])


def test_shards_of_different_selections_are_no_whole(
    five: Path, shard: Callable[..., pytest.RunResult], webbench: Callable[..., pytest.RunResult]
) -> None:
    shard("1/2", "-k", "not gamma")
    shard("2/2")
    result = webbench("report", "s1", "s2")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        [
            "error: s1 (shard 1/2) and s2 (shard 2/2) share out different cases: -k not gamma in one and None in the other"
        ]
    )
    write_case(five, "zeta")
    shard("1/2")
    assert webbench("report", "s1", "s2").ret == 4
