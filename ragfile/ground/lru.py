"""The last few things that were made, by what they were made for. Threads may share one."""

from collections import OrderedDict

from ragfile.ground.fork_safe_lock import ForkSafeLock


class Lru:
    """At most `size` values; the one that was asked for longest ago goes first."""

    def __init__(self, size):
        self._size, self._values, self._lock = size, OrderedDict(), ForkSafeLock()

    def __len__(self):
        return len(self._values)

    def get(self, key):
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key, value):
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def clear(self):
        """Forgets everything."""
        with self._lock:
            self._values.clear()
