"""Several choices of one request: samples of the same prompt that one sample asks for along with its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pytest_webbench.completions.limits import Ticket
from pytest_webbench.models import Completion, Request


@dataclass(slots=True, eq=False)
class Batch:
    """A sample that asks (the first of its prompt to come) and those that joined it before it was sent.

    `ticket` is its place in the model's queue.
    """

    ticket: Ticket
    companions: list[Companion] = field(default_factory=list)
    sent: bool = False

    @property
    def waiting(self) -> list[Companion]:
        """Those for whom nothing has come yet."""
        return [companion for companion in self.companions if not companion.gift.done()]

    def release(self) -> None:
        """Let those go on for whom nothing came: they ask themselves."""
        self.sent = True
        for companion in self.waiting:
            companion.gift.set_result(None)


@dataclass(slots=True, eq=False)
class Companion:
    """A sample that another one asks for; `gift` is its completion, or None where none came back for it."""

    request: Request
    batch: Batch
    gift: asyncio.Future[Completion | None]


class Batches:
    """The batches of one model that are still open, of at most `size` samples each."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._open: dict[Request, Batch] = {}

    def join(self, request: Request, ticket: Ticket) -> Batch | Companion:
        """Return the batch that `request` must ask for, or its place as a companion in an open one."""
        stem = replace(request, sample=0)
        batch = self._open.get(stem)
        if batch is None or batch.sent or len(batch.companions) + 1 >= self._size:
            batch = self._open[stem] = Batch(ticket)
            return batch
        companion = Companion(request, batch, asyncio.get_running_loop().create_future())
        batch.companions.append(companion)
        return companion


def shared_usage(completions: Sequence[Completion]) -> list[Completion]:
    """Return completions of one request with its tokens spread evenly, so that sums and means hold."""
    if len(completions) < 2:
        return list(completions)
    given = _spread(completions[0].input_tokens, len(completions))
    made = _spread(completions[0].output_tokens, len(completions))
    return [
        replace(completion, input_tokens=i, output_tokens=o, flags=(*completion.flags, "usage_shared"))
        for completion, i, o in zip(completions, given, made, strict=True)
    ]


def _spread(total: int | None, parts: int) -> list[int | None]:
    if total is None:
        return [None] * parts
    share, rest = divmod(total, parts)
    return [share + (part < rest) for part in range(parts)]
