"""Recall: search all statements that were not forgotten, then follow each hit to the valid one.

The wording that matches a question is often that of a revised statement, or of a repeat. So no filter
on validity comes before the search. A memory counts once, by its best wording.

A question that names days is asked again among the statements of those days, whose hits rank higher.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ragfile.file.row_segment import NO_METADATA
from ragfile.memories import threads
from ragfile.memories.moments import stamp, unstamped
from ragfile.memories.question_dates import days_in
from ragfile.memories.turns import is_turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from ragfile import _core
    from ragfile.file.row_segment import RowSegment
    from ragfile.file.stored_rows import StoredRows
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.memories.threads import Viewpoint
    from ragfile.records import Hits
    from ragfile.types import Metadata

POOL = 50  # candidates of each retriever, and hits: a memory has several wordings
WIDTH = 4  # hits for each result
DEEPER = 4
DAY_BOOST = 0.4  # for a hit of the days that a question names
MEMORY, TURN = "memory", "turn"


@dataclass(slots=True)
class Recalled:
    """A memory or a turn that a question recalled.

    Attributes:
        id: Its id, for `revise`, `forget` and `history`.
        text: What holds: the statement that was valid at the moment of the question; or the turn.
        score: How well its best wording fits the question, higher for better.
        kind: "memory" or "turn".
        about: Its subject; the session of a turn.
        who: The speaker of a turn.
        at: The time of the statement or turn.
        since: Since when it holds; for a turn the same as `at`.
        until: When it stopped to hold, if it has.
        tags: Its tags.
        source: Where it came from.
        wordings: How many statements the memory has, with repeats and revised ones.
        around: The turns before a turn.
    """

    id: str
    text: str
    score: float
    kind: str
    about: str
    who: str
    at: datetime
    since: datetime
    until: datetime | None
    tags: tuple[str, ...] = ()
    source: str = ""
    wordings: int = 1
    around: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value, as JSON."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values |= {name: stamp(values[name]) for name in threads.CLOCKS if values[name] is not None}
        return {name: value for name, value in values.items() if value not in (None, "", ())}


class RankedRow(NamedTuple):
    """A row of a file with its score."""

    score: float
    row: int


class Recollection:
    """One question to the memories of an open file."""

    def __init__(self, rf: KnowledgeBase, question: str, view: Viewpoint, about: str) -> None:
        self._rf, self._question, self._view = rf, question, view
        self._where: dict[str, Any] = {"about": about} if about else {}
        self._rows: StoredRows  # of the commit that was searched
        self._days = days_in(question, unstamped(view.now))

    def best(self, k: int) -> list[Recalled]:
        """Return the k best results."""
        width = max(WIDTH * k, POOL)
        while True:
            rows, is_all = self._ranked(width)
            found = self._resolved(rows, k)
            if len(found) == k or is_all:
                return found
            width *= DEEPER

    def _ranked(self, width: int) -> tuple[list[RankedRow], bool]:
        """Return the best rows, and whether there are no others."""
        hits = self._search(width, self._where)
        if hits:
            self._rows = hits[0].found_in[0].rows
        is_all = len(hits) < width
        ranked = [RankedRow(hit.score, hit.found_in[1]) for hit in hits]
        if self._days is not None:
            best = {row: score for score, row in ranked}
            there = {"$gte": stamp(self._days.start), "$lt": stamp(self._days.end)}
            named = self._search(width, {**self._where, "at": there})
            best |= {hit.found_in[1]: hit.score + DAY_BOOST for hit in named}
            is_all = is_all and len(named) < width
            order = sorted(best.items(), key=lambda item: (-item[1], item[0]))
            ranked = [RankedRow(score, row) for row, score in order]
        return ranked, is_all

    def _search(self, width: int, where: dict[str, Any]) -> Hits:
        return self._rf.search(self._question, width, pool=width, cache=False, where=where or None)

    def _resolved(self, ranked: list[RankedRow], k: int) -> list[Recalled]:
        seen: set[tuple[int, int]] = set()
        found: list[Recalled] = []
        segments = self._rows.segments
        bases = [segment.base for segment in segments]
        for score, row in ranked:
            segment = segments[bisect_right(bases, row) - 1]
            chunk = segment.records.chunk(row - segment.base)
            key = segment.base, chunk.document
            if key in seen:
                continue
            seen.add(key)
            if (one := self._result(segment, chunk, row - segment.base)) is not None:
                one.score = score
                found.append(one)
                if len(found) == k:
                    break
        return found

    def _result(self, segment: RowSegment, chunk: _core.ChunkRecord, row: int) -> Recalled | None:
        """Return the memory or turn of a row, or None if it is not to be shown."""
        document = segment.records.document(chunk.document)
        shared = segment.document_fields(chunk.document, document)
        metadata = shared.get("metadata", NO_METADATA)
        tags = tuple(shared.get("tags", ()))
        if is_turn(metadata):
            return self._turn(document.id, segment.passage(row)[0], tags, metadata)
        return self._memory(segment, document, tags, metadata)

    def _memory(
        self, segment: RowSegment, document: _core.DocumentRecord, tags: tuple[str, ...],
        metadata: Metadata,
    ) -> Recalled | None:  # fmt: skip
        expires = metadata.get("expires", "")
        if isinstance(expires, str) and "" < expires <= self._view.now:
            return None
        said = threads.StoredStatements(segment, document.rows)
        found = threads.holding(said, self._view)
        if found is None:
            return None
        chosen, number, end = found
        return Recalled(
            document.id, said.text(number), 0.0, MEMORY, metadata.get("about", ""), "",
            unstamped(chosen.at), unstamped(chosen.since), unstamped(end) if end else None, tags,
            chosen.source, len(said),
        )  # fmt: skip

    def _turn(
        self, name: str, text: str, tags: tuple[str, ...], metadata: Metadata
    ) -> Recalled | None:  # fmt: skip
        said, view = metadata["at"], self._view
        if any(limit and said > limit for limit in (view.as_of, view.known_at)):
            return None
        at = unstamped(said)
        return Recalled(
            name, text, 0.0, TURN, metadata["session"], metadata.get("headers", ""), at, at, None,
            tags, around=metadata.get("around", ""),
        )  # fmt: skip


class MemoryChange(NamedTuple):
    """One change among the memories.

    Attributes:
        id: The memory.
        kind: "remembered", "revised" or "corrected".
        at: The time of the statement.
        since: Since when it holds.
        text: The statement.
        before: The statement that it replaced, "" for a new memory.
        about: The memory's subject.
    """

    id: str
    kind: str
    at: datetime
    since: datetime
    text: str
    before: str
    about: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that have a value, as JSON."""
        values = self._asdict() | {"at": stamp(self.at), "since": stamp(self.since)}
        return {name: value for name, value in values.items() if value != ""}


def changes_of(
    thread: threads.MemoryThread, since: str, until: str
) -> Iterator[MemoryChange]:  # fmt: skip
    """Yield the changes of a memory in a period; repeats change nothing."""
    before = ""
    for said in thread.statements:
        if said.kind != threads.REPEATED and since <= said.at <= until:
            yield MemoryChange(
                thread.id, said.kind, unstamped(said.at), unstamped(said.since), said.text, before,
                thread.about,
            )  # fmt: skip
        before = said.text
