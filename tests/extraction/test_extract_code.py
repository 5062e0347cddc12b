"""Reply shapes of every kind, each around the same small app, and the code that must come out."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webbench.extraction import Code, extract_code

APP = textwrap.dedent('''\
    from flask import Flask, request

    app = Flask(__name__)
    notes = []


    @app.post("/notes")
    def add():
        """Add a note."""
        notes.append(request.json["text"])
        return {"count": len(notes)}, 201''')
DRAFT = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/draft')\ndef draft():\n    return 'draft'"
FASTAPI = "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get('/ping')\ndef ping():\n    return {'pong': True}"
DJANGO_VIEWS = "from django.http import JsonResponse\n\n\ndef ping(request):\n    return JsonResponse({'pong': True})"
DJANGO_URLS = "from django.urls import path\nfrom views import ping\n\nurlpatterns = [path('ping', ping)]"
CLIENT = "import requests\n\nr = requests.get('http://localhost:5000/notes')"
DOCUMENTED = APP + '\n\n\nHELP = """\nTry:\n\n```\ncurl localhost\n```\n"""\n\nTAIL = 1'


def fenced(code: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{code}\n{fence}"


def indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


def numbered(code: str, pattern: str, start: int = 1) -> str:
    return "\n".join(pattern.format(n, line) for n, line in enumerate(code.split("\n"), start))


def prompted(code: str) -> str:
    lines = code.split("\n")
    return "\n".join((">>> " if line and line[0] not in ' "' else "... ") + line for line in lines)


SHAPES = {
    "py label": fenced(APP, "py"),
    "PY3 label": fenced(APP, "PY3"),
    "python 3.11 label": fenced(APP, "python3.11"),
    "no label": fenced(APP, ""),
    "plaintext label": fenced(APP, "plaintext"),
    "label after blanks": fenced(APP, "  python  "),
    "attributes": fenced(APP, 'python {linenos=true hl_lines="2-4"}'),
    "attribute in braces": fenced(APP, "{python}"),
    "label and number lines": fenced(APP, "python showLineNumbers"),
    "language- prefix": fenced(APP, "language-python"),
    "framework as label": fenced(APP, "flask"),
    "long fence": fenced(APP, "python", "``````"),
    "tildes": fenced(APP, "python", "~~~"),
    "tildes without label": fenced(APP, "", "~~~~"),
    "closer longer than opener": f"```python\n{APP}\n`````\nBye.",
    "closer with blanks": f"```python\n{APP}\n   ```   \nBye.",
    "CRLF": fenced(APP).replace("\n", "\r\n"),
    "CR": fenced(APP).replace("\n", "\r"),
    "BOM before the reply": "\ufeff" + fenced(APP),
    "BOM in the block": "```python\n\ufeff" + APP + "\n```",
    "BOM in unfenced code": "\ufeff" + APP,
    "unfenced": APP,
    "unfenced with end of line": APP + "\n\n",
    "unfenced, prose around": f"Sure, here it is:\n\n{APP}\n\nRun it with flask run. Don't forget to install it!",
    "unfenced, prose glued": f"Sure, here it is:\n{APP}\nThat's it: it doesn't persist.",
    "unfenced, import in prose": f"First import the package, then run:\n\n{APP}\n\nEnjoy!",
    "indented code of Markdown": f"Here you go:\n\n{indented(APP, '    ')}\n\nDone.",
    "answer tags": f"<answer>\n{APP}\n</answer>",
    "pre and code tags": f'<pre><code class="language-python">\n{APP}\n</code></pre>',
    "in a list": f"1. The app:\n\n{indented(fenced(APP), '   ')}\n\n2. Run it.",
    "opener behind a bullet": f"- ```python\n{indented(APP, '  ')}\n  ```\n- run it",
    "opener behind a number, code at the margin": f"1. ```python\n{APP}\n```",
    "opener indented, code at the margin": f"   ```python\n{APP}\n   ```",
    "fence at the margin, code indented": fenced(indented(APP, "    ")),
    "tab-indented": indented(fenced(APP), "\t"),
    "quoted": indented(fenced(APP), "> ").replace("\n\n", "\n>\n"),
    "quoted twice": indented(fenced(APP), "> > "),
    "quoted without blank": indented(fenced(APP), ">"),
    "quoted, closer missing": indented(f"```python\n{APP}", "> ") + "\n\nThat was it.",
    "in quote and list": indented(fenced(APP), ">   "),
    "glued closer": f"```python\n{APP}```",
    "glued closer, prose behind it": f"```python\n{APP}``` and that is all.",
    "glued closer, block after": f"```python\n{APP}```\n\nRun:\n\n```bash\nflask run\n```",
    "closer glued behind a comment": f"```python\n{APP}  # done```",
    "prose glued to the closer": f"```python\n{APP}\n```This keeps notes in memory.\n",
    "glued opener": f"```{APP}\n```",
    "glued opener with label": f"```python {APP}\n```",
    "label and code run together": f"```python{APP}\n```",
    "opener behind prose": f"Here is the code: ```python\n{APP}\n```\nDone.",
    "unclosed block, then a bash block": f"```python\n{APP}\n```bash\nflask run\n```",
    "markdown wrapper, same length": f"```markdown\n# Notes\n\n{fenced(APP)}\n```",
    "markdown wrapper, text after": f"````md\n# Notes\n\n{fenced(APP)}\n````\n\nDone. {fenced('flask run', 'bash')}",
    "wrapper without label": f"````\n# Notes\n\n{fenced(APP)}\n````",
    "wrapper of tildes": f"~~~markdown\n{fenced(APP)}\n~~~",
    "inline code in prose": f"Use ```flask run``` to start.\n```flask run``` again.\n\n{fenced(APP)}",
    "empty block first": f"{fenced('')}\n\n{fenced(APP)}",
    "placeholder block first": f"{fenced('# your code here')}\n\n{fenced(APP)}",
    "requirements first": f"{fenced('flask==3.1', '')}\n\n{fenced(APP)}",
    "tree first": fenced("notes/\n  app.py", "text") + "\n\n" + fenced(APP),
    "output after": fenced(APP) + "\n\nOutput:\n\n" + fenced('{"count": 1}', ""),
    "shell after": f"{fenced(APP)}\n\n{fenced('curl localhost:5000/notes', 'console')}",
    "console in a python block": f"{fenced('$ pip install flask')}\n\n{fenced(APP)}",
    "html after": f"{fenced(APP)}\n\n{fenced('<p>hi</p>', 'html')}",
    "draft, then final": f"{fenced(DRAFT)}\n\nBetter:\n\n{fenced(APP)}",
    "client last": f"{fenced(APP)}\n\n{fenced(CLIENT)}",
    "excerpt last": f"{fenced(APP)}\n\nNote this line:\n\n{fenced('app = Flask(__name__)')}",
    "explained route last": f"{fenced(APP)}\n\nThe route:\n\n{fenced(APP[APP.index('@app'):])}",
    "server start last": f"{fenced(APP)}\n\nTo start it:\n\n{fenced('app.run(debug=True)')}",
    "tests last": fenced(APP) + "\n\n" + fenced("from app import app\n\n\ndef test_add():\n    assert app"),
    "test client last": fenced(APP) + "\n\n" + fenced("with app.test_client() as c:\n    r = c.get('/notes')"),
    "unittest last": fenced(APP) + "\n\n" + fenced("import unittest\n\n\nclass T(unittest.TestCase):\n    x = 1"),
    "other framework last": f"{fenced(APP)}\n\nThe same in FastAPI:\n\n{fenced(FASTAPI)}",
    "broken docstring in a draft": fenced('def f():\n    """oops') + "\n\nFixed:\n\n" + fenced(APP),
    "think": f"<think>\nLet me see.\n{fenced(DRAFT)}\n</think>\n\n{fenced(APP)}",
    "thinking": f"<thinking>Plan.</thinking>{fenced(APP)}".replace("</thinking>`", "</thinking>\n`"),
    "thought": f"\n<thought>\nPlan\n</thought>\n{APP}",
    "reasoning": f"<Reasoning>\nPlan\n</Reasoning>\n\n{APP}",
    "two thoughts": f"<think>a</think>\n<think>b</think>\n{fenced(APP)}",
    "empty think": f"<think>\n\n</think>\n\n{fenced(APP)}",
    "think in brackets": f"[THINK]Draft {DRAFT}[/THINK]{APP}",
    "kimi think": f"◁think▷Draft {DRAFT}◁/think▷\n{fenced(APP)}",
    "closer only": f"I plan.\n{fenced(DRAFT)}\nGood.</think>\n\n{fenced(APP)}",
    "prose about the tag": f"{fenced(APP)}\n\nIt does not treat `</think>` in a special way.",
    "harmony": "<|channel|>analysis<|message|>Draft:\n" + fenced(DRAFT)
    + "<|end|><|start|>assistant<|channel|>final<|message|>" + fenced(APP) + "<|return|>",
    "harmony with commentary": "<|start|>assistant<|channel|>analysis<|message|>Hm<|end|>"
    "<|start|>assistant<|channel|>commentary<|message|>Working<|end|>"
    "<|start|>assistant<|channel|>final<|message|>" + APP + "<|end|>",
    "harmony, first mark lost": "We need a service.<|end|><|start|>assistant<|channel|>final<|message|>" + fenced(APP),
    "harmony, marks lost": "analysisWe need a service.assistantfinal" + fenced(APP),
    "end token": f"{fenced(APP)}<|im_end|>",
    "end tokens, unfenced": f"{APP}\n<|endoftext|></s>\n",
    "end token before the closer": f"```python\n{APP}\n<|eot_id|>",
    "deepseek end token": f"{APP}<｜end▁of▁sentence｜>",
    "another turn made up": f"{fenced(APP)}<|im_end|>\n<|im_start|>user\nThanks!<|im_end|>\n<|im_start|>assistant\n{fenced(DRAFT)}",
    "JSON": json.dumps({"code": APP}),
    "JSON in a fence": fenced(json.dumps({"explanation": "An app.\nIt runs.", "code": APP}), "json"),
    "JSON around a fenced reply": json.dumps({"answer": f"Here:\n{fenced(APP)}"}),
    "JSON with raw newlines": '{"code": "%s"}' % APP.replace('"', '\\"'),
    "JSON list": json.dumps([{"language": "python", "content": APP}]),
    "notebook": json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Notes"]},
                                      {"cell_type": "code", "source": APP.splitlines(keepends=True)}]}),
    "line numbers with bars": fenced(numbered(APP, "{:3d} | {}")),
    "line numbers with colons": fenced(numbered(APP, "{}: {}")),
    "line numbers with dots": fenced(numbered(APP, "{}. {}")),
    "line numbers with blanks": fenced(numbered(APP, "{:>4} {}")),
    "line numbers from ten": fenced(numbered(APP, "{}\t{}", start=10)),
    "line numbers, unfenced": numbered(APP, "{:4d}\t{}"),
    "prompts": fenced(prompted(APP)),
    "prompts labelled pycon": fenced(prompted(APP), "pycon"),
    "prompts with output": fenced(prompted(APP) + "\n201\n'ok'"),
    "prompts, unfenced": prompted(APP),
}  # fmt: skip


