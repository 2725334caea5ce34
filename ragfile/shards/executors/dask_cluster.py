"""Tasks on Dask: searches and builds on an existing cluster, or in processes of this machine.

Plan, run and merge know no engine, so that another engine needs an adapter of this size only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragfile.ground.extras import optional
from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from distributed import Client

    from ragfile.shards.executors import Item, Made
    from ragfile.shards.messages import ShardFailure, ShardResult, Task

RETRIES = 4


class OnDask:
    """A Dask cluster: that of the given client, the current one, or a new one of local processes."""

    def __init__(
        self,
        client: Client | None = None,
        *,
        workers: int | None = None,
    ) -> None:
        self._distributed = optional("distributed", "the executor dask")
        self._given, self._workers = client, workers
        self._own: Client | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return OnDask, (None,)

    @property
    def client(self) -> Client:
        """The client that runs the tasks; started on first use if there is none."""
        if self._given is not None:
            return self._given
        if self._own is None:
            try:
                self._given = self._distributed.get_client()
                return self._given
            except ValueError:  # there is none
                own: Client = self._distributed.Client(
                    n_workers=self._workers, threads_per_worker=1, dashboard_address=None
                )
                self._own = own
        return self._own

    def run(self, tasks: Sequence[Task]) -> list[ShardResult | ShardFailure]:
        found = dict(self.map(attempt, tasks))
        return [found[number] for number in range(len(tasks))]

    def map(
        self, function: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[int, Made]]:
        """Yield (number of the item, result) in order of completion. Items of a dead worker run again."""
        asked: dict[Any, int] = {
            self.client.submit(function, item, pure=False, retries=RETRIES): number
            for number, item in enumerate(items)
        }
        for future in self._distributed.as_completed(list(asked)):
            yield asked[future], future.result()

    def close(self) -> None:
        """Close the cluster that this object started."""
        if self._own is not None:
            self._own.close()
            self._own = None
