"""Tasks in this process: in sequence for local files, in threads for remote ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING

from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.shards.executors import Item, Made
    from ragfile.shards.messages import ShardFailure, ShardResult, Task

THREADS = 16  # mostly waiting for bytes


class Here:
    """This process. The core's searches start their own threads (threads=)."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or THREADS

    def run(self, tasks: Sequence[Task]) -> list[ShardResult | ShardFailure]:
        if len(tasks) < 2 or "://" not in tasks[0].url:
            return [attempt(task) for task in tasks]
        with ThreadPoolExecutor(min(self._workers, len(tasks)), "ragfile-shards") as pool:
            asked = [pool.submit(copy_context().run, attempt, task) for task in tasks]
            return [each.result() for each in asked]

    def map(
        self, function: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[int, Made]]:
        """Yield (number of the item, result)."""
        for number, item in enumerate(items):
            yield number, function(item)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
