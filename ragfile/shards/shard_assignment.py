"""Which shard a document belongs to: by ranges of ids, by the hash of its id, or as somebody chose.

    range   shard i has the ids from its own `from` up to the next one's: neighbours stay together, ties need no ids
    hash    shard i has the ids whose hash is i modulo the number of shards: evenly spread, whatever the ids
    given   somebody else decided; new documents go to the shard with the fewest rows

What counts is the part of an id before its first "#", so that the records of one file stay together. Adding documents
changes the shards that they belong to and no other.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

Assignment = dict[str, "Any"]


def key_of(doc_id: str) -> str:
    """What decides of an id."""
    return doc_id.partition("#")[0]


def by_range(weights: Sequence[tuple[str, int]], shards: int) -> Assignment:
    """Ranges of about the same weight, for (id, weight) pairs in order of id."""
    total, starts, passed = sum(weight for _, weight in weights), [""], 0
    for doc_id, weight in weights:
        if len(starts) < shards and passed * shards >= total * len(starts):
            key = key_of(doc_id)
            if passed and key > starts[-1]:
                starts.append(key)
        passed += weight
    return {"by": "range", "from": starts}


def by_hash(shards: int) -> Assignment:
    return {"by": "hash", "shards": shards}


def slot_of(assignment: Assignment, doc_id: str) -> int | None:
    """The number of an id's shard, or None where somebody else decides."""
    key = key_of(doc_id)
    if assignment["by"] == "range":
        return bisect.bisect_right(assignment["from"], key) - 1
    if assignment["by"] == "hash":
        raw = key.encode("utf-8", "surrogatepass")
        return xxhash.xxh3_64_intdigest(raw) % assignment["shards"]
    return None


def grouped(documents: Sequence[Any], slot: Callable[[str], int | None]) -> dict[int, list[Any]]:
    """What has an id, by shard."""
    groups: dict[int, list[Any]] = {}
    for document in documents:
        groups.setdefault(slot(document.id) or 0, []).append(document)
    return groups
