"""The time that a question may wait for the servers of its files.

A question over a remote file makes several requests. A server that sends a byte now and then would
keep each of them just within a limit of its own, so they share one: SECONDS, ROUND_TRIP for each
request, and as long as its bytes take at SLOWEST bytes a second. Only waiting counts: searching,
embedding, and the caller's work between two requests do not.

    with one_question(): ...                  # its requests share a limit
    with waiting_for_server() as limit: ...   # around requests: limit.until is when they must end
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

SECONDS, ROUND_TRIP, SLOWEST = 30.0, 0.5, 64 << 10

_CURRENT: ContextVar[ServerTime | None] = ContextVar("ragfile_server_time", default=None)


class ServerTime:
    """The limit of one question. Threads can share it: time in which several of them wait counts once."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._left, self._since, self._waiting = SECONDS, 0.0, 0

    @property
    def until(self) -> float:
        """The time on the monotonic clock at which the requests must have ended."""
        return self._since + self._left

    @property
    def is_over(self) -> bool:
        """Whether that time has passed."""
        return time.monotonic() >= self.until

    def seconds(self, most: float) -> float:
        """Return the seconds until then, at most so many."""
        return max(0.0, min(most, self.until - time.monotonic()))

    def allow(self, size: int) -> None:
        """Add the time for a request of some bytes."""
        with self._lock:
            self._left += ROUND_TRIP + size / SLOWEST

    @contextmanager
    def waiting(self) -> Generator[ServerTime]:
        """Count the time of a block."""
        with self._lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting += 1
        try:
            yield self
        finally:
            with self._lock:
                self._waiting -= 1
                if not self._waiting:
                    self._left -= time.monotonic() - self._since


@contextmanager
def one_question() -> Generator[None]:
    """Let the requests of a block share one limit; a block inside of another one has its limit."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(ServerTime())
    try:
        yield
    finally:
        _CURRENT.reset(token)


def waiting_for_server() -> AbstractContextManager[ServerTime]:
    """Return a block whose time counts for the question, or for itself without one."""
    return (_CURRENT.get() or ServerTime()).waiting()
