"""What `index.html` holds: one file, every figure from the statistics, every text of a model as data."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from page.conftest import make_page
from page.runs import CASES, REFERENCE, answer, records_of, write_run

from pytest_webbench.reports import html
from pytest_webbench.statistics.summary import summarise_group

HOSTILE = "</script><script>alert(1)</script><!--<script>\0\ud800\u2028]]> data:text/html;base64,PHNjcmlwdD4= & &lt;"


class Elements(HTMLParser):
    """Counts elements and collects what scripts hold, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.scripts: dict[str | None, str] = {}
        self._id: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "script":
            self._id = found.get("id")
            self.scripts[self._id] = ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts[self._id] += data

    def block(self, name: str) -> Any:
        """Return the value of a compressed part."""
        return json.loads(zlib.decompress(base64.b64decode(self.scripts[name])))


def read(page: Path) -> tuple[Elements, dict[str, Any]]:
    """Return the elements of a page and the figures in it."""
    elements = Elements(page.read_text("ascii"))
    return elements, json.loads(elements.scripts["data"])


def one_sample(folder: Path) -> Path:
    """Write a run of one sample."""
    return write_run(folder, models=["llama"], cases=CASES[:1], templates=["as_is"], samples=1)


def test_the_page_names_no_other_file_and_no_server(index: Path) -> None:
    elements, _ = read(index)
    assert [address for address in elements.addresses if not address.startswith(("#", "data:"))] == []
    text = re.sub(r'<script type="[^"]*" id="[^"]*">.*?</script>', "", index.read_text("ascii"))
    assert re.findall(r"(?:https?:)?//[a-z]", text.replace("http://www.w3.org/2000/svg", "")) == []


@pytest.mark.parametrize("field", ["reply", "code", "prompt", "model", "message"])
def test_hostile_text_adds_no_element(tmp_path: Path, field: str) -> None:
    plain = make_page(one_sample(tmp_path / "plain"))
    folder = one_sample(tmp_path / "hostile")
    record = records_of(folder)[0]
    line = json.loads(answer(record, REFERENCE))
    if field in ("reply", "code"):
        line[field] = HOSTILE
    elif field == "prompt":
        line["messages"][0]["content"] = HOSTILE
    (folder / "completions.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    if field in ("model", "message"):
        text = (folder / "records.jsonl").read_text()
        data = json.loads(text) | {"model_id" if field == "model" else "message": HOSTILE}
        (folder / "records.jsonl").write_text(json.dumps(data) + "\n")
    elements, data = read(make_page(folder))
    assert elements.tags == read(plain)[0].tags
    sample = elements.block(data["samples"][0][-1])
    held = {"reply": sample["reply"], "code": sample["code"], "message": sample["message"], "model": sample["model_id"],
            "prompt": elements.block(sample["prompt"])[0]["content"]}  # fmt: skip
    assert held[field] == HOSTILE


def test_a_run_id_is_escaped(tmp_path: Path) -> None:
    folder = one_sample(tmp_path)
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(run | {"run_id": "</title><script>é"}))
    text = make_page(folder).read_text("ascii")
    assert "<title>webbench &lt;/title&gt;&lt;script&gt;&#233;</title>" in text


