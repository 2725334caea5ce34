"""Retry calls that fail temporarily.

Waits double, with jitter so that clients that failed together do not return together. A wait that
the server requests (Retry-After) is respected; if it is too long, the call fails at once.
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
    """An attempt failed in a way that a retry can cure.

    `wait` is the server's requested wait in seconds, if any; `attempts` counts the attempts made.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        self.attempts = 1
        self.status: int | None = None
        self.request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Retries:
    """The number of attempts, and the first and the longest wait between them in seconds.

    No wait ends after `until` on the monotonic clock.
    """

    attempts: int
    first_wait: float
    longest_wait: float
    until: float = math.inf

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the function's result; raise its last TransientError once retries are spent.

        A cancelled waiter (ground/cancellation.py) ends the retries.
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
        """Return the seconds to wait before the next attempt, or None to give up."""
        doubled = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))
        wait = (doubled if asked is None else asked) + random.uniform(0, self.first_wait)
        is_over = attempt == self.attempts or time.monotonic() + wait >= self.until
        return None if is_over or (asked or 0) > self.longest_wait else wait
