"""Readings of the JSON bodies that providers return: pure functions, no network, no SDK.

A body of an OpenAI-compatible server is read by `from_chat_completion`, one of Gemini by
`from_generate_content` (REST names, or the snake-case names and enum numbers of its Python SDK).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

_FINISH = {
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
_CHAT_BLOCKS = frozenset({"content_filter", "safety", "recitation"})
_GEMINI_BLOCKS = frozenset({"safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"})
_GEMINI_FINISH_NUMBERS = (
    "finish_reason_unspecified",
    "stop",
    "max_tokens",
    "safety",
    "recitation",
    "other",
    "language",
    "blocklist",
    "prohibited_content",
    "spii",
    "malformed_function_call",
)
_TEXT_PARTS = frozenset({"text", "output_text"})
_SMALLEST_WINDOW = 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What a body says of one answer; `None` is unknown, never zero.

    `text` is the answer alone: reasoning fields and thinking parts are left out. `finish_reason` is lower
    case in OpenAI's words (`stop`, `length`, `tool_calls`, `content_filter`, `refusal` ...; a word of the
    server's own stays). `refusal`: the server says that the model declined. `blocked` names the filter
    that held the answer back (`content_filter`, `safety`, `recitation`, `prompt_blocked` ...); `text` then
    holds what had come before, not to be scored. `flags`: `tool_call_reply`, `truncation_suspected`.
    """

    text: str | None
    finish_reason: str | None = None
    refusal: bool = False
    blocked: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    flags: tuple[str, ...] = ()


def from_chat_completion(body: Mapping[str, Any]) -> Reply:
    """Read the first choice, by index, of a chat completion; ValueError ("no choices") without any."""
    return all_choices(body)[0]


def all_choices(body: Mapping[str, Any]) -> list[Reply]:
    """Read every choice of a chat completion in the order of its index, whatever the order in the body.

    The first reply carries the token counts of the request, the others have `None`, so that a sum over
    replies is the request's. The server may send more or fewer choices than were asked for. Raises
    ValueError ("no choices: ..." with the body's own error message, if any) where none is usable.
    """
    entries = _entries(body, "choices")
    if not entries:
        raise ValueError(f"no choices: {_error_text(body)}")
    ordered = sorted(enumerate(entries), key=lambda pair: _index(pair[1], pair[0]))
    replies = [_from_choice(choice) for _, choice in ordered]
    usage = _mapping(body.get("usage"))
    counted = _with_usage(
        replies[0],
        _count(usage, "prompt_tokens", "input_tokens"),
        _count(usage, "completion_tokens", "output_tokens"),
        _count(usage, "total_tokens"),
    )
    return [replace(reply, model=_string(body.get("model"))) for reply in (counted, *replies[1:])]


def from_generate_content(body: Mapping[str, Any]) -> Reply:
    """Read Gemini's first candidate; ValueError ("no choices") without candidate and without block reason."""
    usage = _mapping(_get(body, "usageMetadata"))
    given = _count(usage, "promptTokenCount", "prompt_token_count")
    candidates = _entries(body, "candidates")
    if candidates:
        ordered = sorted(enumerate(candidates), key=lambda pair: _index(pair[1], pair[0]))
        reply = _from_candidate(ordered[0][1])
    else:
        reason = _mapping(_get(body, "promptFeedback"))
        if not _get(reason, "blockReason"):
            raise ValueError(f"no choices: {_error_text(body)}")
        reply = Reply(None, blocked="prompt_blocked")
    counted = replace(reply, input_tokens=given, output_tokens=_gemini_output(usage, given))
    return replace(counted, model=_string(_get(body, "modelVersion")))


def _gemini_output(usage: Mapping[str, Any], given: int | None) -> int | None:
    """Return the tokens that were made, thoughts included; the older SDK shows these in the total alone."""
    parts = [
        _count(usage, "candidatesTokenCount", "candidates_token_count"),
        _count(usage, "thoughtsTokenCount", "thoughts_token_count"),
    ]
    known = [count for count in parts if count is not None]
    total = _count(usage, "totalTokenCount", "total_token_count")
    if known and total is not None and given is not None:
        return max(sum(known), total - given)
    return sum(known) if known else None


def _from_choice(choice: Mapping[str, Any]) -> Reply:
    message = _mapping(choice.get("message"))
    reason = _finish(choice.get("finish_reason"))
    parts = message.get("content") if message else choice.get("text")
    declined = bool(message.get("refusal")) or any(p.get("type") == "refusal" for p in _parts(parts))
    called = bool(message.get("tool_calls") or message.get("function_call")) or reason == "tool_calls"
    return Reply(
        text=_chat_text(parts),
        finish_reason=reason,
        refusal=declined or reason == "refusal",
        blocked=reason if reason in _CHAT_BLOCKS else None,
        flags=("tool_call_reply",) if called else (),
    )


def _chat_text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    texts = [part["text"] for part in _parts(content) if _is_answer(part)]
    return "".join(texts) if texts else None


def _is_answer(part: Mapping[str, Any]) -> bool:
    return part.get("type", "text") in _TEXT_PARTS and isinstance(part.get("text"), str)


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, Mapping):
            yield part
        elif isinstance(part, str) and isinstance(content, list):
            yield {"type": "text", "text": part}


def _from_candidate(candidate: Mapping[str, Any]) -> Reply:
    parts = _entries(_mapping(candidate.get("content")), "parts")
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and not part.get("thought")]
    number = _get(candidate, "finishReason")
    if isinstance(number, int):
        number = _GEMINI_FINISH_NUMBERS[number] if 0 <= number < len(_GEMINI_FINISH_NUMBERS) else "other"
    reason = _finish(number)
    return Reply(
        text="".join(texts) if texts else None,
        finish_reason=reason,
        blocked=reason if reason in _GEMINI_BLOCKS else None,
        flags=("tool_call_reply",) if any(_get(part, "functionCall") for part in parts) else (),
    )


def _with_usage(reply: Reply, given: int | None, made: int | None, total: int | None) -> Reply:
    """Add token counts; a reply that fills a window of 2**n tokens exactly was cut, whatever is said."""
    full = total is not None and total >= _SMALLEST_WINDOW and total & (total - 1) == 0
    suspected = ("truncation_suspected",) if full and reply.finish_reason != "length" else ()
    return replace(reply, input_tokens=given, output_tokens=made, flags=(*reply.flags, *suspected))


def _finish(reason: Any) -> str | None:
    word = _string(reason)
    return None if word is None else _FINISH.get(word.lower(), word.lower())


def _error_text(body: Mapping[str, Any]) -> str:
    error = body.get("error")
    return str(_mapping(error).get("message") or error or "the body holds no answer")[:300]


def _get(body: Mapping[str, Any], camel: str) -> Any:
    """Return a field by its REST name or by its snake-case name."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
    return body.get(camel, body.get(snake))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _entries(body: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = body.get(key)
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _index(entry: Mapping[str, Any], position: int) -> int:
    index = entry.get("index")
    return index if isinstance(index, int) else position


def _count(usage: Mapping[str, Any], *keys: str) -> int | None:
    return next((value for key in keys if isinstance(value := usage.get(key), int)), None)


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
