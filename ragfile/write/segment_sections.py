"""Write the sections of one segment from the staged documents."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file import sample_rows, stored_columns
from ragfile.file.pairs_writer import aligned
from ragfile.ingest.analysis import Analysis
from ragfile.write import vector_clusters
from ragfile.write.link_sections import LinkSections
from ragfile.write.spool import Pile, Spool
from ragfile.write.staged_documents import StagedDocument, Stretch
from ragfile.write.staged_rows import (
    AS_DOCUMENT,
    LOOSE,
    NO_SPAN,
    SPARSE,
    Staging,
    field_stretch,
    stretch,
)

TEXT_BLOCK = (
    8 << 10
)  # a hit unpacks one block: half the time of 16 KiB blocks, for a tenth more text bytes
META_BLOCK = 16 << 10
ORIGINAL_BLOCK = 1 << 20  # files are read whole
WEB_META_BLOCK = 4 << 10  # a hit reads a few hundred bytes of one or two
GRAINS = (1 << 10, 2 << 10, 4 << 10)  # bytes per checksum in web files: the first that fits
SUMS_MOST = 160 << 10  # limit on the checksums' bytes, calculated for uncompressed texts
GATHER_ROWS = 8192
LEAN_ROWS = 256  # below, comparing all vectors takes a few microseconds more than their shadow does
SPARSE_MEMORY = 128 << 20  # lists of weights are made in parts of this size
LEXICAL_MEMORY = 128 << 20  # postings beyond it are sorted on disk


class PositionsPile(NamedTuple):
    """The section rag.positions, which is made while rag.postings is written."""

    front: bytearray
    lists: Pile


class SegmentSections:
    """Vectors, texts, records and terms of the staged documents, in order of their ids."""

    lexicon: _core.LexicalBuilder | None  # None without BM25
    columns: _core.ColumnsBuilder | None  # None with too few rows
    titles: _core.TitleList | None  # None if the file does not record that names count
    own_fields: list[tuple[int, _core.LexicalBuilder]]  # by number: fields with their own postings
    keywords: Keywords | None  # None unless the file is portable

    def __init__(
        self, file: _core.FileWriter, staging: Staging, record: dict[str, Any],
        analysis: Analysis | None, others_have_vectors: bool = False, is_lean: bool = False,
        is_listed: bool = False,
    ) -> None:  # fmt: skip
        self.is_lean = is_lean  # no shadow for few rows
        self.is_listed = is_listed  # the table has one entry for the segment
        self.file, self.staging, self.record, self.analysis = file, staging, record, analysis
        self.others_have_vectors = others_have_vectors

    def write(self) -> None:
        """Write the segment, or nothing if nothing was staged."""
        by_id, columns, order = self.staging.ordered()
        weights = columns.pop(SPARSE, None)
        if not len(by_id):
            return
        self.segment = self.file.segment()
        self.file.rows(self.segment, len(order))
        if self.staging.vector_rows:
            self._write_vectors(*self.staging.matrix(order))
        self._write_bare(order)
        self._grain()
        self._write_texts(by_id, columns)
        if weights is not None:
            self._write_sparse(weights)
        if self.is_for_web:
            self.file.fine(self.segment)
        elif self.is_listed:
            self.file.list_sections(self.segment)

    @property
    def is_for_web(self) -> bool:
        """Whether the file has the indexes that save remote readers requests."""
        return self.record.get("layout") == "web"

    def _grain(self, is_fine: bool = True) -> None:
        self.file.grain(self.grain_size if self.is_for_web and is_fine else 0)

    @cached_property
    def grain_size(self) -> int:
        """The bytes per checksum: the first question fetches all checksums of a small file."""
        texts = self.staging.documents.text_bytes()
        return next((size for size in GRAINS if 8 * texts <= SUMS_MOST * size), GRAINS[-1])

    def _section(self, name: str, items: int, blocks: Iterable[bytes | bytearray]) -> None:
        self.file.begin(name, self.segment)
        for block in blocks:
            self.file.write(block)
        self.file.end(items)

    def _write_bare(self, order: np.ndarray) -> None:
        """Write which rows have no vector, if some rows of the file have one."""
        if self.staging.has_bare_rows or (
            self.others_have_vectors and not self.staging.vector_rows
        ):
            add_bare(self.file, self.segment, self.staging.bare_mask()[order])

    def _write_vectors(self, staged: np.ndarray, order: np.ndarray) -> None:
        self.vectors = staged, order
        bits = self.record["precision"]
        at = self.file.begin("vector", self.segment)
        self.file.write(_core.vector_head(at, self.staging.dim, bits, len(order)))
        for first in range(0, len(order), GATHER_ROWS):
            rows = np.ascontiguousarray(staged[order[first : first + GATHER_ROWS]])
            self.file.write(_core.vector_rows(rows.view(np.uint8).reshape(len(rows), -1), first))
        self.file.end(len(order))
        is_small = self.is_lean and not self.is_for_web and len(order) < LEAN_ROWS
        if len(order) and not is_small:
            self._write_shadow(staged, order, bits)

    def _write_shadow(self, staged: np.ndarray, order: np.ndarray, bits: int) -> None:
        matrix = _core.Matrix(
            staged, len(order), self.staging.dim, dtype=f"f{bits}", metric=self.record["metric"],
            offsets=order.astype(np.uint64) * np.uint64(staged.strides[0]),
        )  # fmt: skip
        clusters = vector_clusters.wanted(self.record, len(order), self.staging.dim)
        placed = self._write_clusters(matrix, staged, order, clusters) if clusters else None
        shadow = _core.Shadow(matrix, placed=placed)
        self.file.begin(shadow.name, self.segment)
        shadow.write(self.file.write)
        self.file.end(len(order))

    def _write_clusters(
        self, matrix: _core.Matrix, staged: np.ndarray, order: np.ndarray, wanted: int
    ) -> _core.Matrix:
        """Write the clusters, and return the vectors in their order."""
        clusters = _core.Clustering(matrix, wanted, _core.cpu_count())
        rows = order[clusters.order]
        array, at = vector_clusters.placed(staged, rows, self.staging.folder)
        placed = _core.Matrix(
            array, len(order), self.staging.dim, dtype=f"f{self.record['precision']}",
            metric=self.record["metric"], offsets=at.astype(np.uint64) * np.uint64(array.strides[0]),
        )  # fmt: skip
        clusters.measure(placed)
        self.file.begin("rag.clusters", self.segment)
        clusters.write(self.file.write)
        self.file.end(len(order))
        return placed

    def _write_sparse(self, places: np.ndarray) -> None:
        """Write the weights of terms that chunks bring; each part of the lists reads all of them again."""
        builder = _core.SparseBuilder(SPARSE_MEMORY)
        for packed in self._packed(places):
            builder.count(packed)
        weights, parts = builder.plan()
        self.file.begin("rag.sparse", self.segment)
        for part in range(parts):
            builder.begin(part, self.file.write)
            for packed in self._packed(places):
                builder.put(packed)
            builder.end(self.file.write)
        self.file.end(weights)

    def _packed(self, places: np.ndarray) -> Iterator[bytes]:
        for first in range(0, len(places), GATHER_ROWS):
            for place in places[first : first + GATHER_ROWS].tolist():
                yield self.staging.texts.read(*stretch(place))

    def _write_sample(self, *tables: Pile) -> None:
        records = _core.Records(*(_core.Section.over(table.view()) for table in tables))
        staged, order = self.vectors
        has = order < self.staging.vector_rows
        entries = records.sample(sample_rows.KEPT, _core.row_set(has, len(has)))
        vectors = staged[order[[row for _, row in entries]]]
        self._section("rag.sample", len(entries), [_core.stored_sample(entries, vectors)])

    def _write_texts(self, by_id: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        folder, rows = self.staging.folder, len(columns["index"])
        self.lexicon = self.keywords = None
        self.own_fields = []
        if self.analysis is not None:
            self.lexicon = self._lexical_builder(self.analysis)
            self.own_fields = [
                (number, self._lexical_builder(self.analysis.of_field(number)))
                for number in self.analysis.own_fields
            ]
        if self.record.get("portable"):
            self.keywords = Keywords(folder)
        self.meta, self.chunks, self.shared = Spool(folder), Pile(folder), Pile(folder)
        self.records = _core.RecordsBuilder(self.chunks.append, self.shared.append)
        self.columns = _core.ColumnsBuilder() if rows >= stored_columns.WORTH else None
        self.titles = self._title_list()
        self._write_documents(by_id, columns)
        if not self.is_for_web:
            self._write_meta(len(by_id))
        self._write_tables(rows, by_id)
        self._grain()
        positions = self._positions_pile()
        terms = (
            None if self.lexicon is None
            else self._write_postings(self.lexicon, "", rows, positions)
        )  # fmt: skip
        if self.is_for_web:
            self._write_meta(len(by_id))
        if terms is not None:
            self._section("rag.terms", rows, [terms])
        self._grain(False)
        for number, lexicon in self.own_fields:
            terms = self._write_postings(lexicon, f".{number}", rows)
            self._section(f"rag.terms.{number}", rows, [terms])
        if positions is not None:
            self._section("rag.positions", rows, [positions.front, *positions.lists.blocks()])
            positions.lists.close()
        self._write_originals()
        for name, items, write in self.links.sections():
            self.file.begin(name, self.segment)
            write(self.file.write, len(by_id))
            self.file.end(items)
        if self.keywords is not None:
            at = self.file.begin("keyword", self.segment)
            self.keywords.write(at, self.file.write)
            self.file.end(rows)

    def _write_tables(self, rows: int, by_id: np.ndarray) -> None:
        """Write the records and the sections derived from them.

        In a web file, ids start where texts end, and terms where metadata end: every first question
        reads all four places, so two requests fetch them.
        """
        ids = Pile(self.staging.folder)
        self.staging.documents.ids.write(by_id, ids.append)
        tables = [
            ("rag.chunks", rows, self.chunks), ("rag.documents", len(by_id), self.shared),
            ("rag.ids", len(by_id), ids),
        ]  # fmt: skip
        for name, items, table in tables[-1:] + tables[:-1] if self.is_for_web else tables:
            self._section(name, items, table.blocks())
        self._grain(False)
        if self.columns is not None and not self.columns.is_spoilt:
            self.file.begin("rag.columns", self.segment)
            self.columns.finish(self.file.write)
            self.file.end(rows)
        if self.titles is not None and len(self.titles):
            self.file.begin("rag.titles", self.segment)
            self.titles.write(self.file.write)
            self.file.end(len(self.titles))
        if self.staging.vector_rows >= sample_rows.WORTH:
            self._write_sample(self.chunks, self.shared, ids)
        for _, _, table in tables:
            table.close()

    def _title_list(self) -> _core.TitleList | None:
        fusion: dict[str, Any] = self.record.get("fusion") or {}
        counts_names = fusion.get("named", 0)
        if self.analysis is None or not counts_names:
            return None
        return _core.TitleList(strip_accents=self.analysis.strip_accents)

    def _lexical_builder(self, analysis: Analysis) -> _core.LexicalBuilder:
        return _core.LexicalBuilder(analysis, memory=LEXICAL_MEMORY, directory=self.staging.folder)

    def _write_documents(self, by_id: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        self.file.begin("rag.text", self.segment)
        self.text = _core.StreamBuilder(self.file.write, TEXT_BLOCK)
        rows = _rows(columns)
        self.links = LinkSections(self.staging.dtype)
        self.originals: list[Stretch] = []
        for place, (number, count) in enumerate(_counted(by_id, columns["document"])):
            self._write_document(place, number, list(itertools.islice(rows, count)))
        self.text.finish()
        self.records.finish()
        self.file.end(len(by_id))

    def _write_document(self, place: int, number: int, rows: list[tuple[int, ...]]) -> None:
        entry, spool = self.staging.documents.read(number), self.staging.texts
        if entry.links[1]:
            self.links.add(place, spool.read(*entry.links))
        self.originals.append(entry.original)
        text = spool.read(entry.text_at, entry.text_size)
        at, size = self.text.write(text), len(text)
        placed: list[tuple[int, int, int, int | None, int, int, int]] = []
        contents: list[bytes] = []
        own_fields: list[bytes] = []
        for index, at_text, length, char_start, char_size, own, *_ in rows:
            start, content = self._span(text, size, at_text, length)
            if at_text & LOOSE and content:
                self.text.write(content)
                size += length
                if size >= NO_SPAN:
                    doc_id = self.staging.documents.ids.id(number)
                    raise ValueError(
                        f"document {doc_id!r} and its chunks are over the limit of 4 GiB"
                    )
            fields = spool.read(*stretch(own))
            char = None if char_start == NO_SPAN else char_start
            placed.append(
                (index, start, length, char, char_size, self.meta.append(fields), len(fields))
            )
            contents.append(content)
            own_fields.append(fields)
        shared = spool.read(*entry.json)
        meta_at = self.meta.append(shared)
        if self.columns is not None:
            self._add_to_columns(self.columns, shared, own_fields)
        if self.titles is not None and rows and (title := title_in(shared, own_fields[0])):
            self.titles.add(title, len(self.records))
        self.records.document(
            at, entry.text_size, size, entry.chars, entry.has_text, meta_at, entry.json[1],
            len(rows),
        )  # fmt: skip
        for chunk in placed:
            self.records.chunk(*chunk)
        if self.keywords is not None:
            self.keywords.add(contents)
        if self.lexicon is not None:
            self._index(self.lexicon, entry, rows, text, contents)

    @staticmethod
    def _add_to_columns(columns: _core.ColumnsBuilder, shared: bytes, own: list[bytes]) -> None:
        columns.document(shared)
        for fields, rows in itertools.groupby(own):
            columns.rows(fields, sum(1 for _ in rows))

    def _span(self, text: bytes, end: int, place: int, size: int) -> tuple[int, bytes]:
        """Return the start and content of a chunk in its document's stretch of rag.text.

        It is a span of the text, or is appended after it.
        """
        if not place & LOOSE:
            return place, text[place : place + size]
        if not size:
            return len(text), b""  # an empty chunk; this start is kept by carry()
        return end, self.staging.texts.read(place & ~LOOSE, size)

    def _index(
        self, lexicon: _core.LexicalBuilder, entry: StagedDocument, rows: list[tuple[int, ...]],
        text: bytes, contents: list[bytes],
    ) -> None:  # fmt: skip
        """Add the chunks of a document to BM25, as UTF-8 or as a tuple of their fields' UTF-8."""
        if entry.is_carried:
            _check_utf8(contents)
        language = self._language(text, contents)
        names = [] if self.analysis is None else [name for name, _ in self.analysis.fields]
        if names == ["text"] or not contents:
            lexicon.add(contents, language)
            return
        fields = self._fields(entry, [row[6:] for row in rows])
        others = iter(fields)
        by_name = [contents if name == "text" else next(others) for name in names]
        lexicon.add(list(zip(*by_name, strict=True)), language)
        for number, own in self.own_fields:
            own.add([each or b"" for each in by_name[number]], language)

    def _language(self, text: bytes, contents: list[bytes]) -> int:
        """Return the number of the language of a document, by its text, or else by its chunks."""
        if self.analysis is None or not self.analysis.languages:
            return 0
        return _core.language_of(text or b"\n".join(contents))

    def _fields(
        self, entry: StagedDocument, rows: list[tuple[int, ...]]
    ) -> list[list[bytes | None]]:  # fmt: skip
        """Return the indexed text of each row, for each field of metadata."""
        shared = [self._read(place) for place in entry.fields]
        found: list[list[bytes | None]] = []
        for field, places in enumerate(zip(*rows, strict=True)):
            if places.count(AS_DOCUMENT) == len(places):
                found.append([shared[field]] * len(places))
                continue
            texts = {
                place: self._read(field_stretch(place)) for place in set(places) - {AS_DOCUMENT}
            }
            found.append([shared[field] if p == AS_DOCUMENT else texts[p] for p in places])
        return found

    def _read(self, place: tuple[int, int] | None) -> bytes | None:
        return self.staging.texts.read(*place) if place else None

    def _write_originals(self) -> None:
        """Write the bytes of files, if any document has them."""
        sizes = np.array([size for _, size in self.originals], np.uint64)
        if not sizes.any():
            return
        self.file.begin("rag.original", self.segment)
        stream = _core.StreamBuilder(self.file.write, ORIGINAL_BLOCK)
        stream.write(_core.strings_head(sizes))
        for at, size in self.originals:
            for first in range(0, size, ORIGINAL_BLOCK):
                stream.write(self.staging.texts.read(at + first, min(ORIGINAL_BLOCK, size - first)))
        stream.finish()
        self.file.end(int(np.count_nonzero(sizes)))

    def _write_meta(self, documents: int) -> None:
        self.file.begin("rag.meta", self.segment)
        size = WEB_META_BLOCK if self.is_for_web else META_BLOCK
        stream = _core.StreamBuilder(self.file.write, size)
        for block in self.meta.blocks():
            stream.write(block)
        self.meta.close()
        stream.finish()
        self.file.end(documents)

    def _positions_pile(self) -> PositionsPile | None:
        """Return a place for the positions of words, if the file has them."""
        if self.lexicon is None or self.analysis is None or self.analysis.placed_field < 0:
            return None
        return PositionsPile(bytearray(), Pile(self.staging.folder))

    def _write_postings(
        self, lexicon: _core.LexicalBuilder, suffix: str, rows: int,
        positions: PositionsPile | None = None,
    ) -> bytearray:  # fmt: skip
        """Write postings, and return their terms."""
        terms = bytearray()
        self.file.begin(f"rag.postings{suffix}", self.segment)
        placed = None if positions is None else (positions.lists.append, positions.front.extend)
        lexicon.finish(self.file.write, terms.extend, placed)
        self.file.end(rows)
        return terms


