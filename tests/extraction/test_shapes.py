"""Reply shapes of every kind, each around the same small app, and the code that must come out."""

from __future__ import annotations

import json

import pytest

from pytest_webbench.extraction import extract_code

from .samples import APP, CLIENT, DOCUMENTED, DRAFT, FASTAPI, fenced, indented, numbered, prompted

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
    "unfenced, prose around": f"Sure, here it is:\n\n{APP}\n\nRun it. Don't forget to install it!",
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
    "markdown wrapper, text after": f"````md\n# Notes\n\n{fenced(APP)}\n````\n\n{fenced('ls', 'bash')}",
    "wrapper without label": f"````\n# Notes\n\n{fenced(APP)}\n````",
    "wrapper of tildes": f"~~~markdown\n{fenced(APP)}\n~~~",
    "inline assignment in prose": f"```debug=True``` helps.\n\n{APP}",
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
    "explained route last": f"{fenced(APP)}\n\nThe route:\n\n{fenced(APP[APP.index('@app') :])}",
    "server start last": fenced(APP) + "\n\n" + fenced("import os\n\napp.run(port=os.getpid())"),
    "tests last": fenced(APP) + "\n\n" + fenced("from app import app\n\n\ndef test_add():\n    assert app"),
    "test client last": fenced(APP) + "\n\n" + fenced("with app.test_client() as c:\n    r = c.get('/notes')"),
    "unittest last": fenced(APP) + "\n\n" + fenced("import unittest\n\n\nclass T(unittest.TestCase):\n    x = 1"),
    "other framework last": f"{fenced(APP)}\n\nThe same in FastAPI:\n\n{fenced(FASTAPI)}",
    "broken docstring in a draft": fenced('def f():\n    """oops') + "\n\nFixed:\n\n" + fenced(APP),
    "think": f"<think>\nLet me see.\n{fenced(DRAFT)}\n</think>\n\n{fenced(APP)}",
    "thinking": f"<thinking>Plan.</thinking>\n{fenced(APP)}",
    "thought": f"\n<thought>\nPlan\n</thought>\n{APP}",
    "reasoning": f"<Reasoning>\nPlan\n</Reasoning>\n\n{APP}",
    "two thoughts": f"<think>a</think>\n<think>b</think>\n{fenced(APP)}",
    "empty think": f"<think>\n\n</think>\n\n{fenced(APP)}",
    "think in brackets": f"[THINK]Draft {DRAFT}[/THINK]{APP}",
    "kimi think": f"◁think▷Draft {DRAFT}◁/think▷\n{fenced(APP)}",
    "closer only": f"I plan.\n{fenced(DRAFT)}\nGood.</think>\n\n{fenced(APP)}",
    "prose about the tag": f"{fenced(APP)}\n\nIt does not treat `</think>` in a special way.",
    "harmony": "<|channel|>analysis<|message|>Draft:\n"
    + fenced(DRAFT)
    + "<|end|><|start|>assistant<|channel|>final<|message|>"
    + fenced(APP)
    + "<|return|>",
    "harmony with commentary": "<|start|>assistant<|channel|>analysis<|message|>Hm<|end|>"
    "<|start|>assistant<|channel|>commentary<|message|>Working<|end|>"
    "<|start|>assistant<|channel|>final<|message|>" + APP + "<|end|>",
    "harmony, first mark lost": "We need a service.<|end|><|start|>assistant<|channel|>final<|message|>" + fenced(APP),
    "harmony, marks lost": "analysisWe need a service.assistantfinal" + fenced(APP),
    "end token": f"{fenced(APP)}<|im_end|>",
    "end tokens, unfenced": f"{APP}\n<|endoftext|></s>\n",
    "end token before the closer": f"```python\n{APP}\n<|eot_id|>",
    "deepseek end token": f"{APP}<｜end▁of▁sentence｜>",
    "another turn made up": f"{fenced(APP)}<|im_end|>\n<|im_start|>user\nMore!\n{fenced(DRAFT)}",
    "JSON": json.dumps({"code": APP}),
    "JSON in a fence": fenced(json.dumps({"explanation": "An app.\nIt runs.", "code": APP}), "json"),
    "JSON around a fenced reply": json.dumps({"answer": f"Here:\n{fenced(APP)}"}),
    "JSON with raw newlines": '{"code": "' + APP.replace('"', '\\"') + '"}',
    "JSON list": json.dumps([{"language": "python", "content": APP}]),
    "notebook": json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# Notes"]},
                {"cell_type": "code", "source": APP.splitlines(keepends=True)},
            ]
        }
    ),
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
    "pre and code tags, glued": f'Sure:\n<pre><code class="language-python">{APP}</code></pre>\nBye.',
    "CODE tags": f"<CODE>{APP}</CODE>",
    "fence of quotes": f"Here:\n'''python\n{APP}\n'''\nDone.",
    "unfenced beside a bash block": f"Here:\n\n{APP}\n\nRun:\n```bash\nflask run\n```",
    "unfenced between headings": f"# Notes\n\nThis is it:\n\n{APP}\n\n## Usage\n\n- run it",
    "label without fence": f"python\n{APP}",
    "role without mark": f"assistant\n\n{APP}",
    "stray closer after": f"{fenced(APP)}\n```\nSome text\n",
    "stray closer before": f"{fenced(DRAFT)}\n```\nSome text\n{fenced(APP)}",
    "opener longer than closer": f"````python\n{APP}\n```\n\nDone.",
    "glued closer of tildes": f"~~~python\n{APP}~~~",
    "second thought later": f"<think>\na\n</think>\nMore.\n<think>\n{fenced(DRAFT)}\n</think>\n{fenced(APP)}",
    "line numbers with L": fenced(numbered(APP, "L{}: {}")),
    "line numbers in brackets": fenced(numbered(APP, "[{}] {}")),
    "line numbers with arrows": fenced(numbered(APP, "{:>5}→{}")),
    "line numbers with rules": fenced(numbered(APP, "{:>3}│{}")),
    "prompts of IPython": fenced("In [1]: " + APP.replace("\n", "\n   ...: ")),
    "tab after the fence": f"```\tpython\n{APP}\n```",
    "name behind a hash": f"```python # app.py\n{APP}\n```",
}


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
        APP + '\nTAGS = """\n<think>\n</think>\n"""',
        APP + "\nif True:\n    x = 1  # see ```docs``` and ~~~\n    y = 2",
    ],
    ids=range(14),
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
        ("1 x = 1\n3 y = 2", "numbers with a gap"),
        (APP.replace("\n    notes", "\n\tnotes"), "tabs and blanks"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_a_mistake_of_the_model_is_never_repaired(code, reason):
    found = extract_code(fenced(code), "flask", "stop")
    assert (found.text, found.failure_class) == (code, None), reason


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
        ("closer glued behind a comment", ()),
        ("in a list", ()),
        ("opener behind a bullet", ()),
        ("draft, then final", ()),
        ("unfenced, prose around", ()),
    ],
)
def test_what_was_unwrapped_is_said(shape, flags):
    assert extract_code(SHAPES[shape], "flask", "stop").flags == flags
