"""Replies of several files: their names, their paths, and which one is the entry."""

from __future__ import annotations

import json

import pytest

from pytest_webbench.extraction import extract_code

from .samples import APP, DJANGO_URLS, DJANGO_VIEWS, DRAFT, fenced


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
        [
            "../evil.py",
            "/etc/evil.py",
            "a/../../evil.py",
            "C:\\evil.py",
            "C:/evil.py",
            "..\\evil.py",
            "/tmp/../x.py",
            "conftest.py",
            "web/sitecustomize.py",
        ],
    )
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

    def test_of_two_versions_of_a_file_beside_the_entry_the_later_stays(self):
        first, second = fenced("ITEMS = {}"), fenced(self.MODELS)
        reply = f"### models.py\n{first}\n\n### models.py\n{second}\n\n### app.py\n{fenced(self.MAIN)}"
        assert extract_code(reply, "flask").files["models.py"] == self.MODELS

    def test_a_command_or_a_client_does_not_take_the_name_of_the_app(self):
        client = "import requests\nprint(requests.get('http://localhost').text)"
        reply = (
            f"**app.py**\n{fenced(APP)}\n\nRun `app.py`:\n{fenced('python app.py', 'bash')}\n\n"
            f"With `app.py` running, try:\n{fenced(client)}"
        )
        code = extract_code(reply, "flask")
        assert dict(code.files) == {"app.py": APP}

    def test_a_file_that_the_prose_speaks_of_is_not_the_block(self):
        install = fenced("pip install -r requirements.txt", "bash")
        reply = f"Install `requirements.txt`:\n{install}\n\nIt reads `config.json`:\n{fenced(APP)}"
        code = extract_code(reply, "flask")
        assert (code.text, dict(code.files), code.entry) == (APP, {}, "app.py")

    def test_a_broken_excerpt_does_not_replace_a_sound_file(self):
        models, excerpt = fenced(self.MODELS), fenced("ITEMS = = ...")
        reply = f"### models.py\n{models}\n\n### models.py\n{excerpt}\n\n### app.py\n{fenced(self.MAIN)}"
        assert extract_code(reply, "flask").files["models.py"] == self.MODELS

    def test_files_in_json_are_named_too(self):
        by_key = {"app.py": APP, "templates/index.html": "<p>hi</p>"}
        by_field = {"files": [{"path": name, "content": text} for name, text in by_key.items()]}
        for data in (by_key, by_field):
            code = extract_code(json.dumps(data), "flask")
            assert (dict(code.files), code.entry) == (by_key, "app.py")

    def test_django_views_and_urls(self):
        reply = f"### views.py\n{fenced(DJANGO_VIEWS)}\n\n### urls.py\n{fenced(DJANGO_URLS)}"
        code = extract_code(reply, "Django")
        assert (code.entry, code.text, sorted(code.files)) == (
            "urls.py",
            DJANGO_URLS,
            ["urls.py", "views.py"],
        )