def title_in(shared: bytes, own: bytes) -> str:
    """Return the title in the metadata of a document's first chunk, or ""."""
    for fields in (own, shared):
        if b'"title"' in fields:
            metadata = json.loads(fields.decode("utf-8", "surrogatepass")).get("metadata", {})
            if "title" in metadata:
                title = metadata["title"]
                return title if isinstance(title, str) else ""
    return ""


def add_bare(file: _core.FileWriter, segment: int, flags: np.ndarray) -> None:
    """Add rag.bare, the rows of a segment without a vector, as a section that readers must know."""
    if flags.any():
        file.add("rag.bare", _core.bitmap(flags, in_words=True), segment, 1, int(flags.sum()))


class Keywords:
    """The `keyword` section: the text of each row, for readers of format 0.1.0."""

    PADDING = 4

    def __init__(self, folder: str) -> None:
        self._spool = Spool(folder)
        self._pairs = _core.PairWriter(self._spool.append, padding=self.PADDING)

    def add(self, contents: list[bytes]) -> None:
        """Add the texts of some rows."""
        for content in contents:
            try:
                text = content.decode()
            except UnicodeDecodeError:
                raise ValueError(
                    "a portable file cannot hold a lone surrogate: pairs are UTF-8"
                ) from None
            self._pairs.add_keyword(f"c{self._pairs.count:010d}", text)

    def write(self, at: int, write: Callable[[bytes], object]) -> None:
        """Write the section at an offset of the file."""
        self._pairs.flush()
        start = aligned(at + _core.PREAMBLES["keyword"] + 1)
        head = self._pairs.preamble(start)
        write(head + bytes(start - at - len(head)))
        for block in self._spool.blocks():
            write(block)
        write(b"\0")  # readers with an exclusive end lose no character
        self._spool.close()


def _rows(columns: dict[str, np.ndarray]) -> Iterator[tuple[int, ...]]:
    """Yield tuples of plain numbers row by row, some thousand rows in memory at a time."""
    used = [column for name, column in columns.items() if name != "document"]
    for first in range(0, len(used[0]), GATHER_ROWS):
        yield from zip(*(each[first : first + GATHER_ROWS].tolist() for each in used), strict=True)


def _counted(by_id: np.ndarray, documents: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the number and row count of each document by id; `documents` has the position of each row's."""
    for first in range(0, len(by_id), GATHER_ROWS):
        numbers = by_id[first : first + GATHER_ROWS]
        places = np.arange(first, first + len(numbers) + 1)
        counts = np.diff(np.searchsorted(documents, places.astype(documents.dtype)))
        yield from zip(numbers.tolist(), counts.tolist(), strict=True)


def _check_utf8(contents: list[bytes]) -> None:
    """Raise CorruptError for invalid UTF-8, which a carried document may contain."""
    try:
        for content in contents:
            content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise CorruptError("the text of a chunk is not UTF-8", section="rag.text") from None
