"""Tasks in a pool of processes on this machine. Each keeps the shards open that it was asked about.

A worker that is killed breaks Python's whole pool; a new one takes the tasks that were not answered.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.shards.messages import ShardFailure, ShardLeg, Task

ATTEMPTS = 4


class Processes:
    """Processes that are started anew (spawn), so that threads and sockets of this one stay here."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or _cores()
        self._pool: ProcessPoolExecutor | None = None

    @property
    def pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context)
        return self._pool

    def run(self, tasks: Sequence[Task]) -> list[ShardLeg | ShardFailure]:
        found = dict(self.map(attempt, tasks))
        return [found[number] for number in range(len(tasks))]

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """(number of the item, what the function makes of it), as it gets done."""
        left = set(range(len(items)))
        for attempt_ in range(1, ATTEMPTS + 1):
            try:  # a pool that is known to be broken refuses tasks; another one breaks under them
                asked = {self.pool.submit(function, items[n]): n for n in sorted(left)}
                for done in as_completed(asked):
                    value = done.result()
                    left.discard(asked[done])
                    yield asked[done], value
                return
            except BrokenProcessPool:
                self.close()
                if attempt_ == ATTEMPTS:
                    raise

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _cores():
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # not measured: another system
