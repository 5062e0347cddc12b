"""What every engine does in its processes: judge one stored completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.util import Finalize

from pytest_webbench.cases import Case
from pytest_webbench.completions.store import Stored
from pytest_webbench.evaluation import Evaluation, judge_again
from pytest_webbench.records import Record
from pytest_webbench.settings import Tier
from pytest_webbench.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Task:
    """A record, the request and the completion that it judged, and the case as it is now."""

    record: Record
    case: Case
    stored: Stored


@dataclass(frozen=True, slots=True)
class Judging:
    """How to judge: the deepest tier that asserts, and the sandbox level."""

    tier: Tier
    level: str


class JudgingFailed(Exception):
    """A process that judged was lost, and not only once."""


Engine = Callable[[Iterable[Task], Judging, int], Iterator[Evaluation]]
"""Yields an evaluation for every task, in any order; the number is how many tasks run side by side."""

_open: dict[Judging, Workbench] = {}


def judge(task: Task, judging: Judging) -> Evaluation:
    """Judge a task with this process's workbench, whose sandbox is tried out before the first one."""
    return judge_again(task.record, task.case, task.stored, _workbench(judging))


def _workbench(judging: Judging) -> Workbench:
    if judging not in _open:
        workbench = Workbench(judging.tier, judging.level)
        if judging.tier != "static":
            workbench.examine()
        Finalize(None, workbench.close, exitpriority=0)
        _open[judging] = workbench
    return _open[judging]
