"""An agent's steps in the page: iteration by iteration, what was said and how the code changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from page.conftest import make_page
from page.runs import REFERENCE, answer, records_of, write_run
from page.test_browser import HOSTILE, open_tab, texts, wait

from pytest_webbench.ledger import COMPLETIONS
from pytest_webbench.records import RECORDS, Record, Step

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FIXED = REFERENCE.replace("'ok'", "'fine'")
SAID = (("codegen", 0, REFERENCE, ""), ("reviewer", 0, None, HOSTILE), ("debugger", 1, None, "No code."),
        ("debugger", 1, FIXED, ""))  # fmt: skip


def agent_page(folder: Path) -> Path:
    """Write the page of a run of one sample, by an agent."""
    write_run(folder, models=["llama"], templates=["web_expert"], samples=1, cases=[("flask/todo_crud", "web_002", "Flask", "crud", "easy")])  # fmt: skip
    (record,) = records_of(folder)
    trace = tuple(
        Step(iteration, role, "llama", "k", "passed", "passed", is_correct=False if role == "reviewer" else None,
             input_tokens=120, output_tokens=30, cost=0.0123, latency_seconds=4.5)
        for role, iteration, _, _ in SAID
    )  # type: ignore[arg-type]  # fmt: skip
    agent = replace(record, provider="agent", trace=trace)
    assert Record.from_json(agent.to_json()) == agent
    steps = [{"iteration": iteration, "role": role, "model": "llama", "messages": [], "reply": reply, "code": code}
             for role, iteration, code, reply in SAID]  # fmt: skip
    (folder / RECORDS).write_text(agent.to_json() + "\n", "utf-8")
    line = json.loads(answer(agent, FIXED)) | {"steps": steps}
    (folder / COMPLETIONS).write_text(json.dumps(line) + "\n", "utf-8")
    return make_page(folder)


def test_the_steps_show_each_role_and_the_code_as_it_changed(browse: Callable[[Path], Chrome], tmp_path: Path) -> None:
    page = agent_page(tmp_path / "run")
    browser = browse(page)
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#sample=0")
    said = open_tab(browser, "Steps")
    heads = texts(browser, "#panel summary")
    assert [head.split(":")[0] for head in heads] == ["Iteration 0", "Iteration 0", "Iteration 1", "Iteration 1"]
    assert "120 + 30 tokens, 0.012 USD, 4.5 s" in heads[0]
    assert "finds faults" in heads[1]
    assert HOSTILE.split("\0")[0] in said
    assert "No code." in said
    assert texts(browser, "#panel .minus") == ["-     return 'ok'"]
    assert texts(browser, "#panel .plus") == ["+     return 'fine'"]
    assert browser.execute_script("return window.hacked") is None


def test_a_single_model_has_no_steps(browse: Callable[[Path], Chrome], index: Path) -> None:
    browser = browse(index)
    browser.get("about:blank")
    browser.get(f"{index.as_uri()}#sample=0")
    wait(browser, "#tab-Reply")
    assert "Steps" not in texts(browser, "[role=tab]")
