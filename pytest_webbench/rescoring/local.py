"""The engine of one machine: processes, each with a sandbox of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context

from pytest_webbench.evaluation import Evaluation
from pytest_webbench.rescoring.judging import Judging, JudgingFailed, Task, judge

AHEAD = 2
"""Tasks that wait for each process, so that none is idle."""


def judged_locally(tasks: Iterable[Task], judging: Judging, jobs: int) -> Iterator[Evaluation]:
    """Yield the evaluations as they are done."""
    coming = iter(tasks)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: set[Future[Evaluation]] = set()
        while True:
            running |= {pool.submit(judge, task, judging) for task in islice(coming, AHEAD * jobs - len(running))}
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from map(_result, done)


def _result(future: Future[Evaluation]) -> Evaluation:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise JudgingFailed(f"a judging process ended: {error}") from error
