"""The syntax tier: what Python's parser says of the bytes that would be written, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pytest_webbench.extraction import extract_code
from pytest_webbench.tiers import TierResult, syntax

ITEMS = [json.loads(line) for line in (Path(__file__).parent / "data" / "kind_c_parsing.jsonl").open(encoding="utf-8")]
DEPTH_ERRORS = ("RecursionError", "MemoryError")  # how deep code may nest differs between versions
JUDGED = [item for item in ITEMS if "syntax_ok" in item["expected"] and "structure" not in item["kind"]]


def code_of(item):
    given = item["input"]
    if "code_expr" in given:
        return eval(given["code_expr"])
    return given["code"] if "code" in given else given["candidate"]


def named(items):
    return [pytest.param(item, id=f"{item['id']}-{item['kind'][2:]}") for item in items]


@pytest.mark.parametrize("item", named(i for i in JUDGED if i["kind"] not in ("C:parse-not-compile", "C:vacuous")))
def test_code_from_the_field_gets_its_verdict(item):
    expected = item["expected"]
    of_one_version = "on" in expected or expected.get("error_type") in DEPTH_ERRORS
    if of_one_version and sys.version_info[:2] != (3, 11):
        pytest.skip("the verdict is that of Python 3.11")
    result = syntax.check(code_of(item))
    assert result.passed == expected["syntax_ok"]
    assert result.failure_class == (None if expected["syntax_ok"] else "syntax_error")
    if sys.version_info[:2] == (3, 11):
        assert expected.get("error_type", result.error_type) == result.error_type


@pytest.mark.parametrize("item", named(i for i in ITEMS if i["kind"] == "C:parse-not-compile"))
def test_code_that_parses_but_does_not_compile_passes_and_is_recorded_apart(item):
    result = syntax.check(code_of(item))
    assert result.passed
    assert not result.compiles
    assert result.compile_message.startswith("SyntaxError: ")


@pytest.mark.parametrize("item", named(i for i in ITEMS if i["kind"] == "C:vacuous"))
def test_code_without_substance_never_reaches_the_tier(item):
    assert extract_code(f"```python\n{code_of(item)}\n```", "flask").failure_class == "no_code"


def test_the_message_names_error_and_line():
    result = syntax.check("x = 1\ndef f(:\n    pass\n")
    assert isinstance(result, TierResult)
    assert (result.error_type, result.line, result.compiles) == ("SyntaxError", 2, False)
    assert result.message == "SyntaxError: invalid syntax (line 2)"


def test_top_level_return_passes_but_does_not_compile():
    result = syntax.check("x = 1\nreturn x\n")
    assert (result.passed, result.compiles, result.message) == (True, False, "")
    assert result.compile_message == "SyntaxError: 'return' outside function (line 2)"


def test_sound_code_compiles_without_a_word():
    assert syntax.check("x = 1\n") == syntax.SyntaxResult(passed=True, compiles=True)


@pytest.mark.parametrize(
    ("code", "error_type"),
    [
        ("x = '\ud800'\n", "UnicodeEncodeError"),
        ("x = " + "+".join(["1"] * 5000), "RecursionError"),
        ("x = 1\0", "SyntaxError"),
        ("# coding: latin-9x\nx = 1\n", "SyntaxError"),
        ("# coding: utf-16\nx = 1\n", "SyntaxError"),
        ("# coding: base64\nx = 1\n", "SyntaxError"),
    ],
)
def test_whatever_the_parser_raises_is_a_verdict(code, error_type):
    result = syntax.check(code)
    if sys.version_info[:2] == (3, 11):
        assert result.error_type == error_type
    assert result.passed is False or error_type in DEPTH_ERRORS


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "-" * 200_000 + "1",
        "x = " + "(" * 100_000,
        "x = " + "[" * 150 + "]" * 150,
        "x = a" + ".b" * 100_000,
        "x = f" + "()" * 100_000,
        "x = " + "lambda: " * 20_000 + "1",
        "x = " + "not " * 50_000 + "1",
        "x = 1" + " if 1 else 2" * 50_000,
        "".join(" " * n + "if 1:\n" for n in range(90)) + " " * 90 + "pass\n",
        "x = " + "{1:" * 199 + "1" + "}" * 199,
        "@a\n" * 50_000 + "def f(): pass\n",
    ],
    ids=range(11),
)
def test_deep_nesting_never_kills_the_process(code, tmp_path):
    """In a process of its own: a crash of the parser's C stack would take the test session along."""
    file = tmp_path / "code.py"
    file.write_text(code)
    script = (
        "import sys; from pathlib import Path; from pytest_webbench.tiers import syntax;"
        "r = syntax.check(Path(sys.argv[1]).read_text()); print(r.passed in (True, False))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr[-500:]


def test_warnings_as_errors_change_no_verdict():
    code = "import re\nUSER = re.compile('\\d+')\nok = 1 is 1\nassert (1, 'x')\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert syntax.check(code) == syntax.SyntaxResult(passed=True, compiles=True)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="3.14 forbids it without any future import")
def test_future_imports_of_the_tool_do_not_reach_the_code():
    assert syntax.check("def f():\n    def g(x: (yield)): pass\n").compiles