def test_figures_are_those_of_the_statistics_for_every_choice_of_filters(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    _, data = read(make_page(folder))
    records = [record for record in records_of(folder) if record.framework == "Flask" and record.difficulty == "hard"]
    for key, wanted in (("Flask\n\nhard\n", {"as_is", "web_expert"}), ("Flask\n\nhard\nas_is", {"as_is"})):
        group = [record for record in records if record.model == "gemini" and record.prompt_template in wanted]
        expected = summarise_group((), group)
        found = data["rows"][data["slices"][key]["gemini"]]
        estimate = expected.metrics["functional_pass_at_1"]
        assert found["metrics"]["functional_pass_at_1"] == pytest.approx(
            [estimate.value, estimate.low, estimate.high, estimate.n], abs=1e-5
        )
        assert (found["n"], found["expected"], found["truncated"]) == (expected.n, len(group), expected.truncated)
    assert "Flask\nsecurity\n\n" not in data["slices"]


def test_what_is_not_known_is_null(index: Path) -> None:
    _, data = read(index)
    row = data["rows"][data["slices"]["\n\n\n"]["mystery"]]
    assert (row["cost"], row["cost_per_sample"], row["latency_seconds"]) == (None, None, None)


def test_cells_count_what_was_judged_and_why_the_rest_was_not(index: Path) -> None:
    _, data = read(index)
    records = records_of(index.parent)
    assert sum(cell[3] for cell in data["cells"]) == len(records)
    assert sum(cell[4] for cell in data["cells"]) == sum(record.judged for record in records)
    failures = sum(sum(cell[6].values()) for cell in data["cells"])
    assert failures == sum(record.status != "passed" for record in records)


def test_an_excluded_model_is_named_with_the_reason(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    run = json.loads((folder / "run.json").read_text())
    run["models"]["mystery"]["exclude"] = "retired"
    (folder / "run.json").write_text(json.dumps(run))
    _, data = read(make_page(folder))
    assert data["excluded"] == {"mystery": "retired"}
    assert "mystery" not in data["ranking"]


def test_prompts_and_references_are_held_once(index: Path) -> None:
    elements, data = read(index)
    prompts = {elements.block(sample[-1])["prompt"] for sample in data["samples"]}
    assert len(prompts) == len(CASES) * 2
    assert elements.block(data["references"]["flask/todo_crud"]) == REFERENCE


def test_the_last_conversation_of_a_sample_counts_and_a_torn_line_does_not(tmp_path: Path) -> None:
    folder = one_sample(tmp_path)
    record = records_of(folder)[0]
    lines = [answer(record, None, reply) for reply in ("first", "second", "torn")]
    (folder / "completions.jsonl").write_text("\n".join(lines), "utf-8")
    elements, data = read(make_page(folder))
    assert elements.block(data["samples"][0][-1])["reply"] == "second"


def test_a_run_folder_with_records_only_gives_a_page(tmp_path: Path) -> None:
    folder = one_sample(tmp_path)
    for name in ("completions.jsonl", "references.json"):
        (folder / name).unlink()
    elements, data = read(make_page(folder))
    assert data["references"] == {}
    assert elements.block(data["samples"][0][-1])["reply"] == ""


def test_a_long_reply_is_cut_and_marked(tmp_path: Path) -> None:
    folder = one_sample(tmp_path)
    record = records_of(folder)[0]
    (folder / "completions.jsonl").write_text(answer(record, REFERENCE, "x" * 1_000_000) + "\n", "utf-8")
    elements, data = read(make_page(folder))
    sample = elements.block(data["samples"][0][-1])
    assert (len(sample["reply"]), sample["cut"]) == (html.TEXT_CHARACTERS, ["reply"])


def test_a_run_too_large_keeps_the_samples_that_did_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "SAMPLES", 50)
    monkeypatch.setattr(html, "DETAIL_CHARACTERS", 10_000)
    folder = write_run(tmp_path)
    _, data = read(make_page(folder))
    held = [sample for sample in data["samples"] if sample[-1] is not None]
    assert len(data["samples"]) == 50
    assert 0 < len(held) < 50
    assert data["samples"][: len(held)] == held
    assert all(sample[4] != "passed" for sample in held)


def test_equal_runs_give_equal_pages(tmp_path: Path) -> None:
    first, second = (make_page(write_run(tmp_path / name)).read_bytes() for name in ("a", "b"))
    assert first == second


def test_a_rate_has_the_number_of_samples_that_it_was_measured_on(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for line in lines:
        if line["status"] == "passed":
            line["functional_pass"] = None
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, data = read(make_page(folder))
    row = data["rows"][data["slices"]["\n\n\n"]["gemini"]]
    assert row["metrics"]["functional_pass_at_1"][3] == row["n"] - row["passed"]
    assert row["metrics"]["pass_at_1"][3] == row["n"]
