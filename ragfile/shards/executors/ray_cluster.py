"""Tasks on Ray: a pool of actors that keep shards open. Needs ragfile[ray].

Actors get URLs, never object references, which a restarted actor would have lost. The task of an actor that died runs on
another one; tasks are pure, so a task may run twice. Memory is declared: 512 MiB an actor unless `memory` is given.
"""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ragfile.ground.extras import optional
from ragfile.shards.executors import Item, Made
from ragfile.shards.messages import ShardFailure, ShardResult, Task
from ragfile.shards.task_runner import attempt

PASSED_ON = ("AWS_", "OBJECT_STORE_", "RAGFILE_", "SOURCE_DATE_EPOCH", "SSL_CERT_FILE")
MEMORY = 512 << 20
ATTEMPTS, RESTARTS, HEDGE = 8, 16, 10.0
WAITING = 2  # items that an actor has at a time: one runs, one waits
HEDGES = 3  # actors that may get the same task when they are slow
AVOIDED = 60.0  # seconds for which a dead or slow actor is the last choice


def environment() -> dict[str, str]:
    """Return the variables that workers need: access to the store, dates of builds."""
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}


class Asking(NamedTuple):
    """A task that an actor is working on."""

    number: int
    actor: int


Asked = dict[Any, Asking]  # by object reference
Start = Callable[[Any, int], Any]  # (actor, number of the task) to an object reference


class Actor:
    """A worker. Shards stay open in its process."""

    def run(self, task: Task) -> ShardResult | ShardFailure:
        return attempt(task)

    def call(self, function: Callable[[Item], Made], item: Item) -> Made:
        return function(item)

    def process(self) -> int:
        """Return the id of its process; `healthy` calls this."""
        return os.getpid()