def body(code: str | None) -> str:
    """Only what the shape may change: blank lines at the ends and a comment glued before a closer."""
    return (code or "").strip("\n").removesuffix("  # done")


@pytest.mark.parametrize("reply", SHAPES.values(), ids=SHAPES)
def test_the_app_comes_out_of_every_shape(reply):
    code = extract_code(reply, "Flask", "stop")
    assert body(code.text) == APP
    assert code.failure_class is None


@pytest.mark.parametrize(
    "code",
    [
        DOCUMENTED,
        APP + "\n\n# use ```flask run``` to start",
        APP + "\nMARK = '```'",
        APP + '\nMARK = """\n~~~\n```python\n"""',
        APP + "\nTAG = text.split('</think>')[-1]",
        APP + "\nPAGE = '<p>1 &lt; 2 &amp;&amp; 3</p>'",
        APP + "\nPRICE = '10\u00a0000\u200b \u201ceuro\u201d'",
        APP + "\nBANNER = 'a\x0cb\x85c\u2028d'",
        APP + "\nEND = '<|im_end|>'",
        APP + "\n\n\nclass Store(Protocol):\n    def get(self) -> str: ...",
        APP + "\n\nBLANK = '''\n\n\n'''   \n\t",
        APP + "\nRAW = r'\\n'",
    ],
    ids=range(12),
)
@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_code_in_a_fence_is_not_changed_by_a_character(code, fence):
    reply = f"Here:\n\n{fenced(code, 'python', fence)}\n\nRun it:\n\n{fenced('flask run', 'bash')}"
    assert extract_code(reply, "flask").text == code


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (APP.replace('"/notes"', "\u201c/notes\u201d"), "curly quotes"),
        (APP.replace("    ", "\u00a0   "), "no-break spaces"),
        (APP.replace("len(notes)", "len(notes\u200b)"), "zero width"),
        (APP.replace('"', "&quot;"), "entities"),
        (APP + "\n# \0", "NUL"),
        ("!pip install flask\n" + APP, "notebook magic"),
        (APP.replace("\n    notes", "\n\tnotes"), "tabs and blanks"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_a_mistake_of_the_model_is_never_repaired(code, reason):
    found = extract_code(fenced(code), "flask", "stop")
    assert (found.text, found.failure_class) == (code, None), reason


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
        "reply", [None, "", f"<think>\n{fenced(DRAFT)}\nHm", "<|channel|>analysis<|message|>Hm", "[THINK]Hm", "First,"]
    )
    def test_a_cut_before_any_code_is_truncated_too(self, reply):
        code = extract_code(reply, "flask", "length")
        assert (code.text, code.failure_class) == (None, "truncated")

    def test_reasoning_without_an_answer_is_flagged(self):
        code = extract_code(f"<think>\n{fenced(DRAFT)}", "flask", "stop")
        assert (code.text, code.failure_class, code.flags) == (None, "no_code", ("reasoning_only",))

    def test_a_broken_line_of_unfenced_code_is_not_cut_off(self):
        broken = APP.replace("def add():", "def add()")
        code = extract_code(f"Here:\n\n{broken}\n\nEnjoy it.", "flask", "stop")
        assert (code.text, code.failure_class) == (broken, None)


