"""Rows that are read from segments: their chunks, hits, vectors and documents, one or many at once.

Rows are numbered through the segments in order; numbers hold for one generation. Everything is read from the
map on first use. The rows of a file (search/file_rows.py) and of a dataset (shards/dataset_rows.py) build on this.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragfile.errors import CorruptError
from ragfile.file import arrow, exact_retrievers, remote_prefetch, stored_columns
from ragfile.file.metadata_columns import Labels
from ragfile.file.passages import Passages
from ragfile.file.stored_columns import SegmentColumns
from ragfile.ground.cancellation import steps
from ragfile.ground.extras import optional
from ragfile.ground.whole_numbers import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas  # type: ignore[import-untyped,unused-ignore]  # its types are another package
    import pyarrow  # type: ignore[import-not-found,unused-ignore]  # it has no types
    import pyarrow.dataset  # type: ignore[import-not-found,unused-ignore]  # it has no types
    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.records import Chunk, Document, Hit
    from ragfile.types import Float32s, Int64s


class Standing(NamedTuple):
    """The key that orders rows with equal scores, and the rows [first, end) of a row's document."""

    key: tuple[bytes, int]
    first: int
    end: int


class RowPlace(NamedTuple):
    """A row's segment, and its number there."""

    segment: RowSegment
    local: int


