"""Limits on concurrent work and its memory, of everything and of each key.

A request beyond the limit of the server gets status 503, one beyond the share of its key 429. Both
may be repeated.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from ragfile.doors.server.failures import AGAIN, HttpFailure

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor
    from typing import TypeVar

    ResultT = TypeVar("ResultT")


class Shares:
    """The places that each key has taken; requests without a key have no share of their own."""

    def __init__(self, limit: int, work: str) -> None:
        self._limit, self._work = max(1, limit), work
        self._taken: Counter[str] = Counter()

    def check(self, user: str) -> None:
        """Raise a failure 429 if a key has taken all of its places."""
        if user and self._taken[user] >= self._limit:
            reason = f"this key has {self._limit} {self._work}, which is its share; retry later"
            raise HttpFailure(429, reason, AGAIN)

    def enter(self, user: str) -> None:
        """Take a place."""
        if user:
            self._taken[user] += 1

    def leave(self, user: str) -> None:
        """Return a place."""
        if user:
            self._taken[user] -= 1
            if not self._taken[user]:
                del self._taken[user]


class Room:
    """A limit on concurrent work of one kind; counts only in the event loop's thread."""

    def __init__(self, limit: int, work: str) -> None:
        self.inside, self._limit, self._work = 0, limit, work
        self._shares = Shares(limit // 2, work)

    def check(self, user: str) -> None:
        """Raise a failure at the limit, or at that of the key; `keep` takes the place."""
        if self.inside >= self._limit:
            reason = f"the limit of {self._limit} concurrent {self._work} is reached; retry later"
            raise HttpFailure(503, reason, AGAIN)
        self._shares.check(user)

    def keep(self, work: Future[ResultT], user: str) -> Future[ResultT]:
        """Take a place until the work ends, even if its client has left."""
        self.inside += 1
        self._shares.enter(user)
        work.add_done_callback(lambda done: self._leave(done, user))
        return work

    def _leave(self, work: Future[ResultT], user: str) -> None:
        self.inside -= 1
        self._shares.leave(user)
        if not work.cancelled():
            work.exception()  # mark it as retrieved: asyncio would log it again


class Turns:
    """A pool of threads, half of which one key can use at a time; its further calls wait."""

    def __init__(self, threads: ThreadPoolExecutor, limit: int) -> None:
        self._threads, self._share = threads, max(1, limit // 2)
        self._waiting: dict[str, asyncio.Semaphore] = {}

    async def run(self, user: str, work: Callable[[], ResultT]) -> ResultT:
        """Return work(), called in a thread; its place is free again once that has ended."""
        if user:
            await self._waiting.setdefault(user, asyncio.Semaphore(self._share)).acquire()
        loop = asyncio.get_running_loop()
        running = self._threads.submit(work)
        if user:
            free = self._waiting[user].release
            running.add_done_callback(lambda _: loop.call_soon_threadsafe(free))
        return await asyncio.wrap_future(running)


class _Waiting(NamedTuple):
    """A request that waits for memory."""

    size: int
    turn: Future[None]


class ReadBudget:
    """A budget of bytes for what requests hold until their responses are sent; in order."""

    def __init__(self, limit: int) -> None:
        self._limit, self._free = limit, limit
        self._queue: deque[_Waiting] = deque()

    async def take(self, size: int) -> int:
        """Wait for so many bytes, at most all, and return their number for `give_back`."""
        size = min(size, self._limit)
        if self._queue or size > self._free:
            waiting = _Waiting(size, asyncio.get_running_loop().create_future())
            self._queue.append(waiting)
            try:
                await waiting.turn
            except BaseException:
                self._leave(waiting)
                raise
        else:
            self._free -= size
        return size

    def _leave(self, waiting: _Waiting) -> None:
        """Take a cancelled request out of the queue, or give back the capacity that it just received."""
        if waiting in self._queue:
            self._queue.remove(waiting)
            self.give_back(0)
        elif not waiting.turn.cancelled():
            self.give_back(waiting.size)

    def give_back(self, size: int) -> None:
        """Return bytes, and let those that wait have them."""
        self._free += size
        while self._queue and self._queue[0].size <= self._free:
            waiting = self._queue.popleft()
            if not waiting.turn.cancelled():
                self._free -= waiting.size
                waiting.turn.set_result(None)
