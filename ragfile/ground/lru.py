"""A cache of the most recently used values. Threads can share one."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from ragfile.ground.fork_safe_lock import ForkSafeLock

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lru(Generic[K, V]):
    """At most `size` values; a new one replaces the least recently used."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, ForkSafeLock()
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value, or None. No lock is needed: each step is atomic."""
        value = self._values.get(key)
        if value is not None:
            try:  # noqa: SIM105 - a context manager would cost more than the rest
                self._values.move_to_end(key)
            except KeyError:  # another thread has removed it
                pass
        return value

    def put(self, key: K, value: V) -> None:
        """Add or replace a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def drop(self, key: K) -> None:
        """Remove a value if it is there."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
