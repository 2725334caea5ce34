"""Questions that do not block an event loop: a small pool of threads asks them.

The core releases Python's lock while it scans and fuses. The pool starts with the first question, has one thread per
processor, and is recreated after a fork. A question cancelled before its turn is never asked; one in progress
ends at its next step. The connection to a model that it waits for is closed.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.ground.cancellation import Waiter, waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import ParamSpec, TypeVar

    from ragfile.answer.answers import Event, Events

    P = ParamSpec("P")
    R = TypeVar("R")


class _Pool:
    """The threads of this process."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._owner = 0

    def threads(self) -> ThreadPoolExecutor:
        if self._threads is None or self._owner != os.getpid():
            self._owner = os.getpid()
            self._threads = ThreadPoolExecutor(_core.cpu_count(), thread_name_prefix="ragfile")
        return self._threads


_pool = _Pool()


async def asked(call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Return call(*args, **kwargs), run on a thread of the pool."""
    loop, waiter = asyncio.get_running_loop(), Waiter()

    def task() -> R:
        with waiting(waiter):
            return call(*args, **kwargs)

    try:
        return await loop.run_in_executor(_pool.threads(), task)
    except asyncio.CancelledError:
        waiter.leave()
        raise


class AsyncEvents:
    """The events of an answer for `async for`, each made on a thread of the pool.

    aclose(), the end of an `async with` block, or a cancelled step closes the model's connection.
    """

    def __init__(self, events: Events) -> None:
        self._events, self._waiter = events, Waiter()
        self._step: Future[Event | None] | None = None

    def __aiter__(self) -> AsyncEvents:
        return self

    async def __anext__(self) -> Event:
        if self._step is not None:
            raise RuntimeError("an event is awaited already: one at a time")
        self._step = _pool.threads().submit(self._next)
        try:
            found = await asyncio.wrap_future(self._step)
        except asyncio.CancelledError:
            self._waiter.leave()
            self._step.add_done_callback(self._shut)
            raise
        self._step = None
        if found is None:
            raise StopAsyncIteration
        return found

    async def __aenter__(self) -> AsyncEvents:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop the answer."""
        self._waiter.leave()
        if self._step is None:
            await asked(self._events.close)

    def _next(self) -> Event | None:
        with waiting(self._waiter):
            return next(self._events, None)

    def _shut(self, _: object) -> None:
        """Stop the answer once its abandoned step has ended."""
        self._events.close()
