"""Executors of tasks: this process, a pool of processes, or a cluster.

An executor has `run(tasks)`, which returns a ShardResult or ShardFailure for each task in order, `map(function, items)`
for jobs that build shards, and `close()`. Tasks are pure, so the death of a worker costs time and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ragfile.shards.messages import ShardFailure, ShardResult, Task

Item = TypeVar("Item")
Made = TypeVar("Made")


class Executor(Protocol):
    """Runs the tasks and jobs of a dataset."""

    def run(self, tasks: Sequence[Task]) -> list[ShardResult | ShardFailure]: ...
    def map(
        self, function: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[int, Made]]: ...
    def close(self) -> None: ...


ExecutorChoice: TypeAlias = Literal["process", "ray", "dask"] | Executor | None


def executor_of(chosen: ExecutorChoice, workers: int | None = None) -> Executor:
    """Return the executor of a name (None, "process", "ray", "dask"), or the given one."""
    if chosen is None:
        from ragfile.shards.executors.local import Here

        return Here(workers)
    if chosen == "process":
        from ragfile.shards.executors.processes import Processes

        return Processes(workers)
    if chosen == "ray":
        from ragfile.shards.executors.ray_cluster import OnRay

        return OnRay(workers)
    if chosen == "dask":
        from ragfile.shards.executors.dask_cluster import OnDask

        return OnDask(workers=workers)
    if isinstance(chosen, str):
        raise ValueError(f"unknown executor {chosen!r}: use None, process, ray or dask")
    return chosen
