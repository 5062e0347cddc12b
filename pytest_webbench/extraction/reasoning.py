"""The answer within a reply: reasoning, channel marks, end tokens and transport artefacts removed."""

from __future__ import annotations

import re

_TAG = r"(?:seed:)?(?:think|thinking|thought|reasoning)"
_PAIRS = (
    (re.compile(rf"\s*<{_TAG}(?:\s[^<>]*)?>", re.I), re.compile(rf"</{_TAG}\s*>", re.I)),
    (re.compile(r"\s*\[THINK\]"), re.compile(r"\[/THINK\]")),
    (re.compile(r"\s*◁think▷"), re.compile(r"◁/think▷")),
    (re.compile(r"\s*<\|begin_of_thought\|>"), re.compile(r"<\|end_of_thought\|>")),
)
_CLOSER = re.compile(rf"(?:</{_TAG}\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>)", re.I)
_FENCE_LINE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")

_HARMONY = re.compile(r"\s*(?:<\|start\|>assistant|<\|channel\|>)")
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_FINAL_TURN = re.compile(r"<\|start\|>assistant<\|channel\|>final\b[^<]*<\|message\|>")
_MESSAGE_END = re.compile(r"<\|(?:end|return|call)\|>")
_BARE_FINAL = "assistantfinal"

_TOKEN = r"(?:<[|｜][^<>|｜\n]{1,40}[|｜]>|</s>|<eos>|<end_of_turn>|<EOT>|\[EOS\])"
_TAIL_TOKEN = re.compile(rf"{_TOKEN}\Z")
_NEXT_TURN = re.compile(
    r"(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<\|end\|>)\s*"
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|user\|>|<\|start\|>user)"
)


def answer(reply: str) -> str | None:
    """Return the reply's answer with LF line ends, or `None` where it holds reasoning only."""
    text = reply.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    final = _after_harmony(text)
    if final is None:
        return None
    visible = _after_tags(final)
    return None if visible is None else _without_end_tokens(visible).removeprefix("\ufeff")


def _after_harmony(text: str) -> str | None:
    if _HARMONY.match(text):
        return _last_message(text, _FINAL_CHANNEL)
    if _FINAL_TURN.search(text):
        return _last_message(text, _FINAL_TURN)
    if text.startswith("analysis") and _BARE_FINAL in text:
        return text.rpartition(_BARE_FINAL)[2]
    return text


def _last_message(text: str, mark: re.Pattern[str]) -> str | None:
    ends = [match.end() for match in mark.finditer(text)]
    return _MESSAGE_END.split(text[ends[-1] :], maxsplit=1)[0] if ends else None


def _after_tags(text: str) -> str | None:
    """Cut leading reasoning, then whatever precedes a closing tag that stands outside fences."""
    while (pair := next((p for p in _PAIRS if p[0].match(text)), None)) is not None:
        closer = pair[1].search(text)
        if closer is None:
            return None
        text = text[closer.end() :]
    return text[_end_of_orphan_closer(text) :] if _CLOSER.search(text) else text


def _end_of_orphan_closer(text: str) -> int:
    """Return where the last closing tag ends that starts or ends a line outside fences, else 0."""
    end = offset = 0
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE_LINE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif not fence:
            for closer in _CLOSER.finditer(line):
                if not line[: closer.start()].strip() or not line[closer.end() :].strip():
                    end = offset + closer.end()
        offset += len(line) + 1
    return end


def _without_end_tokens(text: str) -> str:
    turn = _NEXT_TURN.search(text)
    text = text[: turn.start()] if turn else text
    while (tail := text.rstrip()) and (token := _TAIL_TOKEN.search(tail, max(0, len(tail) - 48))):
        text = tail[: token.start()]
    return text