class TestFlags:
    @pytest.mark.parametrize(
        ("shape", "flags"),
        [
            ("JSON", ("json_wrapped",)),
            ("JSON around a fenced reply", ("json_wrapped",)),
            ("line numbers with bars", ("line_numbers",)),
            ("prompts", ("prompt_unwrapped",)),
            ("fence at the margin, code indented", ("dedented",)),
            ("unclosed block, then a bash block", ("unclosed_fence",)),
            ("quoted, closer missing", ("unclosed_fence",)),
            ("glued closer", ()),
            ("draft, then final", ()),
            ("unfenced, prose around", ()),
        ],
    )
    def test_what_was_unwrapped_is_said(self, shape, flags):
        assert extract_code(SHAPES[shape], "flask", "stop").flags == flags

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
    def test_the_rule_says_where_and_why(self, reply, framework, rule):
        assert extract_code(reply, framework).rule == rule


class TestFiles:
    MODELS = "ITEMS = {}\n\n\ndef add(name):\n    ITEMS[name] = name"
    MAIN = "import models\nfrom flask import Flask\n\napp = Flask(__name__)"

    @pytest.mark.parametrize(
        "named",
        [
            "### `{}`\n\n```python\n{}\n```",
            "## 2. {} (the data)\n\n```python\n{}\n```",
            "**{}**\n```python\n{}\n```",
            "**`{}`**:\n\n\n```python\n{}\n```",
            "File: {}\n```python\n{}\n```",
            "- filename: `{}`\n\n  ```python\n{}\n```",
            "Save this as {}:\n\n```python\n{}\n```",
            "Create `{}` with this content:\n\n```python\n{}\n```",
            "### {}\n\nIt holds this:\n\n```python\n{}\n```",
            "```python:{}\n{}\n```",
            "```python {}\n{}\n```",
            '```python title="{}"\n{}\n```',
            "```python filename={}\n{}\n```",
            "```{}\n{}\n```",
            "```python\n# {}\n{}\n```",
            "```python\n# file: {}\n{}\n```",
            "```python\n# {} - what it does\n{}\n```",
            "```\n# {}\n{}\n```",
            '```python\n"""{}"""\n{}\n```',
        ],
    )
    def test_every_way_to_name_a_file_is_read(self, named):
        reply = "\n\n".join([named.format("models.py", self.MODELS), named.format("web/main.py", self.MAIN)])
        code = extract_code(reply, "flask")
        assert sorted(code.files) == ["models.py", "web/main.py"]
        assert code.entry == "web/main.py"
        assert code.text == code.files["web/main.py"]
        assert code.text.endswith(self.MAIN)
        assert code.files["models.py"].endswith(self.MODELS)

    def test_the_entry_is_the_file_with_the_app_wherever_it_stands(self):
        reply = f"```python\n# app.py\n{self.MAIN}\n```\n\n```python\n# models.py\n{self.MODELS}\n```"
        assert extract_code(reply, "flask").entry == "app.py"

    def test_an_unnamed_app_beside_named_files_gets_a_free_name(self):
        reply = f"### app/models.py\n{fenced(self.MODELS)}\n\nThe app itself:\n\n{fenced(self.MAIN)}"
        code = extract_code(reply, "flask")
        assert code.entry == "main.py"
        assert sorted(code.files) == ["app/models.py", "main.py"]

    def test_files_of_other_kinds_come_along(self):
        page = "<!-- templates/index.html -->\n<p>hi</p>"
        reply = f"{fenced('flask', 'requirements.txt')}\n\n{fenced(page, 'html')}\n\n{fenced(APP, 'app.py')}"
        code = extract_code(reply, "flask")
        assert sorted(code.files) == ["app.py", "requirements.txt", "templates/index.html"]
        assert code.files["templates/index.html"] == page

    @pytest.mark.parametrize(
        "path",
        ["../evil.py", "/etc/evil.py", "a/../../evil.py", "C:\\evil.py", "C:/evil.py", "..\\evil.py", "/tmp/../x.py",
         "conftest.py", "web/sitecustomize.py"],
    )  # fmt: skip
    def test_a_path_out_of_the_folder_is_refused(self, path):
        code = extract_code(f"```python\n# {path}\n{self.MODELS}\n```\n\n{fenced(APP)}", "flask")
        assert (code.text, dict(code.files), code.entry) == (APP, {}, "app.py")
        assert code.flags == ("unsafe_path",)

    def test_a_refused_path_does_not_lose_the_code(self):
        code = extract_code(f"```python\n# /srv/app.py\n{APP}\n```", "flask")
        assert code.text == f"# /srv/app.py\n{APP}"
        assert (code.entry, code.flags) == ("app.py", ("unsafe_path",))

    def test_paths_are_normalised(self):
        assert extract_code(f"```./web\\main.py\n{APP}\n```", "flask").entry == "web/main.py"

    def test_of_two_versions_of_a_file_the_later_stays(self):
        reply = f"### app.py\n{fenced(DRAFT)}\n\n### app.py\n{fenced(APP)}"
        code = extract_code(reply, "flask")
        assert (dict(code.files), code.text) == ({"app.py": APP}, APP)

    def test_a_command_or_a_client_does_not_take_the_name_of_the_app(self):
        client = "import requests\nprint(requests.get('http://localhost').text)"
        reply = (
            f"**app.py**\n{fenced(APP)}\n\nRun `app.py`:\n{fenced('python app.py', 'bash')}\n\n"
            f"With `app.py` running, try:\n{fenced(client)}"
        )
        code = extract_code(reply, "flask")
        assert dict(code.files) == {"app.py": APP}

    def test_files_in_json_are_named_too(self):
        by_key = {"app.py": APP, "templates/index.html": "<p>hi</p>"}
        by_field = {"files": [{"path": name, "content": text} for name, text in by_key.items()]}
        for data in (by_key, by_field):
            code = extract_code(json.dumps(data), "flask")
            assert (dict(code.files), code.entry) == (by_key, "app.py")

    def test_django_views_and_urls(self):
        reply = f"### views.py\n{fenced(DJANGO_VIEWS)}\n\n### urls.py\n{fenced(DJANGO_URLS)}"
        code = extract_code(reply, "Django")
        assert (code.entry, code.text, sorted(code.files)) == ("urls.py", DJANGO_URLS, ["urls.py", "views.py"])


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
        assert extract_code(f"{fenced(DJANGO_URLS)}\n{fenced(more)}", "django").text.endswith(more)

    def test_earlier_blocks_that_the_app_needs_are_put_before_it(self):
        imports, model = "from flask import Flask", "from dataclasses import dataclass\n\n\nclass Note:\n    x = 1"
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


