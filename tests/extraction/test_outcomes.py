"""What is said of a reply beside its code: no code, refusal, truncation, the rule, the pieces joined."""

from __future__ import annotations

import json

import pytest

from pytest_webbench.extraction import Code, extract_code

from .samples import APP, CLIENT, DJANGO_URLS, DJANGO_VIEWS, DRAFT, FASTAPI, fenced


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        " \n\t",
        "Sorry",
        "Sorry, unable",
        "N/A",
        "I'd use Flask for this: it's small, it's well known. From there, import what you need.",
        "```python\n```",
        "```python\n# TODO\n```",
        "```python\n...\n```",
        "```bash\npip install flask\n```",
        "```\nflask run\n```",
        "```html\n<p>hi</p>\n```",
        '{"error": "cannot comply"}',
        '```json\n{"id": 1}\n```',
        "<think></think>",
        "<|channel|>analysis<|message|>" + fenced(DRAFT),
        fenced(DRAFT) + "<|end|><|start|>assistant<|channel|>final<|message|>Use Flask.",
        "```python\ndef test_add():\n    assert True\n```",
    ],
)
def test_a_reply_without_code_is_told_as_such(reply):
    code = extract_code(reply, "flask", "stop")
    assert (code.text, code.failure_class, code.rule, dict(code.files)) == (None, "no_code", "none", {})


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't assist with that.",
        "I\u2019m not able to help with building this.",
        "I cannot provide code that stores passwords. I can explain the risks instead.",
        "I won't write that.",
    ],
)
def test_a_refusal_in_words_is_no_code_with_a_flag(reply):
    code = extract_code(reply, "flask", "stop")
    assert (code.failure_class, code.flags) == ("no_code", ("refusal_text",))


def test_words_of_regret_before_code_are_no_refusal():
    code = extract_code(f"I'm sorry for the confusion:\n{fenced(APP)}", "flask")
    assert (code.text, code.flags) == (APP, ())


PATCH = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,3 @@\n from flask import Flask\n+import os\n app = Flask(__name__)"
SEARCH_REPLACE = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE"


@pytest.mark.parametrize("patch", [PATCH, SEARCH_REPLACE, f"*** Begin Patch\n{PATCH}"])
@pytest.mark.parametrize("info", ["diff", "python", "", None])
def test_a_diff_is_no_program(patch, info):
    code = extract_code(patch if info is None else fenced(patch, info), "flask", "stop")
    assert (code.text, code.failure_class, code.flags) == (None, "no_code", ("diff_reply",))


class TestTruncation:
    CUT = APP[: APP.index("request.json[") + 14]

    @pytest.mark.parametrize("info", ["python", "", "text"])
    @pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS"])
    def test_a_cut_program_is_truncated(self, info, finish_reason):
        code = extract_code(f"```{info}\n{self.CUT}", "flask", finish_reason)
        assert (code.text, code.failure_class) == (self.CUT, "truncated")
        assert code.flags == ("unclosed_fence", "truncated")

    def test_an_unfenced_cut_program_keeps_its_cut_line(self):
        code = extract_code(f"Here it is:\n\n{self.CUT}", "flask", "length")
        assert (code.text, code.failure_class) == (self.CUT, "truncated")

    def test_a_cut_after_complete_code_is_only_a_flag(self):
        code = extract_code(f"{fenced(APP)}\n\nThis app keeps", "flask", "length")
        assert (code.text, code.failure_class, code.flags) == (APP, None, ("truncated",))

    @pytest.mark.parametrize("ticks", ["`", "``", "\n`", "\n``"])
    def test_half_a_closer_is_taken_off(self, ticks):
        code = extract_code(f"```python\n{APP}{ticks}", "flask", "length")
        assert (code.text, code.flags) == (APP, ("unclosed_fence", "truncated"))

    def test_an_unclosed_broken_block_that_says_stop_is_suspected(self):
        code = extract_code(f"```python\n{self.CUT}", "flask", "stop")
        assert (code.failure_class, code.flags) == (None, ("unclosed_fence", "truncation_suspected"))

    @pytest.mark.parametrize(
        "reply",
        [
            None,
            "",
            f"<think>\n{fenced(DRAFT)}\nHm",
            "<|channel|>analysis<|message|>Hm",
            "[THINK]Hm",
            "First,",
        ],
    )
    def test_a_cut_before_any_code_is_truncated_too(self, reply):
        code = extract_code(reply, "flask", "length")
        assert (code.text, code.failure_class) == (None, "truncated")

    def test_a_broken_block_that_was_closed_is_not_suspected(self):
        assert extract_code(fenced(self.CUT), "flask", "stop").flags == ()

    def test_reasoning_without_an_answer_is_flagged(self):
        code = extract_code(f"<think>\n{fenced(DRAFT)}", "flask", "stop")
        assert (code.text, code.failure_class, code.flags) == (None, "no_code", ("reasoning_only",))

    def test_a_broken_line_of_unfenced_code_is_not_cut_off(self):
        broken = APP.replace("def add():", "def add()")
        code = extract_code(f"Here:\n\n{broken}\n\nEnjoy it.", "flask", "stop")
        assert (code.text, code.failure_class) == (broken, None)


