"""A cache of the most recently used values. Threads can share one.

It needs no lock, which thousands of open files would pay for: each step on the dictionary is atomic, and a
step whose key another thread has removed meanwhile does nothing.
"""

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lru(Generic[K, V]):
    """At most `size` values; a new one replaces the least recently used."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value, or None."""
        value = self._values.get(key)
        if value is not None:
            try:  # noqa: SIM105 - a context manager would cost more than the rest
                self._values.move_to_end(key)
            except KeyError:  # another thread has removed it
                pass
        return value

    def put(self, key: K, value: V) -> None:
        """Add or replace a value."""
        self._values[key] = value
        with suppress(KeyError):  # another thread has removed it
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)

    def drop(self, key: K) -> None:
        """Remove a value if it is there."""
        self._values.pop(key, None)

    def clear(self) -> None:
        """Drop all values."""
        self._values.clear()
