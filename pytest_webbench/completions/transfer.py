"""Completions as JSON Lines: a recorded run can be committed, shared and replayed elsewhere under the same keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pytest_webbench.completions.rows import request_from_json
from pytest_webbench.completions.store import CompletionStore, Stored
from pytest_webbench.models import Completion, Request


class TransferError(Exception):
    """A line that is no completion; says which and why."""


@dataclass(slots=True)
class Tally:
    """What an import did: `kept` completions were there before and differ from what was to be imported."""

    added: int = 0
    same: int = 0
    kept: int = 0
    replaced: int = 0

    def __str__(self) -> str:
        parts = (
            f"{self.added} added",
            f"{self.same} already there",
            *([f"{self.replaced} replaced"] if self.replaced else ()),
            *([f"{self.kept} left as they were (--replace to overwrite)"] if self.kept else ()),
        )
        return ", ".join(parts)


def exported(store: CompletionStore, keys: Collection[str] | None = None) -> Iterator[str]:
    """Yield a line for each completion, or for those of `keys`, in order of their keys."""
    for stored in store:
        if keys is None or stored.request.key in keys:
            line = {
                "key": stored.request.key,
                "request": asdict(stored.request),
                "completion": stored.completion.to_json(),
            }
            yield json.dumps(line, separators=(",", ":")) + "\n"


def parsed(lines: Iterable[str]) -> Iterator[Stored]:
    """Read `exported`'s lines; raises `TransferError` for one that was changed or is none."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _parsed(number, line)


def put_all(store: CompletionStore, items: Iterable[Stored], *, replace: bool) -> Tally:
    """Store completions; one that is there already stays unless `replace` is set."""
    tally = Tally()
    for item in items:
        present = store.get(item.request.key)
        if present is None:
            tally.added += 1
        elif _answer(present) == _answer(item.completion):
            tally.same += 1
            continue
        elif replace:
            tally.replaced += 1
        else:
            tally.kept += 1
            continue
        store.put(item.request, item.completion)
    return tally


def reply(request: Request, text: str, now: str) -> Stored:
    """Return a reply that was made elsewhere as the completion of `request`: nothing is known of it but its text."""
    return Stored(
        request, Completion(text=text, finish_reason=None, sdk="imported", created_at=now, flags=("imported",))
    )


def _parsed(number: int, line: str) -> Stored:
    try:
        data: dict[str, Any] = json.loads(line)
        request = request_from_json(data["request"])
        completion = Completion.from_json(data["completion"])
        key = data["key"]
    except (ValueError, KeyError, TypeError) as error:
        raise TransferError(f"line {number}: not a stored completion ({type(error).__name__}: {error})") from None
    if key != request.key:
        raise TransferError(f"line {number}: the request does not match its key: was it changed?")
    return Stored(request, completion)


def _answer(completion: Completion) -> tuple[object, ...]:
    return completion.text, completion.finish_reason, completion.blocked, completion.refusal
