"""Who carries out tasks: this process, a pool of processes, or an engine on many machines.

An executor has `run(tasks)`, which gives a Leg or a Failure for each task in order, `map(function, items)` for work that
builds shards, and `close()`. Tasks are pure, so a worker that dies costs time and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ragfile.shards.messages import ShardFailure, ShardLeg, Task


class Executor(Protocol):
    """What a dataset needs of an engine."""

    def run(self, tasks: Sequence[Task]) -> list[ShardLeg | ShardFailure]: ...
    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]: ...
    def close(self) -> None: ...


def executor_of(chosen: Any, workers: int | None = None) -> Executor:
    """The executor of a name (None, "process", "ray", "dask"), or the one that is given."""
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
