"""Write a case from Python and validate it: definition, reference, hidden checks, wrong solutions.

    python examples/create_definition.py cases

`webbench new flask/NAME` writes a skeleton to be filled in by hand instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_webbench import validate_definition

DEFINITION = '''
id = "web_word_count"
name = "flask/word_count"
version = "1.0"
framework = "Flask"
category = "validation"
difficulty = "easy"
domain = "web"
language = "python"
source = "example"
contributor = "you"
criteria = ["parsing", "execution", "unit_tests", "examples"]
imports = ["flask"]
prompt = """
Write a Flask app in one module that defines the application as a module-level variable `app`. `POST /count` with JSON
{"text": <a string>} answers 200 and JSON {"words": <how many words, parted by white space>}. Without a JSON object, or
where `text` is missing or no string, it answers 400.
"""

[[examples]]
request = "POST /count"
json = { text = "one two" }
status = 200
'''

REFERENCE = """
from flask import Flask, jsonify, request

app = Flask(__name__)


@app.post("/count")
def count():
    data = request.get_json(silent=True)
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return jsonify(error="text must be a string"), 400
    return jsonify(words=len(data["text"].split()))
"""

CHECKS = '''
"""Hidden checks of flask/word_count."""


def count(client, text):
    response = client.post("/count", json={"text": text})
    assert response.status_code == 200, f"{text!r} was answered with {response.status_code}, expected 200"
    return response.json()["words"]


def check_words_are_counted(client):
    assert count(client, "one two three") == 3, "'one two three' has 3 words"


def check_any_white_space_parts_words(client):
    assert count(client, " one\\n\\ttwo ") == 2, "two words with a line end between them are 2 words"


def check_nothing_is_no_word(client):
    assert count(client, "") == 0, "an empty text has 0 words"


def check_a_text_that_is_no_string_is_refused(client):
    for body in ({"text": 5}, {"text": None}, {}, ["text"]):
        status = client.post("/count", json=body).status_code
        assert status == 400, f"{body!r} was answered with {status}, expected 400"


def check_a_body_that_is_no_json_is_refused(client):
    status = client.post("/count", content=b"one two").status_code
    assert status == 400, f"a body that is no JSON was answered with {status}, expected 400"
'''

WRONG = {
    "single_spaces": ("splits at single spaces", '["text"].split()', '["text"].split(" ")'),
    "anything_counts": ("takes a number for a text", 'data.get("text"), str', 'data.get("text"), object'),
    "crashes_without_an_object": ("takes a JSON object for granted", "not isinstance(data, dict) or ", ""),
}
"""Solutions with one realistic mistake each: what they do, what is replaced in the reference, and by what."""


def main(cases: str = "cases") -> None:
    """Write the case, and say whether it tells right from wrong."""
    folder = write_case(Path(cases) / "flask" / "word_count")
    report = validate_definition(folder)
    for error in (*report.errors, *report.warnings):
        print(error)
    for name, by in report.wrong.items():
        print(f"wrong/{name} is caught by {', '.join(by) or 'nothing'}")
    killed = "no mutants" if report.killed is None else f"{report.killed:.0%} of {report.mutants} mutants killed"
    print(f"{report.case}: {'valid' if report.ok else 'NOT VALID'}, {report.checks} checks, {killed}")


def write_case(folder: Path) -> Path:
    """Write all files of the case; return its folder."""
    (folder / "wrong").mkdir(parents=True)
    (folder / "definition.toml").write_text(DEFINITION.lstrip(), "utf-8")
    (folder / "reference.py").write_text(REFERENCE.lstrip(), "utf-8")
    (folder / "checks.py").write_text(CHECKS.lstrip(), "utf-8")
    for name, (mistake, right, wrong) in WRONG.items():
        text = f'"""Wrong: {mistake}."""\n{REFERENCE.replace(right, wrong)}'
        (folder / "wrong" / f"{name}.py").write_text(text, "utf-8")
    return folder


if __name__ == "__main__":
    main(*sys.argv[1:])
