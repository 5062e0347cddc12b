"""`python -m pytest_webbench.metrics`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webbench.metrics import web_codebleu
from pytest_webbench.metrics.command import main

REFERENCE = "app = Flask(__name__)\nroute = app.route\n"
HYPOTHESIS = "web = Flask(__name__)\nroute = web.route\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = tmp_path / "reference.py", tmp_path / "hypothesis.py"
    for path, text in zip(paths, (REFERENCE, HYPOTHESIS), strict=True):
        path.write_bytes(text.encode())
    return [str(path) for path in paths]


def test_json_is_the_score(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == web_codebleu(REFERENCE, HYPOTHESIS).to_json()


def test_the_reference_comes_first(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*reversed(files), "--json"])
    assert json.loads(capsys.readouterr().out)["kw_recall"] == web_codebleu(HYPOTHESIS, REFERENCE).kw_recall


def test_the_table_shows_every_part(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files) == 0
    score = web_codebleu(REFERENCE, HYPOTHESIS).to_json()
    rows = dict(line.split()[:2] for line in capsys.readouterr().out.splitlines() if "." in line)
    assert rows == {name: f"{value:.4f}" for name, value in score.items() if isinstance(value, float)}


def test_the_table_says_what_is_undefined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.py"
    path.write_text("import os\n")
    main([str(path), str(path)])
    output = capsys.readouterr().out
    assert "dataflow         0.0000   the reference has no data-flow\n" in output
    assert "without dataflow, kw_f1\n" in output


def test_a_dash_reads_standard_input(
    files: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HYPOTHESIS.encode())))
    assert main([files[0], "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == web_codebleu(REFERENCE, HYPOTHESIS).to_json()


@pytest.mark.parametrize("name", ["missing.py", ".", "nul\0.py"])
def test_an_unreadable_file_is_one_line_and_exit_4(
    name: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([files[0], str(tmp_path / name)]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: cannot read ")
    assert captured.err.count("\n") == 1


def test_standard_input_cannot_be_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-", "-"]) == 4
    assert "only one of REFERENCE and HYPOTHESIS" in capsys.readouterr().err


def test_a_wrong_call_exits_4(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["reference.py"])
    assert stop.value.code == 4
    assert "HYPOTHESIS" in capsys.readouterr().err


def test_bytes_that_are_no_utf8_have_a_score(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("name = 'Zoë'\n".encode("latin-1"))
    assert main([files[0], str(path)]) == 0


def test_it_runs_as_a_module(files: list[str]) -> None:
    command = [sys.executable, "-m", "pytest_webbench.metrics", *files, "--json"]
    root = Path(__file__).parents[2]
    output = subprocess.run(command, capture_output=True, check=True, cwd=root).stdout
    assert json.loads(output)["syntax"] == 1.0
