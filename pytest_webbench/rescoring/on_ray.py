"""The engine of a Ray cluster. Every node needs this package with the extra `exec`.

Tasks hold all they need, so that a task whose process or node is lost is simply run again elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from logging import WARNING
from typing import Any

from pytest_webbench.evaluation import Evaluation
from pytest_webbench.rescoring.judging import Judging, JudgingFailed, Task, judge

AHEAD = 4
"""Tasks that are handed to the cluster for each of its CPUs."""
TRIES = 3
"""For a task whose process was lost; a completion that kills every process is not tried for ever."""


def judged_on_ray(tasks: Iterable[Task], judging: Judging, jobs: int) -> Iterator[Evaluation]:
    """Yield the evaluations as they are done; `jobs` starts a cluster of that size where none is to be joined.

    The cluster is that of RAY_ADDRESS or the one that runs on this machine.
    """
    import ray

    _join(jobs)
    remote_judge = ray.remote(num_cpus=1, max_retries=TRIES)(judge)
    coming = iter(tasks)
    running: list[Any] = []
    while True:
        room = max(0, AHEAD * _cpus() - len(running))
        running += [remote_judge.remote(task, judging) for task in islice(coming, room)]
        if not running:
            return
        done, running = ray.wait(running)
        try:
            yield from ray.get(done)
        except ray.exceptions.RayError as error:
            raise JudgingFailed(str(error)) from error


def _join(jobs: int) -> None:
    """Connect to a cluster, or start one of this machine's processes."""
    import ray

    if ray.is_initialized():
        return
    try:
        ray.init(address="auto", log_to_driver=False, logging_level=WARNING)
    except ConnectionError:
        ray.init(num_cpus=jobs, include_dashboard=False, log_to_driver=False, logging_level=WARNING)


def _cpus() -> int:
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))
