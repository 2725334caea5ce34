"""Tasks on Ray: actors that keep shards open, wherever there is room. Needs ragfile[ray].

Actors are given URLs and never references to objects, for an actor that is started anew has lost those. A task that an actor
took with it when it died is given to another one; a task is pure, so that it may run twice. Memory is stated: what the operator
grants, or half a gigabyte an actor.
"""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragfile.ground.extras import optional
from ragfile.shards.messages import ShardFailure, ShardLeg, Task
from ragfile.shards.task_runner import attempt

PASSED_ON = ("AWS_", "OBJECT_STORE_", "RAGFILE_", "SOURCE_DATE_EPOCH", "SSL_CERT_FILE")
MEMORY = 512 << 20
ATTEMPTS, RESTARTS, HEDGE = 8, 16, 10.0
WAITING = 2  # items that an actor has at a time, of which one waits
HEDGES = 3  # actors that one question is asked of because they are slow
AVOIDED = 60.0  # seconds for which an actor that was gone or slow is asked last


def environment() -> dict[str, str]:
    """What workers need of this process's environment: how to reach the store, and how builds are dated."""
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}


class Actor:
    """A worker. Shards stay open in its process."""

    def run(self, task: Task) -> ShardLeg | ShardFailure:
        return attempt(task)

    def call(self, function: Callable[[Any], Any], item: Any) -> Any:
        return function(item)

    def process(self) -> int:
        """Its process, which is how health is asked."""
        return os.getpid()


class OnRay:
    """A pool of actors on a running cluster, or on one that is started on this machine.

    workers is how many. A shard has `replicas` actors that keep it open: the one of them with the least to do is asked, and
    another one when that one is gone or does not answer within `hedge` seconds.
    """

    def __init__(
        self, workers: int | None = None, *, memory: int = MEMORY, hedge: float = HEDGE,
        replicas: int = 1,
    ) -> None:  # fmt: skip
        if replicas < 1:
            raise ValueError(f"a shard has at least one actor, not {replicas}")
        self._ray = optional("ray", "the executor ray")
        if not self._ray.is_initialized():
            self._ray.init(runtime_env={"env_vars": environment()}, include_dashboard=False)
        self._workers, self._memory, self._hedge = workers, memory, hedge
        self._replicas, self._busy = replicas, collections.Counter[int]()  # tasks, by actor
        self._actors: list[Any] = []
        self._avoided: dict[int, float] = {}  # by actor: until when

    def __reduce__(self) -> Any:
        return _again, (self._workers, self._memory, self._hedge, self._replicas)

    @property
    def actors(self) -> list[Any]:
        """The pool, started on first use; Ray starts an actor anew whose process or node is gone."""
        if not self._actors:
            count = self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            kind = self._ray.remote(
                num_cpus=1, memory=self._memory, max_restarts=RESTARTS, max_task_retries=0,
                runtime_env={"env_vars": environment()},
            )(Actor)  # fmt: skip
            self._actors = [kind.remote() for _ in range(count)]
        return self._actors

    def run(self, tasks: Sequence[Task]) -> list[ShardLeg | ShardFailure]:
        found: list[Any] = [None] * len(tasks)
        places = [task.shard for task in tasks]
        for number, value in self._answers(
            len(tasks), lambda actor, n: actor.run.remote(tasks[n]), places, self._hedge
        ):
            found[number] = value
        return found

    def map(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """(number of the item, what the function makes of it), as it gets done. An actor has one item under way and one that
        waits; who is done first gets the next one."""
        yield from self._answers(
            len(items), lambda actor, n: actor.call.remote(function, items[n]), None, None
        )

    def _answers(self, count, ask, places, hedge) -> Iterator[tuple[int, Any]]:
        """(number, answer) of every question, each asked again of another actor where one dies or is slow. places[i] tells
        which actors have what question i needs; without it any actor can answer any."""
        asked: dict[Any, tuple[int, int]] = {}  # by reference: which question, of which actor
        try:
            yield from self._answered(count, ask, places, hedge, asked)
        finally:
            self._busy.subtract(actor for _, actor in asked.values())

    def _answered(self, count, ask, places, hedge, asked):
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

    def _ask(self, ask, asked, number, places, tried):
        actors = self.actors
        place = None if places is None else places[number]
        actor = self._chosen(len(actors), place, tried[number])
        tried[number] += 1
        self._busy[actor] += 1
        asked[ask(actors[actor], number)] = number, actor

    def _chosen(self, count, place, tried):
        """The actor for a question: of those that have its shard (or of all) the least busy one; after a try the next one in
        line."""
        now = time.monotonic()
        line = [((place or 0) + i) % count for i in range(count)]
        good = [actor for actor in line if self._avoided.get(actor, 0) < now] or line
        if tried and place is not None:
            return good[tried % len(good)]
        homes = good if place is None else good[: self._replicas]
        return min(homes, key=lambda actor: self._busy[actor])

    def _hedge_all(self, ask, asked, done, places, tried):
        """Whoever was asked and says nothing is avoided, and the questions go to others as well."""
        waiting = {number: actor for number, actor in asked.values() if number not in done}
        for actor in set(waiting.values()):
            self._avoid(actor)
        for number in sorted(waiting):
            if tried[number] < HEDGES:
                self._ask(ask, asked, number, places, tried)

    def _avoid(self, actor):
        self._avoided[actor] = time.monotonic() + AVOIDED

    def healthy(self, timeout: float = 10.0) -> int:
        """How many actors answer in time."""
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
        """Ends the actors; a cluster that was there stays."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []


def _again(workers, memory, hedge, replicas):
    return OnRay(workers, memory=memory, hedge=hedge, replicas=replicas)
