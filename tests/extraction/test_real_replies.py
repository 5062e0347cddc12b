"""Reply shapes met in public reports, and the right reading of each."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_webbench.extraction import Code, extract_code
from pytest_webbench.models.replies import Reply, from_chat_completion, from_generate_content
from pytest_webbench.tiers import syntax

ITEMS = [json.loads(line) for line in (Path(__file__).parent / "data" / "kind_a.jsonl").open(encoding="utf-8")]
BLOCK_WORDS = {"prompt_blocked": "prompt"}


def reply_of(given: dict[str, Any]) -> Reply:
    if "body" in given:
        return from_generate_content(given["body"])
    if "message" in given:
        choice = {"index": 0, "message": given["message"], "finish_reason": given["finish_reason"]}
        return from_chat_completion({"choices": [choice], "usage": given.get("usage")})
    text = given["content"] if "content" in given else eval(given["content_expr"])
    return Reply(text, finish_reason=given["finish_reason"])


@dataclass(frozen=True)
class Outcome:
    code: Code
    failure_class: str | None
    syntax_ok: bool
    message: str
    flags: set[str]
    seconds: float


def outcome(given: dict[str, Any]) -> Outcome:
    reply = reply_of(given)
    started = time.perf_counter()
    code = extract_code(reply.text, given.get("framework", "flask"), reply.finish_reason)
    seconds = time.perf_counter() - started
    verdict = syntax.check(code.text or "")
    parses = code.text is not None and verdict.passed
    failure = f"model_failure:{code.failure_class}" if code.failure_class else None
    if reply.blocked:
        failure = f"blocked:{BLOCK_WORDS.get(reply.blocked, reply.blocked)}"
    elif failure is None and not parses:
        failure = "model_failure:syntax_error"
    flags = {*reply.flags, *code.flags}
    return Outcome(code, failure, parses, f"{verdict.error_type} {verdict.message}", flags, seconds)


@pytest.mark.parametrize("item", ITEMS, ids=[f"{item['id']}-{item['kind'][2:]}" for item in ITEMS])
def test_a_reply_from_the_field_is_read_right(item):
    expected, found = item["expected"], outcome(item["input"])
    assert found.code.text == expected["code"]
    assert found.failure_class == expected["failure_class"]
    assert found.syntax_ok == expected.get("syntax_ok", False)
    assert found.flags >= {*expected.get("flags", []), *([expected["sub"]] if "sub" in expected else [])}
    assert expected.get("error_contains", "") in found.message
    assert expected.get("error_type", "") in found.message
    assert found.seconds < expected.get("max_seconds", 10)
    if "files" in expected:
        assert sorted(found.code.files) == expected["files"]
        assert found.code.files[found.code.entry] == expected["code"]


def test_all_58_items_are_there():
    assert len({item["id"] for item in ITEMS}) == 58