class StoredRows:
    """The rows of some segments. `count` is the number of rows, `live` of those that are not deleted."""

    path: str
    config: dict[str, Any]  # JSON
    generation: int
    count: int
    live: int
    is_elsewhere: bool  # whether bytes are fetched on first use
    is_sealed = False  # whether bytes are checked again after they were read

    def __init__(self) -> None:
        self._vector_mask: NDArray[np.bool_] | None = None
        self._live_mask: NDArray[np.bool_] | None = None
        self._labels: Labels | None = None
        self._columns: list[SegmentColumns] | None = None

    @property
    def segments(self) -> Sequence[RowSegment]:
        """The segments, in order of their first rows."""
        raise NotImplementedError

    def find(self, doc_id: str) -> StoredDocument | None:
        """Return a live document: an id is live in one segment at most."""
        raise NotImplementedError

    def check_unchanged(self) -> None:
        """Raise ChangedError if the bytes were written over since they were opened."""

    def __len__(self) -> int:
        return self.live

    @property
    def dim(self) -> int | None:
        """Components of a vector; None without vectors."""
        return self.config.get("dim")

    @property
    def has_vectors(self) -> bool:
        """Whether any chunk has a vector; vector_mask() has the rows that do."""
        raise NotImplementedError

    @property
    def has_bare_rows(self) -> bool:
        """Whether there are live chunks without a vector beside some that have one."""
        raise NotImplementedError

    def place(self, row: int) -> RowPlace:
        """Return the segment of a row, and its number there."""
        row = whole(row, "row")
        if not 0 <= row < self.count:
            raise IndexError(f"row {row} of {self.count}")
        segment = self.segments[exact_retrievers.place(self.segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def live_place(self, row: int) -> RowPlace:
        """Return the place of a live row; raise IndexError for a deleted one."""
        found = self.place(row)
        if not found.segment.is_live(found.local):
            raise deleted(row)
        return found

    def read(self, row: int, part: str) -> tuple[Any, ...]:
        """Return the fields of a part of a row's hit (records.PARTS)."""
        segment, local = self.place(row)
        found: tuple[Any, ...] = getattr(segment, part)(local)
        return found

    def chunk(self, row: int) -> Chunk:
        """Return the Chunk of a row; its metadata includes the document's."""
        segment, local = self.live_place(row)
        return segment.chunk(local)

    def chunks_of(self, document: StoredDocument) -> Iterator[Chunk]:
        """Yield the chunks of a live document; CorruptError if one of its rows is deleted."""
        segment = document.segment
        for row in document.rows:
            if not segment.is_live(row):
                what = f"document {document.id!r} is live in part"
                raise CorruptError(what, section="rag.tombs")
            yield segment.chunk(row)

    def hit(
        self,
        row: int,
        score: float = 0.0,
        score_type: str = "score",
        scores: dict[str, float] | None = None,
    ) -> Hit:
        """Return the Hit of a row."""
        segment, local = self.live_place(row)
        hit = segment.hit(local)
        hit.score, hit.score_type = score, score_type
        if scores:
            hit.scores = scores
        hit.found_in = Passages(self), row, ()
        return hit

    def metadata_of(self, row: int) -> dict[str, Any]:
        """Return the metadata of a row, with its document's; its text is not read."""
        segment, local = self.live_place(row)
        return segment.labels(local)[1]

    def row(self, chunk_id: str) -> int | None:
        """Return the live row of a chunk id ("document#index"), or None."""
        doc_id, _, index = chunk_id.rpartition("#")
        if not (index.isascii() and index.isdecimal()) or int(index) >= 1 << 32:
            return None
        found = self.find(doc_id)
        if found is None:
            return None
        row = found.segment.records.row(found.number, int(index))
        return None if row is None else found.segment.base + row

    def vector(self, row: int) -> NDArray[np.floating[Any]]:
        """Return the stored vector of a row, a view of the map."""
        segment, local = self.live_place(row)
        vectors = segment.stored_vectors(local, 1)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            if not self.has_vectors:
                raise ValueError(f"{self.path} has no vectors")
            raise ValueError(f"row {row} has no vector: vector_mask() lists the rows with one")
        found: NDArray[np.floating[Any]] = vectors[0]
        return found

    def vector_or_nan(self, row: int) -> NDArray[np.floating[Any]]:
        """Return the stored vector of a row, or NaN for one without."""
        segment, local = self.live_place(row)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            return np.full(self.dim or 0, np.nan, np.float32)
        found: NDArray[np.floating[Any]] = segment.stored_vectors(local, 1)[0]
        return found

    def looked_at(
        self,
        what: str,
        rows: Iterable[int] | Int64s,
        notes: Any = None,  # Any: search's Notes, a package above
    ) -> dict[int, Any]:
        """Return by row the "hits", "ids", "keys", "standings", "metadata", "contents", "passages" or "vectors" of
        live rows; passages are the texts alone."""
        wanted = np.asarray(rows, np.int64).tolist()
        if self.is_elsewhere:
            self._bring(what, wanted)
        if what == "standings":
            return self._standings(wanted)
        look = _LOOKS[what]
        return {row: look(self, row) for row in steps(wanted)}

    def _standings(self, wanted: list[int]) -> dict[int, Standing]:
        """Return the standings of rows, with one call into the core for each segment."""
        rows = np.array(wanted, np.int64)
        bases = np.array([segment.base for segment in self.segments], np.int64)
        numbers = np.searchsorted(bases, rows, "right") - 1
        found: dict[int, Standing] = {}
        places: list[int] = np.unique(numbers).tolist()
        for number in steps(places):
            segment, inside = self.segments[number], rows[numbers == number]
            each = segment.records.standings(inside - segment.base, segment.base)
            found.update(zip(inside.tolist(), starmap(Standing, each), strict=True))
        return found

    def _bring(self, what: str, rows: list[int]) -> None:
        if what == "vectors":
            remote_prefetch.vector_rows(self.segments, rows)
        elif what in ("keys", "standings"):
            remote_prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        else:
            remote_prefetch.passages(self.segments, rows)

    def vectors_of(
        self,
        rows: Iterable[int],
        notes: Any = None,  # Any: search's Notes, a package above
    ) -> Float32s:
        """Return the vectors of live rows, one after the other; NaN for a row without one."""
        wanted = list(rows)
        return stacked(self.looked_at("vectors", wanted), wanted, self.dim or 0)

    def passages(self) -> Passages:
        """Return the reader of these rows' hits."""
        return Passages(self)

    def vectors(self, segment: int | None = None) -> NDArray[np.floating[Any]] | None:
        """Return the stored vectors of the live rows, in the order of live_rows(); None where there are none.

        The result is a view of the map if the file has one segment and no deleted rows, else a copy. A row
        without a vector is NaN. The first call checks all bytes of the section, since later reads of a view
        cannot be checked: seven milliseconds for 150 MB in memory, else a read of the section. For a single
        row, vector(row) checks only that row.

        Args:
            segment: the index of one segment, to get its vectors only.
        """
        chosen = self.segments if segment is None else [self._numbered(segment)]
        found = [part.live_vectors() for part in chosen if part.live]
        width = next((part.shape[1] for part in found if part is not None), None)
        if width is None or len(found) == 1:
            return found[0] if found else None
        return np.concatenate([
            np.full((one.live, width), np.nan, np.float32) if part is None else part
            for one, part in zip((s for s in chosen if s.live), found, strict=True)
        ])  # fmt: skip

    def _numbered(self, segment: int) -> RowSegment:
        """Return a segment by its index."""
        if whole(segment, "segment", 0) >= len(self.segments):
            raise IndexError(f"segment {segment} of {len(self.segments)}")
        return self.segments[segment]

    def vector_mask(self) -> NDArray[np.bool_]:
        """Return bool[rows]: whether a row has a vector. It works as a filter: `where=~rf.vector_mask()`."""
        if self._vector_mask is None:
            masks = [segment.vector_mask() for segment in self.segments]
            found = np.concatenate(masks) if masks else np.empty(0, bool)
            found.flags.writeable = False
            self._vector_mask = found
        return self._vector_mask

    def alive(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the mask, false for deleted rows."""
        return mask if self.live == self.count else mask & self.live_mask

    def live_rows(self) -> Int64s:
        """Return the numbers of the rows that are not deleted, in order, as int64. There are len(rf) of them."""
        return np.flatnonzero(self.live_mask)

    @property
    def live_mask(self) -> NDArray[np.bool_]:
        """bool[rows]: whether a row is not deleted."""
        if self._live_mask is None:
            masks = [segment.live_mask() for segment in self.segments]
            self._live_mask = np.concatenate(masks) if masks else np.empty(0, bool)
        return self._live_mask

    def check_live(self, rows: Int64s) -> None:
        """Raise IndexError if a row is deleted."""
        if self.live < self.count:
            dead = rows[~self.live_mask[rows]]
            if len(dead):
                raise deleted(dead[0])

    @property
    def columns(self) -> Labels:
        """Metadata and tags of every row as columns in memory; made on first use. Filters take segment_columns."""
        if self._labels is None:
            remote_prefetch.whole(
                self.segments, "rag.meta", "rag.chunks", "rag.documents", "rag.ids"
            )
            self._labels = Labels(self.segments)
        return self._labels

    @property
    def segment_columns(self) -> list[SegmentColumns]:
        """Metadata and tags of each segment as columns, for filters; made on first use."""
        if self._columns is None:
            stored_columns.heads(self.segments)
            self._columns = [SegmentColumns(s) for s in self.segments]
        return self._columns

    def has_values_at(self, path: str) -> bool:
        """Whether a row has a value at a path of metadata."""
        return any(len(columns.column(path)) for columns in self.segment_columns)

    def documents(self) -> Iterator[Document]:
        """Yield every document, in order of segment and id."""
        remote_prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        for segment in self.segments:
            for found in steps(segment.live_documents()):
                yield found.read()

    def document_ids(self) -> list[str]:
        """Return the ids of all documents, in order; no text is read."""
        remote_prefetch.whole(self.segments, *remote_prefetch.DELETED, "rag.documents", "rag.ids")
        return sorted(found.id for segment in self.segments for found in segment.live_documents())

    def document(self, doc_id: str) -> Document | None:
        """Return the Document with this id, or None."""
        found = self.find(doc_id)
        return None if found is None else found.read()

    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]:
        """Return the documents that these chunks are from, each once, in order of first use; unknown ids are skipped."""
        chunk_ids = [chunk_ids] if isinstance(chunk_ids, str) else chunk_ids
        ids = dict.fromkeys(c.rpartition("#")[0] for c in chunk_ids if self.row(c) is not None)
        found = (self.document(doc_id) for doc_id in ids)
        return [document for document in found if document is not None]

    def context(self, chunk_id: str, before: int = 200, after: int = 200) -> str:
        """Return the chunk's text with up to so many characters of its document on either side."""
        before, after = whole(before, "before", 0), whole(after, "after", 0)
        row = self.row(chunk_id)
        if row is None:
            raise KeyError(chunk_id)
        chunk, document = self.chunk(row), self.document(chunk_id.rpartition("#")[0])
        if document is None or chunk.start < 0 or not document.text:
            return chunk.content
        return document.text[max(0, chunk.start - before) : chunk.end + after]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow.arrow_stream(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return the live chunks as a pyarrow.Table. The schema's metadata name the model."""
        table = arrow.arrow_reader(self).read_all()
        return table.replace_schema_metadata(arrow.model_note(self))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the live chunks as a pandas.DataFrame. Its `attrs` name the model."""
        frame = self.to_arrow().to_pandas()
        frame.attrs |= {key.decode(): note for key, note in arrow.model_note(self).items()}
        return frame

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """Return the live chunks as a dataset for DuckDB, polars and pyarrow, which reads the columns that a query
        names of the rows that pass its conditions.
        """
        optional("pyarrow.dataset", "a dataset of chunks")
        from ragfile.file.arrow_dataset import FileDataset

        return FileDataset(self)


def stacked(known: dict[int, Any], rows: list[int], dim: int) -> Float32s:
    """Return the vectors of rows as a matrix; NaN for a row without one."""
    found = np.full((len(rows), dim), np.nan, np.float32)
    for i, row in enumerate(rows):
        if len(known[row]) == dim:
            found[i] = known[row]
    return found


def deleted(row: int) -> IndexError:
    return IndexError(f"row {row} is deleted: live_rows() lists the rows that are left")


def _key(rows: StoredRows, row: int) -> tuple[bytes, int]:
    segment, local = rows.place(row)
    return segment.records.key(local)


def _id(rows: StoredRows, row: int) -> str:
    segment, local = rows.place(row)
    return segment.identity(local)[0]


def _content(rows: StoredRows, row: int) -> str:
    return rows.chunk(row).content


def _passage(rows: StoredRows, row: int) -> str:
    segment, local = rows.place(row)
    return segment.passage(local)[0]


def _links(rows: StoredRows, row: int) -> list[tuple[str, str]]:
    segment, local = rows.place(row)
    return segment.links_within(local)


_LOOKS: dict[str, Any] = {  # functions of (rows, row), each with a result of its own
    "hits": StoredRows.hit,
    "ids": _id,
    "keys": _key,
    "metadata": StoredRows.metadata_of,
    "contents": _content,
    "passages": _passage,
    "links": _links,
    "vectors": StoredRows.vector_or_nan,
}
