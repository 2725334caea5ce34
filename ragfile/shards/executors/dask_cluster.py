"""Tasks on Dask: the read path and builds on a cluster that there is, or in processes of this machine.

That this file is short is its purpose: plan, run and merge know no engine, so a second one needs an adapter and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragfile.ground.extras import optional
from ragfile.shards.task_runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.shards.messages import ShardFailure, ShardLeg, Task

RETRIES = 4


class OnDask:
    """A Dask cluster: of the client that is given, the current one, or one of processes that is started here."""

    def __init__(self, client: Any = None, *, workers: int | None = None) -> None:
        self._distributed = optional("distributed", "the executor dask")
        self._given, self._workers, self._own = client, workers, None

    def __reduce__(self) -> Any:
        return OnDask, (None,)

    @property
    def client(self) -> Any:
        if self._given is not None:
            return self._given
        if self._own is None:
            try:
                self._given = self._distributed.get_client()
                return self._given
            except ValueError:  # there is none
                self._own = self._distributed.Client(
                    n_workers=self._workers, threads_per_worker=1, dashboard_address=None
                )
        return self._own

    def run(self, tasks: Sequence[Task]) -> list[ShardLeg | ShardFailure]:
        found = dict(self.map(attempt, tasks))
        return [found[number] for number in range(len(tasks))]

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """(number of the item, what the function makes of it), as it gets done. What a dead worker had is done again."""
        asked = {
            self.client.submit(function, item, pure=False, retries=RETRIES): number
            for number, item in enumerate(items)
        }
        for future in self._distributed.as_completed(list(asked)):
            yield asked[future], future.result()

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None
