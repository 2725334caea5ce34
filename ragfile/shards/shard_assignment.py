"""Assignment of documents to shards: by ranges of ids, by the hash of an id, or by the caller's function.

    range   shard i has the ids from its own `from` up to the next one's: neighbours stay together, ties need no ids
    hash    shard i has the ids with a hash of i modulo the number of shards: evenly spread, for any ids
    given   a function decided; new documents go to the shard with the fewest rows

The part of an id before its first "#" decides, so that the records of one file stay together. Adding documents changes
the shards that they belong to and no other.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol, TypeVar

    class HasId(Protocol):
        @property
        def id(self) -> str: ...

    Identified = TypeVar("Identified", bound=HasId)

Assignment = dict[str, "Any"]


def key_of(doc_id: str) -> str:
    """Return the part of an id that decides about its shard."""
    return doc_id.partition("#")[0]


def by_range(weights: Sequence[tuple[str, int]], shards: int) -> Assignment:
    """Return ranges of about the same weight, for (id, weight) pairs in order of id."""
    total, starts, passed = sum(weight for _, weight in weights), [""], 0
    for doc_id, weight in weights:
        if len(starts) < shards and passed * shards >= total * len(starts):
            key = key_of(doc_id)
            if passed and key > starts[-1]:
                starts.append(key)
        passed += weight
    return {"by": "range", "from": starts}


def by_hash(shards: int) -> Assignment:
    """Return the assignment by hash to so many shards."""
    return {"by": "hash", "shards": shards}


def slot_of(assignment: Assignment, doc_id: str) -> int | None:
    """Return the number of an id's shard, or None for "given"."""
    key = key_of(doc_id)
    if assignment["by"] == "range":
        return bisect.bisect_right(assignment["from"], key) - 1
    if assignment["by"] == "hash":
        raw = key.encode("utf-8", "surrogatepass")
        count: int = assignment["shards"]
        return xxhash.xxh3_64_intdigest(raw) % count
    return None


def grouped(
    documents: Sequence[Identified], slot: Callable[[str], int | None]
) -> dict[int, list[Identified]]:
    """Group things with an id by shard."""
    groups: dict[int, list[Identified]] = {}
    for document in documents:
        groups.setdefault(slot(document.id) or 0, []).append(document)
    return groups
