"""A lock that is open in a forked child.

Threads share readers, and a process may fork while one of them holds a lock. The child does not have that thread, so it
would wait forever. The guarded state is never half changed between two lines of Python, so the child can start with open locks.
"""

import threading
import weakref
from types import TracebackType

from ragfile.ground import system

_known: weakref.WeakSet["ForkSafeLock"] = weakref.WeakSet()


class ForkSafeLock:
    """A lock for `with`, like threading.Lock."""

    def __init__(self) -> None:
        self.open()
        _known.add(self)

    def open(self) -> None:
        """Replace the lock by an open one, even if a thread holds it."""
        self._lock = threading.Lock()
        # For compiled code: `with` would need memory for the arguments of __exit__, and crash if it has run out.
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


def _open_all() -> None:
    for lock in _known:
        lock.open()


system.after_fork(_open_all)