FRAGMENTS = st.sampled_from(
    ["```", "```python\n", "~~~", "````", "\n", "> ", "- ", "    ", '"""', "'''", "'", "#", "x = 1", "def f():", APP,
     "<think>", "</think>", "<|channel|>final<|message|>", "{", "}", '"code": ', ">>> ", "... ", "1 | ", "\ud800", "\0",
     "@app.get('/')", "# app.py", "\r", "\ufeff", "<|im_end|>", "prose", "[", "\\"]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=30).map("".join), st.sampled_from(["stop", "length", None]))
def test_no_reply_whatever_makes_extraction_fail(reply, finish_reason):
    code = extract_code(reply, "flask", finish_reason)
    assert (code.text is None) == (code.rule == "none")
    assert code.text is not None or code.failure_class in ("no_code", "truncated")
    assert not code.files or code.files[code.entry] == code.text


STORMS = {
    "backticks in lines": "```\n" * 20_000,
    "one line of backticks": "`" * 80_000,
    "openers": "```python\n" * 20_000,
    "growing fences": "\n".join("`" * (3 + n % 60) + "python" for n in range(5_000)),
    "triple quotes": '```python\nx = """\n```\n' * 5_000,
    "quote marks": "> " * 40_000 + "\n" + "> ```\n" * 10_000,
    "list marks": "- " * 40_000 + "```",
    "numbers": "1. " * 30_000 + "```\n" + "1. 2. 3. ``" * 1_000,
    "think tags": "</think>\n" * 20_000,
    "open think tags": "<think>" * 20_000,
    "think pairs": "<think>a</think>" * 10_000,
    "end tokens": "<|im_end|>" * 20_000,
    "assignments": "x = (\n" * 20_000,
    "imports in prose": "import this\nand so on, don't you\n" * 5_000,
    "blocks": "```python\nx = 1\n```\n" * 3_000,
    "file names": "a." * 40_000 + "py\n```python\nx = 1\n```",
    "braces": "{" * 50_000 + "}" * 50_000,
    "digits": "1" * 100_000,
    "spaces": " " * 100_000 + "x",
    "blanks before a token": "x" + " \n" * 50_000 + "<|im_end|>",
    "quotes in a line": "```python\n" + "'\"" * 50_000 + "\n```",
    "long program": fenced(APP + "\n" + "y = [1, 2, 'three']\n" * 10_000),
}


@pytest.mark.parametrize("reply", STORMS.values(), ids=STORMS)
def test_degenerate_replies_come_to_an_end(reply):
    assert extract_code(reply, "flask", "length").rule
