"""The row sets of the last filters of a commit, so that a filter that is asked again costs a look-up.

A set has a bit for each row, and all of them share one limit in bytes. A commit never changes, so its
sets never do; another commit has a cache of its own.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, cast

from ragfile.ground.fork_safe_lock import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragfile.file.row_sets import RowSet
    from ragfile.types import TagFilter

KEPT_BYTES = 16 << 20  # of one commit; at a million rows 128 sets
ENTRY_BYTES = 1 << 10  # of a set's objects in Python


class RowSetCache:
    """At most `limit` bytes of row sets; a new one replaces the least recently used."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit, self._used, self._lock = limit, 0, ForkSafeLock()
        self._sets: OrderedDict[str, RowSet] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sets)

    def get(self, key: str) -> RowSet | None:
        """Return the set of a filter, or None. No lock is needed: each step is atomic."""
        found = self._sets.get(key)
        if found is not None:
            try:  # noqa: SIM105 - a context manager would cost more than the rest
                self._sets.move_to_end(key)
            except KeyError:  # another thread has removed it
                pass
        return found

    def put(self, key: str, found: RowSet) -> None:
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


def _size(key: str, found: RowSet) -> int:
    return len(key) + found.nbytes + ENTRY_BYTES


_spell = json.JSONEncoder(sort_keys=True).encode
_NESTING = dict, list, tuple


def filter_key(where: object, tags_any: TagFilter | None, tags_all: TagFilter | None) -> str | None:
    """Return a text that only equal filters share, or None for a filter that JSON does not hold.

    JSON tells 1 from true and from "1". It would also write the key 1 as "1", which no filter accepts.
    """
    parts = (where, tags_any, tags_all) if tags_any or tags_all else where
    try:
        return _spell(parts) if _has_text_keys(parts) else None
    except (TypeError, ValueError, RecursionError):
        return None


def _has_text_keys(value: object) -> bool:
    """Return whether the keys of all objects in a value are texts."""
    if isinstance(value, dict):
        below = cast("dict[object, object]", value)
        if not all(isinstance(key, str) for key in below):
            return False
        nested: Iterable[object] = below.values()
    else:
        nested = cast("Sequence[object]", value)
    return all(not _is_nested(one) or _has_text_keys(one) for one in nested)


def _is_nested(value: object) -> bool:
    return isinstance(value, _NESTING)
