"""The scripted server as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import loopback


def test_it_prints_its_url_answers_by_pattern_and_tells_its_log(tmp_path: Path) -> None:
    replies, log = tmp_path / "replies.json", tmp_path / "log.jsonl"
    replies.write_text(json.dumps({"login": "A", "page.*size": "B"}), encoding="utf-8")
    command = [
        sys.executable,
        str(loopback.__file__),
        "--replies",
        str(replies),
        "--text",
        "C",
        "--log",
        str(log),
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        texts = [_ask(url, prompt) for prompt in ("a login", "page with size", "else")]
        seen = json.loads(_get(url.removesuffix("/v1") + "/log"))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert texts == ["A", "B", "C"]
    assert [one["body"]["messages"][0]["content"] for one in seen] == ["a login", "page with size", "else"]
    assert all(one["arrived"] <= one["replied"] for one in seen)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 3


def _ask(url: str, prompt: str) -> str:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    answer = json.loads(_get(f"{url}/chat/completions", body))
    return str(answer["choices"][0]["message"]["content"])


def _get(url: str, body: bytes | None = None) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, body), timeout=10) as response:
        return bytes(response.read())
