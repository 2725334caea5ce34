"""Cancel a thread's network calls from another thread.

A client may disconnect while a thread waits for a provider on its behalf. Its connections are shut
down at once, which wakes the thread.

    waiter = Waiter()
    with waiting(waiter): ...           # in the thread that calls a provider
    waiter.leave()                      # in another thread: those calls fail
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_CURRENT: ContextVar[Waiter | None] = ContextVar("ragfile_waiter", default=None)


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


def current() -> Waiter | None:
    """Return the waiter of this thread or task, or None if its work cannot be cancelled."""
    return _CURRENT.get()
