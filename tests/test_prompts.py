"""Templates and the messages they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, completion, error
from project import records, run_json, write_case

from pytest_webbench.agents import Player
from pytest_webbench.cases import Case, load_case
from pytest_webbench.extraction import extract_code
from pytest_webbench.models import Message, Parameters
from pytest_webbench.prompts import (
    TemplateError,
    load_template,
    load_templates,
    prompt_sha,
    read_template,
    render,
    template_names,
    template_sha,
    without_system,
)
from pytest_webbench.tiers import structure, syntax

Bench = Callable[..., pytest.RunResult]
MINE = 'description = "Short."\nsystem = "Answer in {framework}."\nuser = "Do it: {prompt}"\n'


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return load_case(write_case(tmp_path, "alpha"))


@pytest.fixture
def mine(cases: Path) -> Path:
    """A folder with one template of the user's own beside the cases."""
    folder = cases / "manners"
    folder.mkdir()
    (folder / "mine.toml").write_text(MINE, "utf-8")
    return folder


def served(root: Path, server: Loopback, more: str = "") -> None:
    table = f"[models.some]\nprovider = 'openai'\nmodel = 'acme/some'\nbase_url = '{server.url}'\n{more}\n"
    (root / "webbench.toml").write_text(table, "utf-8")


def test_every_manner_of_the_comparison_is_there() -> None:
    assert set(template_names()) == {
        "as_is", "in_python", "web_expert", "web_expert_task", "web_expert_cot", "recap", "recap_cot", "xml_ask",
        "xml_task", "in_chinese",
    }  # fmt: skip


def test_as_is_sends_the_prompt_alone(case: Case) -> None:
    (message,) = render(load_template("as_is"), case)
    assert (message.role, message.content) == ("user", case.prompt)


@pytest.mark.parametrize("name", [name for name in template_names() if name != "as_is"])
def test_every_other_template_states_entry_point_and_packages(case: Case, name: str) -> None:
    text = "\n".join(message.content for message in render(load_template(name), case))
    assert case.prompt in text
    assert "`app`" in text
    assert "import: flask" in text or "导入:flask" in text
    for placeholder in ("prompt", "framework", "contract", "packages", "example"):
        assert f"{{{placeholder}}}" not in text


def test_the_contract_is_the_frameworks(case: Case) -> None:
    for name in ("web_expert", "in_chinese"):
        text = render(load_template(name), replace(case, framework="Django"))[-1].content
        assert "`urlpatterns`" in text


@pytest.mark.parametrize("framework", ["Flask", "FastAPI", "Django"])
def test_the_worked_example_solves_another_need_of_the_framework(case: Case, framework: Any) -> None:
    text = render(load_template("web_expert_cot"), replace(case, framework=framework))[-1].content
    assert text.index("/lamp") < text.index(case.prompt)
    code = extract_code(text, framework).text
    assert code is not None
    assert syntax.check(code).compiles
    assert structure.check(code, framework).passed


def test_braces_of_a_prompt_stay_as_they_are(case: Case) -> None:
    prompt = "Answer {framework} and {prompt} literally: {'a': 1}"
    assert prompt in render(load_template("web_expert"), replace(case, prompt=prompt))[-1].content


def test_the_hash_tells_prompts_apart(case: Case) -> None:
    hashes = {prompt_sha(render(load_template(name), case)) for name in template_names()}
    assert len(hashes) == len(template_names())


def test_the_hash_of_a_template_is_of_its_texts_alone() -> None:
    template = load_template("web_expert")
    assert template_sha(replace(template, name="x", description="y")) == template_sha(template)
    assert template_sha(replace(template, user=template.user + ".")) != template_sha(template)
    assert template_sha(replace(template, contract={"Flask": "an `app`"})) != template_sha(template)


def test_a_system_text_goes_before_the_users_where_the_role_is_refused() -> None:
    messages = (Message("system", "Be brief."), Message("user", "Hello"), Message("assistant", "Hi"))
    assert without_system(messages) == (Message("user", "Be brief.\n\nHello"), Message("assistant", "Hi"))
    assert without_system(messages[1:]) == messages[1:]