class OnRay:
    """A pool of actors on a running cluster, or on one that is started on this machine.

    Args:
        workers: Number of actors; by default, one for each CPU of the cluster.
        memory: Bytes that Ray reserves for each actor.
        hedge: Seconds after which a task is given to another actor as well.
        replicas: Number of actors that keep a shard open; the least busy one gets the task.
    """

    def __init__(
        self, workers: int | None = None, *, memory: int = MEMORY, hedge: float = HEDGE,
        replicas: int = 1,
    ) -> None:  # fmt: skip
        if replicas < 1:
            raise ValueError(f"a shard needs at least one actor, not {replicas}: raise replicas")
        self._ray = optional("ray", "the executor ray")
        if not self._ray.is_initialized():
            self._ray.init(runtime_env={"env_vars": environment()}, include_dashboard=False)
        self._workers, self._memory, self._hedge = workers, memory, hedge
        self._replicas, self._busy = replicas, collections.Counter[int]()  # tasks, by actor
        self._actors: list[Any] = []
        self._avoided: dict[int, float] = {}  # time by actor

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self._workers, self._memory, self._hedge, self._replicas)

    @property
    def actors(self) -> list[Any]:
        """The pool, started on first use; Ray restarts actors that die."""
        if not self._actors:
            count = self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            kind = self._ray.remote(
                num_cpus=1, memory=self._memory, max_restarts=RESTARTS, max_task_retries=0,
                runtime_env={"env_vars": environment()},
            )(Actor)  # fmt: skip
            self._actors = [kind.remote() for _ in range(count)]
        return self._actors

    def run(self, tasks: Sequence[Task]) -> list[ShardResult | ShardFailure]:
        start: Start = lambda actor, number: actor.run.remote(tasks[number])  # noqa: E731
        shards = [task.shard for task in tasks]
        found = dict(self._answers(len(tasks), start, shards, self._hedge))
        return [found[number] for number in range(len(tasks))]

    def map(
        self, function: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[int, Made]]:
        """Yield (number of the item, result) in order of completion. The first idle actor gets the next item."""
        start: Start = lambda actor, number: actor.call.remote(function, items[number])  # noqa: E731
        yield from self._answers(len(items), start, None, None)

    def _answers(
        self, count: int, ask: Start, places: list[int] | None, hedge: float | None
    ) -> Iterator[tuple[int, Any]]:
        """Yield (number, answer) of every task; tasks of dead or slow actors are given to others. places[i] is the shard of
        task i, which decides about its actors; without places any actor is good."""
        asked: Asked = {}
        try:
            yield from self._answered(count, ask, places, hedge, asked)
        finally:
            self._busy.subtract(actor for _, actor in asked.values())

    def _answered(
        self, count: int, ask: Start, places: list[int] | None, hedge: float | None, asked: Asked
    ) -> Iterator[tuple[int, Any]]:
        done: set[int] = set()
        tried = [0] * count
        first = count if places is not None else min(count, WAITING * len(self.actors))
        waiting = iter(range(first, count))
        for number in range(first):
            self._ask(ask, asked, number, places, tried)
        while len(done) < count:
            ready, _ = self._ray.wait(list(asked), num_returns=1, timeout=hedge)
            if not ready:
                self._hedge_all(ask, asked, done, places, tried)
                continue
            number, actor = asked.pop(ready[0])
            self._busy[actor] -= 1
            if number in done:
                continue
            try:
                value = self._ray.get(ready[0])
            except self._ray.exceptions.RayActorError:
                if tried[number] >= ATTEMPTS:
                    raise
                self._avoid(actor)
                self._ask(ask, asked, number, places, tried)
                continue
            except self._ray.exceptions.RayTaskError as error:
                cause = error.cause if isinstance(error.cause, Exception) else error
                raise cause from error
            done.add(number)
            if (following := next(waiting, None)) is not None:
                self._ask(ask, asked, following, places, tried)
            yield number, value

    def _ask(
        self, ask: Start, asked: Asked, number: int, places: list[int] | None, tried: list[int]
    ) -> None:
        actors = self.actors
        place = None if places is None else places[number]
        actor = self._chosen(len(actors), place, tried[number])
        tried[number] += 1
        self._busy[actor] += 1
        asked[ask(actors[actor], number)] = Asking(number, actor)

    def _chosen(self, count: int, place: int | None, tried: int) -> int:
        """Return the least busy actor of those that have the shard, or of all; on a retry the next in line."""
        now = time.monotonic()
        line = [((place or 0) + i) % count for i in range(count)]
        good = [actor for actor in line if self._avoided.get(actor, 0) < now] or line
        if tried and place is not None:
            return good[tried % len(good)]
        homes = good if place is None else good[: self._replicas]
        return min(homes, key=lambda actor: self._busy[actor])

    def _hedge_all(
        self,
        ask: Start,
        asked: Asked,
        done: set[int],
        places: list[int] | None,
        tried: list[int],
    ) -> None:
        """Avoid all actors that have not answered, and give their tasks to others as well."""
        waiting = {number: actor for number, actor in asked.values() if number not in done}
        for actor in set(waiting.values()):
            self._avoid(actor)
        for number in sorted(waiting):
            if tried[number] < HEDGES:
                self._ask(ask, asked, number, places, tried)

    def _avoid(self, actor: int) -> None:
        self._avoided[actor] = time.monotonic() + AVOIDED

    def healthy(self, timeout: float = 10.0) -> int:
        """Return the number of actors that answer within `timeout` seconds."""
        asked = [actor.process.remote() for actor in self.actors]
        ready, _ = self._ray.wait(asked, num_returns=len(asked), timeout=timeout)
        alive = 0
        for one in ready:
            try:
                self._ray.get(one)
                alive += 1
            except self._ray.exceptions.RayError:
                continue
        return alive

    def close(self) -> None:
        """Stop the actors; the cluster stays up."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []


def _again(workers: int | None, memory: int, hedge: float, replicas: int) -> OnRay:
    return OnRay(workers, memory=memory, hedge=hedge, replicas=replicas)
