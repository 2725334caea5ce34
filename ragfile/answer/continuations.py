"""The best passages read on to where their section ends, for a prompt: an answer often goes on in the next chunk.

The first three passages take what follows them under the same heading, some 1,000 characters of it; passages that are
part of one before them are left out. Text before a passage, and text under the next heading, found less than other
passages in their place (bench/eval.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragfile.records import NUMBERED

if TYPE_CHECKING:
    from typing import Any

    from ragfile.records import Candidate, Hit

FIRST = 3  # passages that are read on
ROOM = 1000  # characters after which no other chunk is added
SAME = ("headers", *NUMBERED)  # what chunks of one section share


def read_on(rf: Any, ranked: list[Candidate], hits: list[Hit]) -> list[Candidate]:
    """The passages, best first, of which the first go on; `hits` are where they are from, in any order."""
    by_key = {(hit.doc_id, hit.chunk_index): hit for hit in hits}
    kept: list[Candidate] = []
    given: set[tuple[str, int]] = set()  # chunks that are in a passage before
    for at, candidate in enumerate(ranked):
        if candidate.key in given:
            continue
        hit = by_key[candidate.key]
        more = _following(rf, hit, given) if at < FIRST else 0
        given.update((hit.doc_id, hit.chunk_index + n) for n in range(more + 1))
        kept.append(_longer(candidate, hit, more) if more else candidate)
    return kept


def _longer(candidate, hit, more):
    text, start, end = hit.context(before=0, after=more)
    return replace(candidate, content=text, start=start, end=end)


def _following(rf, hit, given):
    """How many chunks after a hit belong to its section and are not given, as far as there is room for them."""
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
