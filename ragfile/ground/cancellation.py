"""Cancel a thread's work from another thread.

A client may disconnect, or run out of its time, while a thread works on its behalf. Connections to
providers are shut down at once, which wakes the thread; a long loop ends before its next step.

    waiter = Waiter()
    with waiting(waiter): ...           # in the thread that works
    for row in steps(rows): ...         # a loop in it that may take long
    waiter.leave()                      # in another thread: both end with an error
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import TypeVar

    ItemT = TypeVar("ItemT")

_CURRENT: ContextVar[Waiter | None] = ContextVar("ragfile_waiter", default=None)


class WaiterLeft(TimeoutError):
    """The client for whom a thread worked has left."""


class Waiter:
    """A client that waits for the work of one thread."""

    def __init__(self) -> None:
        self._lock, self._left = ForkSafeLock(), threading.Event()
        self._shuts: list[Callable[[], object]] = []  # to call on leave()

    @property
    def has_left(self) -> bool:
        """Whether the client has left."""
        return self._left.is_set()

    def leave(self) -> None:
        """Close everything that is open for this waiter, and everything that opens from now on."""
        with self._lock:
            self._left.set()
            shuts, self._shuts = self._shuts, []
        for shut in shuts:
            shut()

    @contextmanager
    def shutting(self, shut: Callable[[], object]) -> Generator[None]:
        """Call `shut` if the waiter leaves before the block ends."""
        with self._lock:
            if not self._left.is_set():
                self._shuts.append(shut)
        if self.has_left:
            shut()
        try:
            yield
        finally:
            with self._lock:
                if shut in self._shuts:
                    self._shuts.remove(shut)

    def sleep(self, seconds: float) -> None:
        """Sleep for some seconds, or until the waiter leaves."""
        self._left.wait(seconds)


@contextmanager
def waiting(waiter: Waiter) -> Generator[None]:
    """Do the work of a block, in this thread, on behalf of a waiter."""
    token = _CURRENT.set(waiter)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def steps(items: Iterable[ItemT]) -> Iterable[ItemT]:
    """Return the items of a loop; once the waiter of this thread has left, it raises WaiterLeft."""
    waiter = _CURRENT.get()
    return items if waiter is None else _until_left(items, waiter)


def _until_left(items: Iterable[ItemT], waiter: Waiter) -> Iterator[ItemT]:
    for item in items:
        if waiter.has_left:
            raise WaiterLeft("the client has left, so its work ends")
        yield item


def current() -> Waiter | None:
    """Return the waiter of this thread or task, or None if its work cannot be cancelled."""
    return _CURRENT.get()
