"""The rows that one commit added: their records, texts, metadata, vectors and terms, read in place.

A section is opened on first use, and checked there against the rest of the segment, above all for its
number of rows.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError, FormatError
from ragfile.file import config, huge_pages
from ragfile.ground.json_values import is_object
from ragfile.records import Chunk, Document, Hit, Link, Stretch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeGuard

    from numpy.typing import NDArray

    from ragfile.file.link_lists import LinkLists
    from ragfile.types import Booleans, Floats, Metadata

    Words = NDArray[np.uint64]  # a bit for each row

NO_METADATA: Metadata = {}
KEPT, KEPT_LEAST = 16 << 20, 1 << 20  # bytes of unpacked blocks
KEPT_FIELDS = 4096  # documents with metadata that stays parsed


def _are_fields(fields: object) -> TypeGuard[Metadata]:
    """Return whether a value is valid in the metadata stream, as the object of a document or chunk."""
    if is_object(fields) and len(fields) == 1 and type(fields.get("metadata")) is dict:
        return True  # most of them
    return (
        is_object(fields)
        and isinstance(fields.get("metadata", {}), dict)
        and isinstance(fields.get("source", ""), str)
        and isinstance(fields.get("tags", []), list)
        and all(isinstance(tag, str) for tag in fields.get("tags", ()))
        and isinstance(fields.get("original", []), list)
        and type(body := fields.get("body", 0)) is int
        and body >= 0
    )


_first_value = json.JSONDecoder().raw_decode


def _json_of(text: str) -> object:
    """Parse JSON, at half the cost of json.loads if nothing is around the value."""
    try:
        found, end = _first_value(text)
    except ValueError:
        return json.loads(text)
    return found if end == len(text) else json.loads(text)


def copied(value: Any) -> Any:  # Any: JSON, of the same type
    """Return a deep copy of a JSON value."""
    kind = type(value)  # pyright: ignore[reportUnknownVariableType]  # of any type
    if kind is dict:
        return {k: copied(v) if type(v) in (dict, list) else v for k, v in value.items()}
    if kind is list:
        return [copied(v) if type(v) in (dict, list) else v for v in value]
    return value


class StoredDocument:
    """A document of an open file. Its record is read on first use and kept."""

    __slots__ = ("_record", "number", "segment")

    def __init__(self, segment: RowSegment, number: int) -> None:
        self.segment, self.number = segment, number
        self._record: _core.DocumentRecord | None = None

    @property
    def record(self) -> _core.DocumentRecord:
        if self._record is None:
            self._record = self.segment.records.document(self.number)
        return self._record

    @property
    def is_live(self) -> bool:
        """Return whether the document is live: with all its rows, or not in rag.gone if it has none."""
        if rows := self.record.rows:
            return self.segment.is_live(rows.start)
        return not self.segment.is_gone(self.number)

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def rows(self) -> range:
        """Return its rows in the segment."""
        return self.record.rows

    @property
    def file_rows(self) -> range:
        """Return its rows in the file."""
        base, rows = self.segment.base, self.record.rows
        return range(base + rows.start, base + rows.stop)

    @property
    def fields(self) -> Metadata:
        """Return its JSON object in the metadata stream. It is shared: do not change it."""
        return self.segment.document_fields(self.number, self.record)

    @property
    def stored_vectors(self) -> NDArray[np.floating[Any]] | None:
        """Return the vectors of its rows, NaN for those without one; None in a segment without any."""
        rows = self.rows
        found: NDArray[np.floating[Any]] | None = self.segment.stored_vectors(rows.start, len(rows))
        return found

    @property
    def vectors(self) -> tuple[NDArray[np.floating[Any]] | None, NDArray[np.bool_]]:
        """Return (stored vectors of its rows or None, bool for each row without a vector)."""
        rows, segment, stored = self.rows, self.segment, self.stored_vectors
        if not segment.has_bare_rows:
            return stored, np.zeros(len(rows), bool)
        return stored, segment.bare_mask()[rows.start : rows.stop]

    def read(self) -> Document:
        """Return the whole document."""
        record = self.record
        if not record.id:
            raise CorruptError(f"document {self.number} has an empty id", section="rag.ids")
        fields = self.segment.document_fields(self.number, record)
        text = self.segment.text(record, 0, record.text_size)
        document = Document(
            record.id, text, fields.get("source", ""), copied(fields.get("metadata", NO_METADATA)),
            tuple(fields.get("tags", ())), edits=copied(fields.get("original", [])), body=fields.get("body", 0),
        )  # fmt: skip
        if self.segment.has("graph"):
            from ragfile.ingest.document_links import further_links  # which a search does not need

            document.links = further_links(document, self.links)
        return document

    @property
    def links(self) -> tuple[Link, ...]:
        """Return the links of the document."""
        if (lists := self.segment.link_lists()) is None:
            return ()
        return tuple(
            Link(
                target, kind, fragment or "", text or "", start, start + size if start >= 0 else -1,
                *((row[0], tuple(row[1:])) if row else (1.0, ())),
            )
            for kind, target, start, size, fragment, text, row in lists.edges_of(self.number)
        )  # fmt: skip


class RowSegment:
    """The rows that one commit added. `base` is the number of its first row in the file."""

    # What most segments do not have when they are opened: a file of many is opened in less time.
    _copy: memoryview | None = None
    _records: _core.Records | None = None
    _texts: _core.Stream | None = None
    _meta: _core.Stream | None = None
    _alive: Words | None = None
    _bare: Booleans | None = None
    _layout: _core.VectorLayout | None = None
    _view: Floats | None = None
    _matrix: _core.Matrix | None = None
    _lexicon: _core.Lexicon | None = None
    _positions: _core.Positions | None = None
    _titles: _core.TitleTable | None = None
    _sparse: _core.SparseWeights | None = None
    _sparse_rows: _core.SparseRows | None = None
    _originals: _core.Originals | None = None
    _has_further_passages: bool | None = None
    sample_places: dict[tuple[int, int], int] | None = None  # see sample_rows
    _links: dict[str, LinkLists] | None = None
    brought: frozenset[str] = frozenset()  # names of one-time plans (see prefetch) that have run
    is_pinned, room, metric = False, KEPT, "cosine"

    def __init__(self, reader: _core.Reader, record: _core.SegmentRecord, base: int) -> None:
        self.reader, self.base = reader, base
        self.number, self.rows, self.live, self.generation = record
        self._fields: dict[int, Metadata] = {}

    @property
    def has_further_passages(self) -> bool:
        """Whether a document has several rows, or may have: some documents have none.

        With as many rows as documents, those of a file that is elsewhere are taken to be one each.
        """
        if self._has_further_passages is None:
            is_tie = self.rows == self.records.documents
            found = not is_tie
            if is_tie and not self.reader.is_elsewhere:
                documents = self.records.documents_of_rows()  # ascending
                found = bool((documents[1:] == documents[:-1]).any())
            self._has_further_passages = found
        return self._has_further_passages

    def moved(self, base: int) -> RowSegment:
        """Return the segment with another number of its first row, and with all that is open."""
        if base == self.base:
            return self
        other = copy.copy(self)
        other.base = base
        return other

    def section(self, name: str) -> _core.Section | None:
        return self.reader.section(name, self.number)

    def has(self, name: str) -> bool:
        """Return whether a section exists; nothing is read."""
        return self.reader.has(name, self.number)

    def need(self, name: str) -> _core.Section:
        """Return a section, or raise CorruptError if it is missing."""
        section = self.section(name)
        if section is None:
            raise CorruptError(f"segment {self.number} has no section {name}", section=name)
        return section

    @property
    def records(self) -> _core.Records:
        if self._records is None:
            records = _core.Records(
                self.need("rag.chunks"), self.need("rag.documents"), self.need("rag.ids")
            )
            if len(records) != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows but {len(records)} chunk records"
                )
            self._records = records
        return self._records

    @property
    def texts(self) -> _core.Stream:
        if self._texts is None:
            self._texts = self._stream("rag.text")
        return self._texts

    @property
    def meta(self) -> _core.Stream:
        if self._meta is None:
            self._meta = self._stream("rag.meta")
        return self._meta

    def _stream(self, name: str) -> _core.Stream:
        """Open a stream that keeps its last blocks: unpacking takes half the time of reading a hit."""
        return _core.Stream(
            self.need(name), max(self.room // len(self.reader.segments), KEPT_LEAST)
        )

    @property
    def alive(self) -> Words | None:
        """Return bits of the rows that are not deleted, as uint64 words, or None if none is deleted."""
        if self.live == self.rows:
            return None
        if self._alive is None:
            listed = self.section("rag.deleted")
            tombs = self.need("rag.tombs") if listed is None else self.section("rag.tombs")
            self._alive = _core.rows_outside(tombs, self.rows, listed)
        return self._alive

    @property
    def has_bare_rows(self) -> bool:
        """Return whether some rows may have no vector; nothing is read."""
        return self.has("rag.bare") or not self.has("vector")

    def bare_mask(self) -> Booleans:
        """Return bool[rows]: the rows without a vector."""
        if self._bare is None:
            self._bare = self._read_bare()
        return self._bare

    def _read_bare(self) -> Booleans:
        section = self.section("rag.bare")
        if section is None or not self.has("vector"):  # a broken file can have a bitmap alone
            return np.full(self.rows, not self.has("vector"))
        return ~_core.flags_of(_core.rows_outside(section, self.rows), self.rows)

    def vector_mask(self) -> Booleans:
        """Return bool[rows]: the rows that are not deleted and have a vector."""
        mask = self.live_mask()
        return mask & ~self.bare_mask() if self.has_bare_rows else mask

    @property
    def embedded(self) -> Words | None:
        """Return bits of the rows of vector_mask, as uint64 words, or None for all rows."""
        if not self.has_bare_rows:
            return self.alive
        return _core.row_set(self.vector_mask(), self.rows)

    @property
    def vector_count(self) -> int:
        """Return the number of live rows with a vector."""
        return int(self.vector_mask().sum()) if self.has_bare_rows else self.live

    def live_mask(self) -> Booleans:
        """Return bool[rows]: the rows that are not deleted."""
        if self.alive is None:
            return np.ones(self.rows, dtype=bool)
        return _core.flags_of(self.alive, self.rows)

    def is_live(self, row: int) -> bool:
        return self.alive is None or bool(
            self.alive[row // 64] >> np.uint64(row % 64) & np.uint64(1)
        )

    def document(self, number: int) -> StoredDocument:
        """Return a document by its number, live or not."""
        return StoredDocument(self, number)

    def is_gone(self, number: int) -> bool:
        """Return whether a document without rows is deleted."""
        gone = self.section("rag.gone")
        return gone is not None and bool(_core.bitmap_has(gone, number))

    def live_documents(self) -> Iterator[StoredDocument]:
        """Yield the live documents, in order of id."""
        for number in range(self.records.documents):
            if (document := self.document(number)).is_live:
                yield document

    @property
    def has_deletions(self) -> bool:
        return self.live < self.rows or self.has("rag.gone")

    def document_count(self) -> int:
        """Return the number of live documents. Without deletions no record is read."""
        if not self.has_deletions:
            return len(self.need("rag.documents")) // _core.DOCUMENT_RECORD_SIZE
        return self.records.live_documents(self.alive, self.section("rag.gone"))

    def find(self, doc_id: str) -> StoredDocument | None:
        """Return the live document with this id."""
        number = self.records.find(doc_id)
        document = None if number is None else self.document(number)
        return document if document is not None and document.is_live else None

    def document_fields(self, number: int, record: _core.DocumentRecord) -> Metadata:
        """Return the JSON object of a document. The last few thousand are kept and shared: do not change it."""
        found = self._fields.get(number)
        if found is None:
            if len(self._fields) >= KEPT_FIELDS:
                self._fields.clear()
            found = self._fields[number] = self.fields(record.meta_at, record.meta_size)
        return found

    def hit(self, row: int) -> Hit:
        """Return a row as a Hit without scores; its metadata includes the document's."""
        name, doc_id, index, start, end, text, tags, metadata, source = self.whole(row)
        return Hit(name, doc_id, index, text, 0.0, "score", {}, tags, metadata, source, start, end)

    def chunk(self, row: int) -> Chunk:
        """Return a row as a Chunk; its metadata includes the document's."""
        _, doc_id, index, start, end, text, tags, metadata, _ = self.whole(row)
        return Chunk(doc_id, index, text, tags, metadata, start, end, self.sparse_of(row))

    def identity(self, row: int) -> tuple[str, str, int, int, int]:
        """Return the id of a row, the id of its document, its index there, and its span."""
        chunk = self.records.chunk(row)
        doc_id = self.records.document(chunk.document).id
        return f"{doc_id}#{chunk.index}", doc_id, chunk.index, *chunk.span

    def passage(self, row: int) -> tuple[str]:
        """Return the text of a row, alone in its part."""
        return (_core.passage(self.records, self.texts, row),)

    def whole(self, row: int) -> tuple[Any, ...]:
        """Return all fields of a row, in the order of records.PARTS; each record is read once."""
        chunk = self.records.chunk(row)
        document = self.records.document(chunk.document)
        identity = f"{document.id}#{chunk.index}", document.id, chunk.index, *chunk.span
        text = self.text(document, chunk.start, chunk.size)
        return *identity, text, *self._labels(chunk, document)

    def stretch(self, row: int, before: int, after: int) -> Stretch:
        """Return the text of a row with its neighbours in the document, up to a deleted one."""
        chunk = self.records.chunk(row)
        document = self.records.document(chunk.document)
        first, last = row, row
        while row - first < before and self._are_neighbours(document, first - 1, first):
            first -= 1
        while last - row < after and self._are_neighbours(document, last, last + 1):
            last += 1
        found = [self.records.chunk(each) for each in range(first, last + 1)]
        if any(each.span[0] < 0 for each in found):
            return Stretch(self.text(document, chunk.start, chunk.size), *chunk.span)
        at, end = found[0].start, max(each.start + each.size for each in found)
        text = self.text(document, at, end - at)
        return Stretch(text, found[0].span[0], max(each.span[1] for each in found))

    def _are_neighbours(self, document: _core.DocumentRecord, row: int, following: int) -> bool:
        """Return whether two rows are live, consecutive chunks of a document."""
        if row < document.rows.start or following >= document.rows.stop:
            return False
        indexes = [self.records.chunk(each).index for each in (row, following)]
        return indexes[1] - indexes[0] == 1 and self.is_live(row) and self.is_live(following)

    def labels(self, row: int) -> tuple[tuple[str, ...], Metadata, str]:
        """Return the tags, metadata and source of a row."""
        chunk = self.records.chunk(row)
        return self._labels(chunk, self.records.document(chunk.document))

    def _labels(
        self, chunk: _core.ChunkRecord, document: _core.DocumentRecord
    ) -> tuple[tuple[str, ...], Metadata, str]:
        shared = self.document_fields(chunk.document, document)
        own = self.fields(chunk.meta_at, chunk.meta_size)
        return (
            tuple(own["tags"] if "tags" in own else shared.get("tags", ())),
            {**copied(shared.get("metadata", NO_METADATA)), **own.get("metadata", NO_METADATA)},
            shared.get("source", ""),
        )

    def vector_layout(self) -> _core.VectorLayout:
        """Return the layout of the vectors in their section."""
        if self._layout is None:
            at = self.reader.entry("vector", self.number)["at"]
            layout = _core.vector_layout(self.need("vector"), at)
            if layout.rows != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows but {layout.rows} vectors",
                    section="vector",
                )
            self._layout = layout
        return self._layout

    def vectors(self) -> Floats | None:
        """Return the matrix as a strided view of the map, or None.

        Mapped bytes are not checked; stored_vectors checks them. Others are fetched, or decrypted, and checked.
        """
        if not self.has("vector"):
            return None
        section = self.need("vector")
        if section.is_elsewhere:
            section.check()
        return self._all_vectors()[:]

    def _all_vectors(self) -> Floats:
        if self._view is None:
            layout = self.vector_layout()
            dtype = np.dtype("<f4" if layout.bits == 32 else "<f2")
            self._view = np.ndarray(
                (layout.rows, layout.dim), dtype, buffer=memoryview(_core.Bare(self.need("vector"))),
                offset=layout.at, strides=(layout.stride, dtype.itemsize),
            )  # fmt: skip
        return self._view

    def stored_vectors(
        self, first: int, count: int
    ) -> Any:  # Any: Floats, or None without the section
        """Return the vectors of some rows, their bytes checked; None without a vector section."""
        if not self.has("vector"):
            return None
        vectors = self._all_vectors()
        if count:
            layout = self.vector_layout()
            self.need("vector").check(layout.at + first * layout.stride, count * layout.stride)
        return vectors[first : first + count]

    def live_vectors(self) -> Floats | None:
        """Return the vectors of the live rows, NaN for one without: a view, or a copy after deletions."""
        vectors: Floats | None = self.stored_vectors(0, self.rows)
        return vectors if vectors is None or self.alive is None else vectors[self.live_mask()]

    def live_keyword_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield (reference, text) of the pairs of live rows: there is a pair for each row, in order."""
        for row, pair in enumerate(self.keyword_pairs()):
            if row >= self.rows or self.is_live(row):
                yield pair

    def lookup(self, keyword: str) -> list[str]:
        """Return the texts of the live pairs with this key."""
        found = self.keyword_pairs().lookup(keyword)
        if self.alive is None or not found:
            return found
        return [text for key, text in self.live_keyword_pairs() if key == keyword]

    def keyword_pairs(self) -> _core.Pairs:
        return _core.Pairs.keyword(
            self.need("keyword"), self.reader.entry("keyword", self.number)["at"]
        )

    @property
    def shadow(self) -> _core.Section | None:
        """Return the section of the vectors' shadow: clustered, rotated or plain, or None."""
        sections = map(self.section, ("rag.clustered", "rag.planes", "rag.shadow"))
        return next((section for section in sections if section is not None), None)

    def _swept(self) -> _core.Section | memoryview | None:
        """Return the shadow that a search reads: a copy in huge pages if the file is pinned."""
        shadow = self.shadow
        if shadow is None or not self.is_pinned:
            return shadow
        if self._copy is None:
            self._copy = huge_pages.copied(shadow)
        return self._copy

    @property
    def pinned_size(self) -> int:
        """Return the bytes of memory that pinning takes for this segment."""
        return len(self._copy) if self._copy is not None else 0

    @property
    def matrix(self) -> _core.Matrix:
        """Return the vectors, searchable."""
        if self._matrix is None:
            if self.has("rag.clusters") != self.has("rag.clustered"):
                raise FormatError(
                    f"segment {self.number} has one of rag.clusters and rag.clustered"
                )
            layout = self.vector_layout()
            self._matrix = _core.Matrix(
                self.need("vector"), layout.rows, layout.dim, layout.stride, f"f{layout.bits}",
                at=layout.at, metric=self.metric, shadow=self._swept(),
                clusters=self.section("rag.clusters"),
            )  # fmt: skip
        return self._matrix

    @property
    def lexicon(self) -> _core.Lexicon:
        """Return the terms and postings, searchable."""
        if self._lexicon is None:
            lexicon = _core.Lexicon(self.need("rag.terms"), self.need("rag.postings"))
            if len(lexicon) != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows, its postings {len(lexicon)}"
                )
            self._lexicon = lexicon
        return self._lexicon

    @property
    def positions(self) -> _core.Positions | None:
        """Return the positions of words in texts, None without them."""
        if self._positions is None and (section := self.section("rag.positions")) is not None:
            self._positions = _core.Positions(section, self.lexicon)
        return self._positions

    def original(self, number: int) -> bytes:
        """Return the stored bytes of a document's file, none if its text gives them back."""
        if (section := self.section("rag.original")) is None:
            return b""
        if self._originals is None:
            self._originals = _core.Originals(section, self.records.documents)
        return self._originals.read(number)

    def stored_links(self, name: str) -> _core.StoredLinks | None:
        """Open the section of the links of the segment's documents, or of its hyperedges."""
        if (section := self.section(name)) is None:
            return None
        return _core.StoredLinks(section, self.records.documents)

    def link_lists(self, name: str = "graph") -> LinkLists | None:
        """Return the links of the segment's documents, or its hyperedges; None without them."""
        if self._links is None:
            self._links = {}
        if name not in self._links:
            if not self.has(name) or (stored := self.stored_links(name)) is None:
                return None
            from ragfile.file.link_lists import LinkLists  # which a search does not need

            self._links[name] = LinkLists(stored, self.records.documents)
        return self._links[name]

    def links_within(self, row: int, passage: str | None = None) -> list[tuple[str, str]]:
        """Return the links in the passage of a row: their source or their stored text, and their targets."""
        if (lists := self.link_lists()) is None:
            return []
        chunk = self.records.chunk(row)
        first, end = chunk.span
        found = lists.targets_within(chunk.document, first, end)
        if passage is None:
            passage = self.passage(row)[0] if any(text is None for *_, text in found) else ""
        return [
            (passage[a - first : b - first] if text is None else text, target)
            for target, a, b, text in found
        ]

    @property
    def titles(self) -> _core.TitleTable | None:
        """Return the titles of documents, None without any."""
        if self._titles is None and (section := self.section("rag.titles")) is not None:
            self._titles = _core.TitleTable(section)
        return self._titles

    @property
    def sparse(self) -> _core.SparseWeights | None:
        """Return the weights of terms that rows bring, searchable; None without any."""
        if self._sparse is None and (section := self.section("rag.sparse")) is not None:
            sparse = _core.SparseWeights(section)
            if sparse.rows != self.rows:
                raise CorruptError(
                    f"segment {self.number} has {self.rows} rows, its weights {sparse.rows}",
                    section="rag.sparse",
                )
            self._sparse = sparse
        return self._sparse

    @property
    def sparse_rows(self) -> _core.SparseRows | None:
        """Return the same weights by row, in memory; made on first use."""
        if self._sparse_rows is None and (sparse := self.sparse) is not None:
            self._sparse_rows = sparse.by_row(self.rows)
        return self._sparse_rows

    def sparse_of(self, row: int) -> dict[str, float] | None:
        """Return the weights that a row brings, None without any."""
        if not self.has("rag.sparse") or (rows := self.sparse_rows) is None:
            return None
        return rows.weights(row) or None

    @property
    def field_names(self) -> tuple[int, ...]:
        """Return the suffixes of the sections of fields with their own postings."""
        return self.lexicon.analysis.own_fields

    @property
    def has_fields(self) -> bool:
        """Return whether these sections exist."""
        names = self.field_names
        return all(self.has(f"rag.terms.{n}") and self.has(f"rag.postings.{n}") for n in names)

    def attach_fields(self) -> None:
        """Open the postings of single fields, for questions with other weights."""
        lexicon, names = self.lexicon, self.field_names
        if lexicon.fields is None:
            lexicon.attach([self._field(n) for n in names], lexicon.analysis.built_weights)

    def _field(self, number: int) -> _core.Lexicon:
        name = f"rag.terms.{number}"
        field = _core.Lexicon(self.need(name), self.need(f"rag.postings.{number}"))
        if len(field) != self.rows:
            raise CorruptError(
                f"segment {self.number} has {self.rows} rows, field {number} {len(field)}",
                section=name,
            )
        return field

    def fields(self, at: int, size: int) -> Metadata:
        """Return a JSON object of the metadata stream."""
        return self.parsed(self.meta.read(at, size), at) if size else NO_METADATA

    def parsed(self, raw: bytes, at: int) -> Metadata:
        """Parse the JSON object of the bytes at an offset of the metadata stream."""
        try:
            fields = _json_of(raw.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            fields = None
        return self._checked(fields, raw, at)

    def parsed_all(self, places: Mapping[bytes, int]) -> list[Metadata]:
        """Return the objects of many texts with their offsets, parsed as one list in half the time.

        An unguessable number separates them, so that no text can pose as several.
        """
        mark = 1 << 60 | int.from_bytes(os.urandom(7))
        try:
            found: list[Any] = json.loads(
                (b"[" + (b",%d," % mark).join(places) + b"]").decode("utf-8", "surrogatepass")
            )
        except (ValueError, RecursionError):
            found = []
        if len(found) != 2 * len(places) - 1 or found[1::2] != [mark] * (len(places) - 1):
            return [self.parsed(raw, at) for raw, at in places.items()]
        return [
            self._checked(fields, raw, at)
            for fields, (raw, at) in zip(found[::2], places.items(), strict=True)
        ]

    def _checked(self, fields: object, raw: bytes, at: int) -> Metadata:
        # A level of JSON takes at least a byte, so short texts are not too deep.
        if not _are_fields(fields) or (len(raw) > config.DEPTH and config.is_too_deep(fields)):
            raise CorruptError(
                f"invalid metadata at {at} of segment {self.number}",
                section="rag.meta",
            )
        return fields

    def text(self, document: _core.DocumentRecord, start: int, size: int) -> str:
        """Return bytes [start, start + size) of a document's texts."""
        if start + size > document.blob_size:
            raise CorruptError(
                f"a text of document {document.id!r} is outside of it", section="rag.chunks"
            )
        raw = self.texts.read(document.blob_at + start, size)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise CorruptError(
                f"the text of document {document.id!r} is not UTF-8", section="rag.text"
            ) from None
