"""Small benchmark projects for tests that drive pytest with the plugin."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

REFERENCE = """from flask import Flask, jsonify, request

app = Flask(__name__)


@app.get("/{name}")
def read():
    return jsonify(name="{name}", query=request.args.get("q"))
"""

CHECKS = """def check_the_name_is_told(client):
    assert client.get("/{name}").json()["name"] == "{name}"
"""

DEFINITION = """id = "{id}"
name = "flask/{name}"
version = "1.0"
framework = "Flask"
category = "{category}"
difficulty = "{difficulty}"
domain = "web"
language = "python"
source = "https://example.org/{name}"
contributor = "tests"
criteria = ["parsing", "execution", "unit_tests", "examples"]
imports = ["flask"]
tags = {tags}
prompt = "Write a Flask app that answers GET /{name} with its name."

[[examples]]
request = "GET /{name}"
status = 200
"""


def write_case(
    root: Path,
    name: str,
    *,
    identity: str | None = None,
    category: str = "crud",
    difficulty: str = "easy",
    tags: tuple[str, ...] = (),
) -> Path:
    """Write a complete Flask case below `root`/cases and return its definition."""
    folder = root / "cases" / "flask" / name
    folder.mkdir(parents=True)
    values = {"name": name, "id": identity or f"web_{name}", "category": category, "difficulty": difficulty}
    definition = folder / "definition.toml"
    definition.write_text(DEFINITION.format(**values, tags=json.dumps(list(tags))), "utf-8")
    (folder / "reference.py").write_text(REFERENCE.replace("{name}", name), "utf-8")
    (folder / "checks.py").write_text(CHECKS.replace("{name}", name), "utf-8")
    return definition


def write_dataset(root: Path, count: int) -> Path:
    """Write a `dataset.json` of `count` entries."""
    entries = [
        {
            "id": f"ds_{number}",
            "domain": "web",
            "language": "python",
            "framework": ("Flask", "FastAPI", "Django")[number % 3],
            "source": "https://example.org",
            "prompt": f"Write service number {number}.",
            "reference_code": REFERENCE.replace("{name}", f"s{number}"),
        }
        for number in range(count)
    ]
    path = root / "dataset.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


def records(root: Path, run: str = "latest") -> list[dict[str, Any]]:
    """Return the records of a run, sorted by node id."""
    folder = root / "reports" / run if run == "latest" else root / "reports" / "runs" / run
    lines = (folder / "records.jsonl").read_text("utf-8").splitlines()
    return sorted((json.loads(line) for line in lines), key=lambda record: record["node_id"])


def run_json(root: Path, run: str = "latest") -> dict[str, Any]:
    """Return `run.json` of a run."""
    folder = root / "reports" / run if run == "latest" else root / "reports" / "runs" / run
    found: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return found


UNNEEDED = ("hypothesispytest", "anyio", "html", "html_fixtures", "platformdirs", "syrupy")
QUICK = (*(argument for name in UNNEEDED for argument in ("-p", f"no:{name}")), "-p", "no_plots")
"""Leaves out of inner runs what their subject does not need."""

PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *QUICK)
