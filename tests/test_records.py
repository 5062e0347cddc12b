"""Records and the run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_webbench import load_records
from pytest_webbench.ledger import Ledger, read_run
from pytest_webbench.records import Check, Record, RecordError

DESCRIPTION: dict[str, Any] = {
    "run_id": "r",
    "created_at": "2026-01-01T00:00:00+00:00",
    "models": {
        "m": {"model_id": "acme/m", "provider": "openai", "hosting": "paid", "parameters": {"temperature": 0.8}}
    },
    "cases": {
        name: {"id": f"web_{name}", "version": "1.0", "framework": "Flask", "category": "crud", "difficulty": "easy"}
        for name in ("a", "b")
    },
}


def record(case: str = "a", sample: int = 0, **changes: Any) -> Record:
    """Return a record of one sample."""
    values: dict[str, Any] = {
        "run_id": "r", "node_id": f"{case}-{sample}", "case_id": f"web_{case}", "case_name": case, "case_version": "1.0",
        "framework": "Flask", "category": "crud", "difficulty": "easy", "model": "m", "model_id": "acme/m",
        "provider": "openai", "hosting": "paid", "prompt_template": "web_expert", "sample": sample, "status": "passed",
        "started_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    return Record(**{**values, **changes})


def test_a_record_survives_its_json_form() -> None:
    original = record(
        checks=(Check("check_a", "unit_tests", False, "expected 200", "GET /", "500"),), flags=("truncated",), cost=0.25
    )
    assert Record.from_json(original.to_json()) == original


def test_a_key_of_a_newer_schema_is_ignored() -> None:
    newer = json.loads(record().to_json()) | {"mood": "good"}
    assert Record.from_json(json.dumps(newer)) == record()


def test_text_that_is_no_unicode_stays_one_line_of_ascii() -> None:
    line = record(message="caf\u00e9 \ud800\u2028 \x00").to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Record.from_json(line).message == "caf\u00e9 \ud800\u2028 \x00"


def test_nan_never_reaches_a_file() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        record(points=float("nan")).to_json()


def test_records_are_sorted_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    arrival = [record("b", 1), record("a", 0), record("b", 0), record("a", 1)]
    (tmp_path / "records.jsonl").write_text("".join(one.to_json() + "\n" for one in arrival), "utf-8")
    assert [(one.case_name, one.sample) for one in load_records(tmp_path)] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_a_torn_last_line_is_skipped_and_any_other_bad_line_named(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(record().to_json() + "\n" + '{"run_id": "r', "utf-8")
    assert len(load_records(file)) == 1
    file.write_text('{"run_id": "r"}\n' + record().to_json() + "\n", "utf-8")
    with pytest.raises(RecordError, match=r"records\.jsonl: line 1: not a record"):
        load_records(file)


def test_a_sample_without_a_record_is_lost_and_never_dropped(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, DESCRIPTION)
    ledger.expect([("a", "m", "web_expert", 0), ("b", "m", "web_expert", 0)])
    ledger.add(record("b"))
    ledger.close()
    lost, kept = read_run(tmp_path).records
    assert (lost.case_name, lost.status, lost.failure_class) == ("a", "infrastructure_error", "lost")
    assert kept == record("b")
    assert ledger.missing == [("a", "m", "web_expert", 0)]


def test_the_first_judged_record_of_a_sample_counts(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, DESCRIPTION)
    ledger.expect([("a", "m", "web_expert", 0)])
    ledger.add(record(status="infrastructure_error", failure_class="timeout"))
    ledger.add(record(status="model_failure", failure_class="syntax_error"))
    ledger.add(record(status="passed"))
    ledger.close()
    assert [one.status for one in read_run(tmp_path).records] == ["model_failure"]


def test_a_run_is_described_before_its_first_record(tmp_path: Path) -> None:
    Ledger(tmp_path, DESCRIPTION).expect([("a", "m", "web_expert", 0)])
    assert read_run(tmp_path).description["expected"] == [["a", "m", "web_expert", 0]]


@pytest.mark.parametrize("text", [None, "{"])
def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text, "utf-8")
    with pytest.raises(RecordError, match=r"run\.json: "):
        read_run(tmp_path)
