"""Tasks in a pool of processes on this machine. Each process keeps its shards open.

A worker that is killed breaks Python's whole pool; a new pool takes over the unanswered tasks.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from ragfile.ground import system
from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.shards.executors import Item, Made
    from ragfile.shards.messages import ShardFailure, ShardResult, Task

ATTEMPTS = 4


class Processes:
    """A pool of spawned processes, which inherit no threads or sockets."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or system.cpu_count()
        self._pool: ProcessPoolExecutor | None = None

    @property
    def pool(self) -> ProcessPoolExecutor:
        """The pool, started on first use."""
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context)
        return self._pool

    def run(self, tasks: Sequence[Task]) -> list[ShardResult | ShardFailure]:
        found = dict(self.map(attempt, tasks))
        return [found[number] for number in range(len(tasks))]

    def map(
        self, function: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[int, Made]]:
        """Yield (number of the item, result) in order of completion."""
        left = set(range(len(items)))
        for attempt_ in range(1, ATTEMPTS + 1):
            try:  # a broken pool refuses tasks, or breaks while it runs them
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
        """Stop the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
