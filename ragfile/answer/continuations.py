"""Extend the best passages to the end of their sections, because an answer often continues in the next chunk.

Each of the first three passages takes the chunks that follow it under the same heading, about 1,000 characters;
passages inside an earlier one are left out. Text before a passage, or under the next heading, helped less than other
passages in its place (bench/eval.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragfile.records import NUMBERED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.records import Candidate, Hit
    from ragfile.search.rows_protocol import ChunkRows

FIRST = 3  # passages to extend
ROOM = 1000  # characters after which no other chunk is added
SAME = ("headers", *NUMBERED)  # equal in the metadata of all chunks of a section


def read_on(rf: ChunkRows, ranked: Iterable[Candidate], hits: Iterable[Hit]) -> list[Candidate]:
    """Return the passages, best first, the first ones extended; `hits` are their hits in any order."""
    by_key = {(hit.doc_id, hit.chunk_index): hit for hit in hits}
    kept: list[Candidate] = []
    given: set[tuple[str, int]] = set()  # chunks inside an earlier passage
    for at, candidate in enumerate(ranked):
        if candidate.key in given:
            continue
        hit = by_key[candidate.key]
        more = _following(rf, hit, given) if at < FIRST else 0
        given.update((hit.doc_id, hit.chunk_index + n) for n in range(more + 1))
        kept.append(_longer(candidate, hit, more) if more else candidate)
    return kept


def _longer(candidate: Candidate, hit: Hit, more: int) -> Candidate:
    text, start, end = hit.context(before=0, after=more)
    return replace(candidate, content=text, start=start, end=end)


def _following(rf: ChunkRows, hit: Hit, given: set[tuple[str, int]]) -> int:
    """Return how many chunks after a hit belong to its section, are not given yet, and fit in ROOM."""
    if hit.start < 0 or not hit.metadata.get("headers"):
        return 0
    count, room = 0, ROOM
    while room > 0 and (hit.doc_id, hit.chunk_index + count + 1) not in given:
        row = rf.row(f"{hit.doc_id}#{hit.chunk_index + count + 1}")
        chunk = None if row is None else rf.chunk(row)
        if chunk is None or any(chunk.metadata.get(n) != hit.metadata.get(n) for n in SAME):
            break
        count, room = count + 1, room - len(chunk.content)
    return count