def test_an_agents_roles_do_without_the_system_role_too() -> None:
    messages = (Message("system", "Review."), Message("user", "This code"))
    player = Player("m", "m", "u", Parameters(), system_role=False)
    assert player.request(messages, 0).messages == (Message("user", "Review.\n\nThis code"),)
    assert replace(player, system_role=True).request(messages, 0).messages == messages


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('description = "d"\nuser = "Do it."\n', "user: expected {prompt}"),
        ('description = "d"\nuser = "{prompt}"\nassistant = "x"\n', "assistant: unknown key"),
        ('user = "{prompt}"\n', "description: required key is missing"),
        ('description = "d"\nuser = "{prompt}"\n[contract]\nRails = "x"\n', "contract.Rails"),
        ("description = ", "not a readable TOML file"),
    ],
)
def test_a_template_that_cannot_be_used_says_what_is_wrong(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(TemplateError, match=problem) as raised:
        read_template(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("name", ["web_expert", "all", "two words"])
def test_a_template_of_ones_own_needs_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.toml").write_text(MINE, "utf-8")
    with pytest.raises(TemplateError, match="rename the file"):
        load_templates(tmp_path)


def test_a_folder_without_templates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="expected a folder of templates"):
        load_templates(tmp_path / "nowhere")


@pytest.mark.usefixtures("mine")
def test_a_users_template_is_asked_and_its_hash_recorded(cases: Path, bench: Bench, workers: tuple[str, ...]) -> None:
    chosen = ("--webbench-templates=manners", "--webbench-prompt=mine,web_expert")
    with Loopback() as server:
        served(cases, server)
        bench("--model=some", "--webbench-samples=1", "--webbench-tiers=static", *chosen, *workers)
    texts = [body["messages"] for body in server.bodies]
    own = [messages for messages in texts if messages[-1]["content"].startswith("Do it: Write a Flask app")]
    assert len(texts) == 4
    assert [messages[0] for messages in own] == [{"role": "system", "content": "Answer in Flask."}] * 2
    shas = {record["prompt_template"]: record["template_sha"] for record in records(cases)}
    assert shas == run_json(cases)["settings"]["templates"]
    assert shas["mine"] == template_sha(load_templates(cases / "manners")["mine"])


@pytest.mark.usefixtures("mine")
def test_another_text_of_a_template_is_another_completion(cases: Path, bench: Bench) -> None:
    (cases / "pytest.ini").write_text("[pytest]\ntestpaths = cases\nwebbench_templates = manners\n", "utf-8")
    arguments = ("--model=some", "--webbench-samples=1", "--webbench-tiers=static", "--webbench-prompt=mine")
    with Loopback() as server:
        served(cases, server)
        bench(*arguments)
        bench(*arguments)
        assert len(server.log) == 2
        (cases / "manners" / "mine.toml").write_text(MINE.replace("Do it", "Now do it"), "utf-8")
        bench(*arguments)
        assert len(server.log) == 4


@pytest.mark.usefixtures("mine")
def test_all_means_the_users_templates_too(cases: Path, bench: Bench) -> None:
    given = ("--model=reference", "--webbench-samples=1", "--webbench-tiers=static", "-k", "alpha")
    result = bench(*given, "--webbench-templates=manners", "--webbench-prompt=all")
    result.assert_outcomes(passed=len(template_names()) + 1, deselected=len(template_names()) + 1)
    table = (cases / "reports" / "latest" / "by_template.csv").read_text("utf-8")
    assert all(f"reference,{name}," in table for name in (*template_names(), "mine"))
    assert "Prompt templates, where all shown models have them" in (
        (cases / "reports" / "latest" / "summary.md").read_text("utf-8")
    )


@pytest.mark.usefixtures("mine")
def test_a_broken_template_ends_the_run_before_the_first_call(cases: Path, bench: Bench) -> None:
    (cases / "manners" / "mine.toml").write_text('description = "d"\nuser = "x"\n', "utf-8")
    result = bench("--model=reference", "--webbench-templates=manners", "--webbench-prompt=mine")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*mine.toml: user: expected {prompt}*"])


def test_a_model_that_refuses_the_system_role_gets_its_text_from_the_user(cases: Path, bench: Bench) -> None:
    def answer(seen: Any) -> Any:
        roles = [message["role"] for message in seen.body["messages"]]
        return error(400, "System role not supported") if "system" in roles else completion()

    with Loopback(answer=answer) as server:
        served(cases, server)
        given = ("--model=some", "--webbench-samples=1", "--webbench-tiers=static", "--webbench-report-only")
        refused = bench(*given)
        served(cases, server, "system_role = false")
        accepted = bench(*given)
    assert refused.ret == 4
    refused.stdout.fnmatch_lines(["*set system_role = false in the models table*"])
    assert accepted.ret == 0
    (message,) = server.bodies[-1]["messages"]
    assert message["content"].startswith("You are an expert Flask programmer.")
    assert "Write a Flask app" in message["content"]


def test_as_is_alone_warns_at_the_start_and_in_the_summary(cases: Path, bench: Bench) -> None:
    given = ("--model=reference", "--webbench-samples=1", "--webbench-tiers=static")
    alone = bench(*given, "--webbench-prompt=as_is")
    alone.stdout.fnmatch_lines(["webbench: as_is alone was asked*", "*= webbench =*", "as_is alone was asked*"])
    assert "> as_is alone was asked" in (cases / "reports" / "latest" / "summary.md").read_text("utf-8")
    both = bench(*given, "--webbench-prompt=as_is,web_expert")
    assert "as_is alone" not in both.stdout.str()


def test_the_report_holds_what_is_said_of_templates_against_the_data(cases: Path, bench: Bench) -> None:
    bench(
        "--model=reference",
        "--webbench-samples=1",
        "--webbench-tiers=static",
        "--webbench-prompt=as_is,in_python,recap",
    )
    summary = (cases / "reports" / "latest" / "summary.md").read_text("utf-8")
    assert "- **Is as_is worse than the other templates?** static Pass@1: cannot be told: " in summary
    assert (
        "- **Is a plain prompt (in_python) as good as the elaborate ones?** static Pass@1: cannot be told: " in summary
    )
    assert "- **Do long prompts confuse small models (at most 8 billion parameters)?** not enough data: " in summary
