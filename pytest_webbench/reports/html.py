"""`index.html`: the whole run as one self-contained page that needs no network.

The figures lie in the page as JSON and are drawn by the scripts of `page/`. Prompts, references and samples lie beside
them one by one, compressed, and are unpacked when somebody opens them; so a large run stays quick. Nothing of a
model is ever markup: the page writes text nodes only, and its content security policy admits one script.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from heapq import nsmallest
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, BinaryIO, Self

from pytest_webbench.ledger import COMPLETIONS, RUN, SampleId, sample_id
from pytest_webbench.records import Record, sort_key
from pytest_webbench.reports.figures import rounded, run_figures
from pytest_webbench.reports.references import read_references
from pytest_webbench.statistics.samples import Samples
from pytest_webbench.statistics.summary import Summary

PAGE = "index.html"
SCRIPTS = ("elements.js", "choices.js", "leaderboard.js", "charts.js", "comparison.js", "code.js", "steps.js",
           "samples.js", "page.js")  # fmt: skip
"""Parts of the page's script; a later one may use what an earlier one names."""
SAMPLES = 20_000
"""Samples that can be opened; those that did not pass come first."""
DETAIL_CHARACTERS = 48_000_000
"""Characters of compressed samples in the page; those that did not pass come first."""
TEXT_CHARACTERS = 250_000
"""Characters of one reply or one code; the rest is left to `completions.jsonl`."""
DETAILS = ("node_id", "case_version", "model_id", "model_returned", "provider", "message", "tiers", "points",
           "static_pass", "functional_pass", "secure_pass", "compiles", "web_codebleu", "ngram", "weighted_ngram",
           "syntax", "dataflow", "kw_precision", "kw_recall", "kw_f1", "finish_reason", "flags", "input_tokens",
           "output_tokens", "cost", "latency_seconds", "extraction_rule", "sandbox", "started_at",
           "duration_seconds", "from_store", "parameters")  # fmt: skip


def write_page(folder: Path, summary: Summary, samples: Samples, records: Iterable[Record]) -> Path:
    """Write `index.html` of a run folder from the run's figures, its records and what lies in the folder.

    `samples` are the columns of `records`, which are read once and need not fit into memory.
    """
    description = json.loads((folder / RUN).read_text("utf-8")) if (folder / RUN).exists() else {}
    opened = nsmallest(SAMPLES, records, key=lambda record: (record.status == "passed", sort_key(record)))
    answers = Answers.of(folder, {sample_id(record) for record in opened})
    figures = run_figures(summary, samples, description)
    with (folder / PAGE).open("w", encoding="ascii") as file:
        file.writelines(page(summary.run_id, figures, opened, read_references(folder), answers))
    return folder / PAGE


@dataclass(frozen=True, slots=True)
class Answers:
    """Where in `completions.jsonl` the conversation of each sample begins; the last one counts."""

    path: Path
    offsets: Mapping[SampleId, int]

    @classmethod
    def of(cls, folder: Path, wanted: Collection[SampleId]) -> Self:
        """Find the wanted conversations of a run folder; a line that a killed run left unfinished is none."""
        path = folder / COMPLETIONS
        offsets: dict[SampleId, int] = {}
        offset = 0
        with path.open("rb") if path.exists() else _nothing() as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    answer = json.loads(line)
                    name = (answer["case_name"], answer["model"], answer["prompt_template"], answer["sample"])
                    if name in wanted:
                        offsets[name] = offset
                offset += len(line)
        return cls(path, offsets)

    def read(self, records: Iterable[Record]) -> Iterator[tuple[Record, Mapping[str, Any]]]:
        """Yield each record with its conversation, which is empty where there was none."""
        with self.path.open("rb") if self.offsets else _nothing() as file:
            for record in records:
                offset = self.offsets.get(sample_id(record))
                if offset is None:
                    yield record, {}
                else:
                    file.seek(offset)
                    yield record, json.loads(file.readline())


@dataclass(slots=True)
class Blocks:
    """Compressed parts of the page, each in a script element of its own that the page unpacks when asked."""

    characters: int = 0
    _ids: dict[bytes, str] = field(default_factory=dict)

    def add(self, value: Any) -> tuple[str, str]:
        """Return the id of a value and its element, which is empty where the page has the value already."""
        text = json.dumps(value, separators=(",", ":")).encode("ascii")
        digest = hashlib.blake2b(text, digest_size=16).digest()
        if digest in self._ids:
            return self._ids[digest], ""
        self._ids[digest] = f"b{len(self._ids)}"
        packed = base64.b64encode(zlib.compress(text, 3)).decode("ascii")
        self.characters += len(packed)
        return self._ids[digest], f'<script type="text/plain" id="{self._ids[digest]}">{packed}</script>\n'


def page(
    run_id: str,
    figures: Mapping[str, Any],
    records: Iterable[Record],
    references: Mapping[str, str],
    answers: Answers,
) -> Iterator[str]:
    """Yield the page piece by piece, in ASCII: every other character is escaped."""
    script, style, template = _script(), _asset("page.css"), _asset("page.html")
    head, tail = template.split("$data")
    title = escape(run_id).encode("ascii", "xmlcharrefreplace").decode("ascii")
    yield Template(head).substitute(title=title, style=style, style_sha=_sha(style), script_sha=_sha(script))
    blocks = Blocks()
    kept: dict[str, str] = {}
    for name, text in references.items():
        kept[name], element = blocks.add(text[:TEXT_CHARACTERS])
        yield element
    samples = []
    for record, answer in answers.read(records):
        sample, element = _sample(record, answer, blocks)
        samples.append(sample)
        yield element
    data = {**figures, "references": kept, "samples": samples}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    yield f'<script type="application/json" id="data">{text}</script>\n'
    yield Template(tail).substitute(script=script)


def _sample(record: Record, answer: Mapping[str, Any], blocks: Blocks) -> tuple[list[Any], str]:
    """Return a sample's line of the index, whose last item is its block, and the elements that it needs."""
    line = [*sample_id(record), record.status, record.failure_class]
    if blocks.characters >= DETAIL_CHARACTERS:
        return [*line, None], ""
    prompt, before = blocks.add(answer.get("messages", []))
    details = {name: rounded(getattr(record, name)) for name in DETAILS}
    details["checks"] = [
        [check.name, check.tier, check.passed, check.message, check.request, check.response] for check in record.checks
    ]
    texts = {name: (answer.get(name) or "")[:TEXT_CHARACTERS] for name in ("reply", "code")}
    cut = [name for name in texts if len(answer.get(name) or "") > TEXT_CHARACTERS]
    if record.trace:
        details["steps"] = _steps(record, answer)
    block, element = blocks.add({**details, **texts, "cut": cut, "prompt": prompt})
    return [*line, block], before + element


def _steps(record: Record, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an agent's steps with their code, or with the reply where that is no code."""
    steps = []
    for step, said in zip(record.trace, answer.get("steps") or [{}] * len(record.trace), strict=True):
        reply, code = said.get("reply") or "", said.get("code")
        text = {"reply": reply[:TEXT_CHARACTERS]} if code is None else {"code": code[:TEXT_CHARACTERS]}
        steps.append({name: rounded(value) for name, value in asdict(step).items()} | text)
    return steps


def _sha(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")


def _script() -> str:
    """Return the page's script: the parts in one block, so that none of their names is the window's."""
    return '"use strict";\n{\n' + "\n".join(_asset(name) for name in SCRIPTS) + "}\n"


def _asset(name: str) -> str:
    return (files("pytest_webbench.reports") / "page" / name).read_text("utf-8")


def _nothing() -> BinaryIO:
    return io.BytesIO()
