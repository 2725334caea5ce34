"""Repeat a call that failed for a moment.

Waits double, with jitter so that clients that failed together do not come back together. Where a
server asks for a wait (Retry-After), that wait is kept, or the call given up if it is too long.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from ragfile.ground import cancellation

log = logging.getLogger("ragfile.net.retries")

P = ParamSpec("P")
R = TypeVar("R")


class TransientError(Exception):
    """A failed attempt that is worth repeating.

    `wait` is the seconds that the server asked for, if any; `attempts` counts those that were made.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        self.attempts = 1
        self.status: int | None = None
        self.request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Retries:
    """How often to try, and how long to wait in between: seconds for the first wait and the longest.

    No wait ends after `until` on the monotonic clock.
    """

    attempts: int
    first_wait: float
    longest_wait: float
    until: float = math.inf

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns; raise its last TransientError once retries are spent.

        A waiter that leaves (ground/cancellation.py) ends the retries.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return function(*args, **kwargs)
            except TransientError as error:
                error.attempts = attempt
                wait, waiter = self._wait(attempt, error.wait), cancellation.current()
                if wait is None or (waiter and waiter.has_left):
                    raise
                log.info("waiting %.2f s before attempt %d: %s", wait, attempt + 1, error)
                (waiter or time).sleep(wait)
        raise AssertionError("unreachable")

    def _wait(self, attempt: int, asked: float | None) -> float | None:
        """Return the seconds before the next attempt, or None to give up."""
        doubled = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))
        wait = (doubled if asked is None else asked) + random.uniform(0, self.first_wait)
        is_over = attempt == self.attempts or time.monotonic() + wait >= self.until
        return None if is_over or (asked or 0) > self.longest_wait else wait
