"""The row sets of the last filters of a commit, so that a filter that is asked again costs a look-up.

A set has a bit for each row, and all of them share one limit in bytes. A commit never changes, so its
sets never do; another commit has a cache of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from ragfile.file.row_sets import RowSet
    from ragfile.types import TagFilter

KEPT_BYTES = 16 << 20  # of one commit; at a million rows 128 sets
ENTRY_BYTES = 1 << 10  # of a set's objects in Python


class RowSetCache:
    """At most `limit` bytes of row sets; a new one replaces the least recently used."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit, self._used, self._lock = limit, 0, ForkSafeLock()
        self._sets: OrderedDict[bytes, RowSet] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sets)

    def get(self, key: bytes) -> RowSet | None:
        """Return the set of a filter, or None. No lock is needed: each step is atomic."""
        found = self._sets.get(key)
        if found is not None:
            try:  # noqa: SIM105 - a context manager would cost more than the rest
                self._sets.move_to_end(key)
            except KeyError:  # another thread has removed it
                pass
        return found

    def put(self, key: bytes, found: RowSet) -> None:
        """Keep the set of a filter, unless it alone exceeds the limit."""
        size = _size(key, found)
        if size > self._limit:
            return
        with self._lock:
            if key not in self._sets:
                self._used += size
                self._sets[key] = found
            while self._used > self._limit:
                self._used -= _size(*self._sets.popitem(last=False))


def _size(key: bytes, found: RowSet) -> int:
    return len(key) + found.nbytes + ENTRY_BYTES


def filter_key(
    where: object, tags_any: TagFilter | None, tags_all: TagFilter | None
) -> bytes | None:
    """Return bytes that only equal filters share, or None for a filter without such."""
    return _core.plain_bytes((where, tags_any, tags_all) if tags_any or tags_all else where)
