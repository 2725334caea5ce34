"""What each row of an open file is: its chunk, hit, vector and document.

Rows are numbered through the segments in order; a deleted row keeps its number until compaction. Everything is read from the
map when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragfile.file import exact, prefetch
from ragfile.file.description import DescribedFile, deleted
from ragfile.file.passages import Passages
from ragfile.file.row_segment import RowSegment, StoredDocument
from ragfile.records import Chunk, Hit
from ragfile.types import PairStrategy


class Standing(NamedTuple):
    """Where a row stands: what ties go by, and the first row of its document and the one after its last."""

    key: tuple[bytes, int]
    first: int
    end: int


class RowPlace(NamedTuple):
    """Where a row of the file lies: the segment, and the row's number there."""

    segment: RowSegment
    local: int


class RowReading(DescribedFile):
    """An open file whose rows are read, one or many at once."""

    def place(self, row: int) -> RowPlace:
        """Which segment has a row, and as what number."""
        if not 0 <= row < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        segment = self.segments[exact.place(self.segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def _live_place(self, row) -> RowPlace:
        if not (self._is_pinned or self._is_untouched()):
            self._pinned().check_unchanged()
        found = self.place(row)
        if not found.segment.is_live(found.local):
            raise deleted(row)
        return found

    def chunk(self, row: int) -> Chunk:
        """The Chunk of a row; its metadata includes the document's."""
        segment, local = self._live_place(row)
        hit = segment.hit(local)
        return Chunk(
            hit.doc_id, hit.chunk_index, hit.text, hit.tags, hit.metadata, hit.start, hit.end
        )

    def hit(
        self,
        row: int,
        score: float = 0.0,
        score_type: str = "score",
        scores: dict[str, float] | None = None,
    ) -> Hit:
        """The Hit of a row."""
        segment, local = self._live_place(row)
        hit = segment.hit(local)
        hit.score, hit.score_type = score, score_type
        if scores:
            hit.scores = scores
        hit._source = self.passages(), row, ()
        return hit

    def metadata_of(self, row: int) -> dict[str, Any]:
        """The metadata of a row, with its document's; its text is not read."""
        segment, local = self._live_place(row)
        return segment.labels(local)[1]

    def passages(self) -> Passages:
        """What reads the rows of the commit that is open now, for as long as somebody needs them."""
        view = object.__new__(RowReading)
        if self._is_pinned:  # nobody changes it
            view.__dict__.update(self.__dict__)
        else:
            with self._swap:
                view.__dict__.update(self.__dict__)
        view.__dict__.pop("_answers", None)  # which keep hits, which keep this
        view._is_pinned = True
        return Passages(view)

    def row(self, chunk_id: str) -> int | None:
        """The live row of a chunk id ("document#index"), or None."""
        doc_id, _, index = chunk_id.rpartition("#")
        if not (index.isascii() and index.isdecimal()) or int(index) >= 1 << 32:
            return None
        there = self.find(doc_id)
        if there is None:
            return None
        row = there.segment.records.row(there.number, int(index))
        return None if row is None else there.segment.base + row

    def find(self, doc_id: str) -> StoredDocument | None:
        """Where a live document lies: an id lives in one segment at most."""
        prefetch.ids(self.segments)
        found = (segment.find(doc_id) for segment in reversed(self.segments))
        return next((there for there in found if there is not None), None)

    def vectors(self, segment: int | None = None) -> NDArray[np.floating[Any]] | None:
        """The stored vectors of the live rows, in the order of live_rows(); None where there are none.

        They are a view of the map, without a copy, where the file has one segment and no deleted rows. Otherwise
        they are copied together. A row without a vector is NaN. With `segment`, the vectors are those of that segment alone. The first call checks
        all of the section's bytes, since nobody can watch the use of a view: seven milliseconds for 150 MB in memory,
        else a read of the section. For single rows there is vector(row), which checks what it gives.
        """
        chosen = self.segments if segment is None else [self.segments[segment]]
        found: list[Any] = [part.live_vectors() for part in chosen if part.live]
        if all(part is None for part in found):
            return None
        if len(found) == 1:
            return found[0]
        width = next(part.shape[1] for part in found if part is not None)
        return np.concatenate([
            np.full((one.live, width), np.nan, np.float32) if part is None else part
            for one, part in zip((s for s in chosen if s.live), found, strict=True)
        ])  # fmt: skip

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Any, str]]:
        """(vector, reference) or (reference, text) of each pair of the `vector` or `keyword` sections, in place."""
        if name not in ("keyword", "vector"):
            raise ValueError(f"pairs are in 'keyword' and 'vector', not in {name!r}")
        for segment in self.segments:
            if not segment.has(name):
                continue
            if name == "keyword":
                yield from segment.live_keyword_pairs()
            else:
                for row, vector in enumerate(segment.stored_vectors(0, segment.rows)):
                    if segment.is_live(row):
                        yield vector, f"c{row:010d}"

    def lookup(self, keyword: str) -> list[str]:
        """The texts of all `keyword` pairs with this key."""
        kept = [segment for segment in self.segments if segment.has("keyword")]
        return [text for segment in kept for text in segment.lookup(keyword)]

    def vector(self, row: int) -> NDArray[np.floating[Any]]:
        """The stored vector of a row, a view of the map."""
        segment, local = self._live_place(row)
        vectors = segment.stored_vectors(local, 1)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            if not self.has_vectors:
                raise ValueError(f"{self.path} has no vectors")
            raise ValueError(f"row {row} has no vector: vector_mask() tells which rows have one")
        return vectors[0]

    def _vector_or_nan(self, row):
        segment, local = self._live_place(row)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            return np.full(self.dim or 0, np.nan, np.float32)
        return segment.stored_vectors(local, 1)[0]

    def _looked_at(self, what: str, rows: Any) -> dict[int, Any]:
        """What stands at some live rows, by row: their "hits", "ids", "keys", "standings", "metadata", "contents" or "vectors"."""
        rows, look = np.asarray(rows, np.int64).tolist(), _LOOKS[what]
        if self.is_elsewhere:
            self._bring(what, rows)
        return {row: look(self, row) for row in rows}

    def _bring(self, what, rows):
        if what == "vectors":
            prefetch.vector_rows(self.segments, rows)
        elif what in ("keys", "standings"):
            prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        else:
            prefetch.passages(self.segments, rows)

    def vectors_of(self, rows: Iterable[int]) -> NDArray[np.float32]:
        """The vectors of live rows, one after the other; NaN for a row without one."""
        wanted = list(rows)
        known = self._looked_at("vectors", wanted)
        found = np.full((len(wanted), self.dim or 0), np.nan, np.float32)
        for i, row in enumerate(wanted):
            if len(known[row]) == found.shape[1]:
                found[i] = known[row]
        return found


def _standing(archive, row):
    segment, local = archive.place(row)
    there = segment.document(segment.records.chunk(local).document).file_rows
    return Standing(segment.records.key(local), there.start, there.stop)


def _key(archive, row):
    segment, local = archive.place(row)
    return segment.records.key(local)


def _id(archive, row):
    segment, local = archive.place(row)
    return segment.identity(local)[0]


_LOOKS = {
    "hits": RowReading.hit,
    "ids": _id,
    "keys": _key,
    "standings": _standing,
    "metadata": RowReading.metadata_of,
    "contents": lambda archive, row: archive.chunk(row).content,
    "vectors": RowReading._vector_or_nan,
}
