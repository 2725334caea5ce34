"""Tasks in this process: one after the other where bytes are at hand, side by side where they are fetched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.shards.messages import ShardFailure, ShardLeg, Task

THREADS = 16  # that wait for bytes


class Here:
    """This process. A search of the core has threads of its own (threads=)."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or THREADS

    def run(self, tasks: Sequence[Task]) -> list[ShardLeg | ShardFailure]:
        if len(tasks) < 2 or "://" not in tasks[0].url:
            return [attempt(task) for task in tasks]
        with ThreadPoolExecutor(min(self._workers, len(tasks)), "ragfile-shards") as pool:
            return list(pool.map(attempt, tasks))

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """(number of the item, what the function makes of it), as it gets done."""
        for number, item in enumerate(items):
            yield number, function(item)

    def close(self) -> None:
        """There is nothing to let go."""