@pytest.mark.parametrize(
    ("reply", "framework", "rule"),
    [
        (fenced(APP), "Flask", "fence_app"),
        (APP, "FLASK", "text_app"),
        (f"Here:\n\n{APP}\n\nBye now.", "flask", "run_app"),
        (json.dumps({"code": APP}), "flask", "json_app"),
        (fenced(FASTAPI), "Flask", "fence_any_app"),
        (fenced("from flask import Blueprint\nbp = Blueprint('x', __name__)"), "Flask", "fence_router"),
        (fenced("app = Flask(__name__)"), "Flask", "fence_partial_app"),
        (fenced("app = Flask(__name__"), "Flask", "fence_broken_app"),
        (fenced("x = 1"), "Flask", "fence_parsing"),
        (fenced("x = = 1"), "Flask", "fence_longest"),
        (fenced(DJANGO_URLS), "Django", "fence_app"),
        (fenced(DJANGO_VIEWS), "Django", "fence_router"),
    ],
)
def test_the_rule_says_where_and_why(reply, framework, rule):
    assert extract_code(reply, framework).rule == rule


class TestPieces:
    HEAD = "from flask import Flask\n\napp = Flask(__name__)"
    ROUTE = "@app.get('/x')\ndef x():\n    return 'x'"

    def test_later_routes_of_the_same_app_are_appended(self):
        code = extract_code(f"{fenced(self.HEAD)}\n\nThen:\n\n{fenced(self.ROUTE)}", "flask")
        assert code.text == f"{self.HEAD}\n\n\n{self.ROUTE}"
        assert code.flags == ("joined",)

    def test_a_router_gets_its_routes(self):
        head, route = "from fastapi import APIRouter\nrouter = APIRouter()", "@router.get('/x')\ndef x(): ..."
        assert extract_code(f"{fenced(head)}\n{fenced(route)}", "fastapi").text == f"{head}\n\n\n{route}"

    def test_more_urlpatterns_are_appended(self):
        more = "urlpatterns += [path('more', ping)]"
        assert extract_code(f"{fenced(DJANGO_URLS)}\n{fenced(more)}", "django").text == f"{DJANGO_URLS}\n\n\n{more}"

    def test_earlier_blocks_that_the_app_needs_are_put_before_it(self):
        imports, model = (
            "from flask import Flask",
            "from dataclasses import dataclass\n\n\nclass Note:\n    x = 1",
        )
        app = "app = Flask(__name__)\nnote = Note()"
        code = extract_code("\n\n".join(map(fenced, [imports, model, app])), "flask")
        assert code.text == "\n\n\n".join([imports, model, app])

    def test_earlier_blocks_that_nothing_needs_stay_out(self):
        assert extract_code(fenced("def other():\n    return 1") + "\n" + fenced(APP), "flask").text == APP


def test_a_broken_app_is_not_passed_over_for_a_sound_client():
    broken = APP.replace("def add():", "def add()")
    code = extract_code(f"{fenced(broken)}\n\n{fenced(CLIENT)}", "flask")
    assert code.text == broken


def test_a_sound_draft_wins_over_a_broken_revision():
    assert extract_code(f"{fenced(APP)}\n{fenced(APP.replace('):', ')'))}", "flask").text == APP


def test_an_unknown_framework_is_an_error():
    with pytest.raises(ValueError, match="expected one of flask, fastapi, django, got 'Sanic'"):
        extract_code(APP, "Sanic")


def test_code_travels_as_json():
    code = extract_code(f"### app.py\n{fenced(APP)}", "flask", "stop")
    data = json.loads(json.dumps(code.to_json()))
    assert Code(**{**data, "flags": tuple(data["flags"])}) == code
