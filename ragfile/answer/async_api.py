"""Questions for programs that must not wait: a small pool of threads of the process asks them.

The core lets go of Python's lock while it scans and fuses, so an event loop goes on meanwhile. The
pool starts with the first question, has a thread for each processor, and is made anew after a fork.
A question that is cancelled before its turn is never asked; one that is under way is finished, and
its answer dropped. A model that it waits for is hung up on.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.ground.cancellation import Waiter, waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    from ragfile.answer.answers import Event, Events

    P = ParamSpec("P")
    R = TypeVar("R")


class _Pool:
    """The threads of this process."""

    def __init__(self):
        self._threads, self._owner = None, 0

    def threads(self) -> ThreadPoolExecutor:
        if self._threads is None or self._owner != os.getpid():
            self._owner = os.getpid()
            self._threads = ThreadPoolExecutor(_core.cpu_count(), thread_name_prefix="ragfile")
        return self._threads


_pool = _Pool()


async def asked(call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """What call(*args, **kwargs) returns, from a thread of the pool."""
    loop, waiter = asyncio.get_running_loop(), Waiter()
    task = partial(_done_for, waiter, call, *args, **kwargs)
    try:
        found: Any = await loop.run_in_executor(_pool.threads(), task)
    except asyncio.CancelledError:
        waiter.leave()
        raise
    return found


def _done_for(waiter, call, *args, **kwargs):
    with waiting(waiter):
        return call(*args, **kwargs)


class AsyncEvents:
    """The events of an answer, in order, for `async for`: each is made on a thread of the pool.

    aclose(), the end of an `async with` block, or a cancelled step hangs up on the model.
    """

    def __init__(self, events: Events):
        self._events, self._waiter, self._step = events, Waiter(), None

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
        """Ends the answer where it is."""
        self._waiter.leave()
        if self._step is None:
            await asked(self._events.close)

    def _next(self):
        with waiting(self._waiter):
            return next(self._events, None)

    def _shut(self, _):
        """Ends the answer, once the step that nobody waits for has ended."""
        self._events.close()
