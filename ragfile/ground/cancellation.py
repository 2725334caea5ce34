"""Those who wait for an answer can go away. What was opened for them is shut at once, although its
thread still waits for a server.

    waiter = Waiter()
    with waiting(waiter): ...           # in a thread, which may ask a server
    waiter.leave()                      # from another: that thread's calls break off
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CURRENT: ContextVar[Waiter | None] = ContextVar("ragfile_waiter", default=None)


class Waiter:
    """Somebody who waits for what one thread does."""

    def __init__(self) -> None:
        self._lock, self._left = ForkSafeLock(), threading.Event()
        self._shuts: list[Callable[[], object]] = []

    @property
    def has_left(self) -> bool:
        """Whether nobody waits any more."""
        return self._left.is_set()

    def leave(self) -> None:
        """Shuts what is open for this waiter, and what is opened from now on."""
        with self._lock:
            self._left.set()
            shuts, self._shuts = self._shuts, []
        for shut in shuts:
            shut()

    @contextmanager
    def shutting(self, shut: Callable[[], object]) -> Iterator[None]:
        """Calls `shut` if the waiter leaves before the block ends."""
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
        """Waits so long, or until the waiter leaves."""
        self._left.wait(seconds)


@contextmanager
def waiting(waiter: Waiter) -> Iterator[None]:
    """What happens inside, in this thread, is done for this waiter."""
    token = _CURRENT.set(waiter)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Waiter | None:
    """Who waits for what this thread does; None where nobody can leave."""
    return _CURRENT.get()
