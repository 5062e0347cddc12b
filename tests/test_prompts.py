"""Templates and the messages they make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from project import write_case

from pytest_webbench.cases import Case, load_case
from pytest_webbench.prompts import load_template, prompt_sha, render, template_names


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_case(write_case(tmp_path, "alpha"))


def test_as_is_sends_the_prompt_alone(case: Case) -> None:
    (message,) = render(load_template("as_is"), case)
    assert (message.role, message.content) == ("user", case.prompt)


@pytest.mark.parametrize("name", [name for name in template_names() if name != "as_is"])
def test_every_other_template_states_entry_point_and_packages(case: Case, name: str) -> None:
    text = "\n".join(message.content for message in render(load_template(name), case))
    assert case.prompt in text
    assert "module-level variable `app`" in text
    assert "import: flask" in text
    assert "{" not in text


def test_the_contract_is_the_frameworks(case: Case) -> None:
    text = render(load_template("web_expert"), replace(case, framework="Django"))[-1].content
    assert "`urlpatterns`" in text


def test_braces_of_a_prompt_stay_as_they_are(case: Case) -> None:
    prompt = "Answer {framework} and {prompt} literally: {'a': 1}"
    assert prompt in render(load_template("web_expert"), replace(case, prompt=prompt))[-1].content


def test_the_hash_tells_prompts_apart(case: Case) -> None:
    hashes = {prompt_sha(render(load_template(name), case)) for name in template_names()}
    assert len(hashes) == len(template_names())
