"""Documents, chunks and vectors that are being added to a file, kept until their order is known.

Rows of a segment are ordered by (document id, chunk index), and are added in any order. Texts, metadata
and vectors are therefore spooled: beyond 1 MiB each, to unnamed temporary files. Memory holds the ids, 29 bytes per document and 12 more with links, 36 bytes
per chunk, and 12 and 8 more for each indexed field of metadata. In a mixed file, a chunk without a vector
costs one more byte.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file.row_segment import RowSegment, StoredDocument
from ragfile.records import Chunk, Document
from ragfile.text import restored
from ragfile.types import SomeVectors, SparseWeights
from ragfile.write.link_sections import StagedLinks, carried, staged
from ragfile.write.metadata_fields import IndexedFields, check_fields, to_json, to_utf8
from ragfile.write.spool import Spool
from ragfile.write.staged_documents import StagedDocuments, Stretch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

# A place with this bit is an offset in the spool, else one in the document's text.
LOOSE = 1 << 63
NO_SPAN = 0xFFFFFFFF
# A stretch of the spool: its offset, and in the low bits its size.
OWN_BITS, FIELD_BITS = 24, 25
SPARSE = "sparse"  # the column of weights of terms, present if any chunk has some
AS_DOCUMENT, NO_TEXT = 0, (1 << 64) - 1  # a field: as in the document; none


def stretch(own: int) -> tuple[int, int]:
    """Return the offset and size of a chunk's own metadata."""
    return own >> OWN_BITS, own & (1 << OWN_BITS) - 1


def field_stretch(place: int) -> tuple[int, int] | None:
    """Return the offset and size of a field's text, or None without one."""
    return None if place == NO_TEXT else (place >> FIELD_BITS, place & (1 << FIELD_BITS) - 1)


def byte_offsets(text: str, raw: bytes, positions: Iterable[int]) -> dict[int, int]:
    """Return the UTF-8 offsets of code points, for positions in any order."""
    if len(raw) == len(text):
        return {p: p for p in positions}
    found: dict[int, int] = {}
    at, before = 0, 0
    for p in sorted(set(positions)):
        at += len(to_utf8(text[before:p]))
        found[p], before = at, p
    return found


def _checked_edits(document: Document) -> list[Any]:
    """Return the edits of a document; check that they and its body fit its text."""
    if document.edits:
        restored(document.text, document.edits)
    if not 0 <= document.body <= len(document.text):
        raise ValueError(
            f"the body of document {document.id!r} begins outside its text, at {document.body}"
        )
    return list(document.edits)


def _stored_fields(document: Document) -> dict[str, Any]:
    """Return the fields of a document in the metadata stream."""
    fields = {
        "source": document.source, "metadata": document.metadata, "tags": list(document.tags),
        "original": _checked_edits(document), "body": document.body,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value}


class Staging:
    """Documents, chunks and vectors in order of arrival."""

    dim: Any  # Any: an int, None only until the first vectors

    def __init__(
        self, folder: str, dim: int | None = None,
        dtype: type[np.float16] | type[np.float32] = np.float32, fields: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.folder, self.dim, self.dtype = folder, dim, np.dtype(dtype)
        self.texts, self.vectors = Spool(folder), Spool(folder)
        self.documents = StagedDocuments(len(fields))
        self._document, self._index = array("I"), array("I")
        self._place, self._json = array("Q"), array("Q")
        self._size, self._char_start, self._char_size = array("I"), array("I"), array("I")
        self._indexed = IndexedFields(fields)
        self._fields = [array("Q") for _ in fields]
        self._last = [(b"", NO_TEXT) for _ in fields]  # the newest text of each field
        self.brought: dict[str, StagedLinks] = {}  # links that a build brings, by document
        self.vector_rows = 0
        self.is_dim_free: Callable[[], bool] = lambda: False  # whether no vector fixes dim
        self.unsaid = 0  # chunks without a vector that were not added with None
        self._bare = bytearray()  # 1 for a chunk without a vector, up to the last such chunk
        self._sparse = array("Q")  # stretches of weights, up to the last chunk that has any

    def __len__(self) -> int:
        return len(self._index)

    def add_document(self, document: Document, has_text: bool = True) -> bytes:
        """Add a document without its chunks, and return its UTF-8 for add_chunks()."""
        check_fields(document.metadata, document.tags, whose := f"document {document.id!r}")
        if document.id in self.documents:
            raise ValueError(f"document {document.id!r} was added before")
        number, raw = self.documents.number(document.id), to_utf8(document.text)
        if len(raw) >= NO_SPAN:
            raise ValueError(f"{whose} has {len(raw)} bytes of text; the limit is 4 GiB")
        self.documents.put(number, self._stretch(raw), len(document.text), has_text, False)
        self.say_tags(number, document.tags)
        json = self._stretch(to_json(_stored_fields(document), whose))
        self._put_metadata(number, json, self._indexed.of(document.metadata))
        self._put_links(number, staged(document, self.brought.pop(document.id, None)))
        if document.raw:
            self.documents.put_original(number, self._stretch(document.raw))
        return raw

    def _put_links(self, number: int, links: StagedLinks) -> None:
        if raw := links.packed():
            self.documents.put_links(number, self._stretch(raw))

    def say_tags(self, number: int, tags: Iterable[str]) -> None:
        """Set the tags of a document, which its chunks inherit."""
        if found := tuple(tags):
            self.documents.tags[number] = found

    def _put_metadata(self, number: int, json: Stretch, texts: dict[int, bytes]) -> None:
        fields = {field: self._stretch(text) for field, text in texts.items()}
        self.documents.put_metadata(number, json, fields)

    def _stretch(self, raw: bytes) -> Stretch:
        return self.texts.append(raw), len(raw)

    def add_chunks(self, chunks: Sequence[Chunk], text: str = "", raw: bytes = b"") -> None:
        """Add chunks: spans of the given text, or loose ones without a start."""
        spans = [c for c in chunks if text and c.start >= 0]
        at = byte_offsets(text, raw, [p for c in spans for p in (c.start, c.end)])
        for c in chunks:
            if not isinstance(c.content, str):
                what = f"must be a str, not {type(c.content).__name__}"
                raise TypeError(f"content of chunk {c.chunk_index} of {c.doc_id!r} {what}")
            if text and c.start >= 0:
                if text[c.start : c.end] != c.content:
                    place = f"text[{c.start}:{c.end}]"
                    raise ValueError(f"chunk {c.chunk_index} of {c.doc_id!r} is not {place}")
                self._add(c, at[c.start], at[c.end] - at[c.start])
            else:
                self._add_loose(c)

    def _add_loose(self, chunk: Chunk) -> None:
        data = to_utf8(chunk.content)
        if len(data) >= NO_SPAN:
            what = f"chunk {chunk.chunk_index} of {chunk.doc_id!r}"
            raise ValueError(f"{what} is over the limit of 4 GiB")
        self._add(chunk, LOOSE | self.texts.append(data), len(data))

    def _add(self, chunk: Chunk, place: int, size: int) -> None:
        number = self.documents.number(chunk.doc_id)
        whose = f"chunk {chunk.chunk_index} of {chunk.doc_id!r}"
        if not 0 <= chunk.chunk_index < NO_SPAN:
            what = f"chunk index {chunk.chunk_index} of {chunk.doc_id!r}"
            raise ValueError(f"{what} is not in 0 … 2**32 - 2")
        check_fields(chunk.metadata, chunk.tags, whose)
        raw = self._own_json(chunk, self.documents.tags.get(number, ()), whose)
        start = chunk.start if chunk.start >= 0 else NO_SPAN
        self._append(number, chunk.chunk_index, place, size, start, len(chunk.content), raw)
        self._append_fields(self._indexed.of(chunk.metadata))
        if chunk.sparse:
            self._put_sparse(_sparse_packed(chunk.sparse, whose))

    def _put_sparse(self, packed: bytes) -> None:
        """Set the weights of terms of the newest chunk."""
        if packed:
            self._sparse.frombytes(bytes(8 * (len(self) - len(self._sparse))))
            self._sparse[-1] = self.texts.append(packed) << OWN_BITS | len(packed)

    def _own_json(self, chunk: Chunk, shared_tags: tuple[str, ...], whose: str) -> bytes:
        """Return the JSON of a chunk's fields that differ from its document's."""
        own: dict[str, Any] = {"metadata": chunk.metadata} if chunk.metadata else {}
        if tuple(chunk.tags) != shared_tags:
            own["tags"] = list(chunk.tags)
        raw = to_json(own, whose)
        if len(raw) >> OWN_BITS:
            size = f"{len(raw)} bytes as JSON"
            raise ValueError(f"metadata of {whose} is over the limit of 16 MiB: {size}")
        return raw

    def _append(
        self, document: int, index: int, place: int, size: int, char_start: int,
        char_size: int, own: bytes,
    ) -> None:  # fmt: skip
        self._document.append(document)
        self._index.append(index)
        self._place.append(place)
        self._size.append(size)
        self._char_start.append(char_start)
        self._char_size.append(char_size)
        self._json.append(self.texts.append(own) << OWN_BITS | len(own) if own else 0)

    def _append_fields(self, texts: dict[int, bytes]) -> None:
        """Append the fields of the newest chunk; texts equal to its predecessor's are shared."""
        for field, column in enumerate(self._fields):
            text = texts.get(field)
            if text is not None and text != self._last[field][0]:
                place = self.texts.append(text) << FIELD_BITS | len(text) if text else NO_TEXT
                self._last[field] = text, place
            column.append(AS_DOCUMENT if text is None else self._last[field][1])

    def carry(self, old: StoredDocument) -> int:
        """Copy a document of an open file byte for byte, and return its number."""
        record, segment = old.record, old.segment
        if not record.id or record.id in self.documents:
            what = f"document {record.id!r} is in the file twice, or has no id"
            raise CorruptError(what, section="rag.ids")
        number = self.documents.number(record.id, is_carried=True)
        text = self._stretch(segment.texts.read(record.blob_at, record.text_size))
        self.documents.put(number, text, record.text_chars, record.has_text, True)
        raw = segment.meta.read(record.meta_at, record.meta_size)
        self._put_metadata(number, self._stretch(raw), self._indexed.of_json(raw))
        if segment.has("graph") or segment.has("hypergraph"):
            self._put_links(number, carried(old))
        if original := segment.original(old.number):
            self.documents.put_original(number, self._stretch(original))
        weights = segment.sparse_rows if segment.has("rag.sparse") else None
        for row in record.rows:
            self._carry_chunk(number, segment, segment.records.chunk(row), record)
            if weights is not None:
                self._put_sparse(weights.packed(row))
        return number

    def _carry_chunk(
        self, number: int, segment: RowSegment, chunk: _core.ChunkRecord,
        record: _core.DocumentRecord,
    ) -> None:  # fmt: skip
        place, own = chunk.start, b""
        if chunk.start + chunk.size > record.text_size:
            data = segment.texts.read(record.blob_at + chunk.start, chunk.size)
            place = LOOSE | self.texts.append(data)
        if chunk.meta_size:
            own = segment.meta.read(chunk.meta_at, chunk.meta_size)
        start = NO_SPAN if chunk.char_start is None else chunk.char_start
        self._append(number, chunk.index, place, chunk.size, start, chunk.char_size, own)
        self._append_fields(self._indexed.of_json(own))

    def carry_vectors(self, rows: np.ndarray | None, bare: np.ndarray) -> None:
        """Add the stored vectors of the chunks carried last; bare marks those without one."""
        self._note_bare(bare)
        if not bare.all():
            self.carry_all_vectors(rows if rows is None or not bare.any() else rows[~bare])

    def carry_all_vectors(self, rows: np.ndarray | None) -> None:
        """Add the stored vectors of the chunks carried last, all of which have one."""
        if rows is not None:
            self.dim = rows.shape[1]
            self._append_rows(np.ascontiguousarray(rows, dtype=self.dtype))

    def add_vectors(self, vectors: SomeVectors | None, count: int) -> None:
        """Add vectors for the chunks added last; None in a list marks a chunk without one."""
        if isinstance(vectors, list | tuple) and any(vector is None for vector in vectors):
            if len(vectors) != count:
                raise ValueError(f"{count} chunks need {count} vectors or None, not {len(vectors)}")
            self._note_bare(np.array([vector is None for vector in vectors]))
            vectors = [vector for vector in vectors if vector is not None]
            count = len(vectors)
        if count or not isinstance(vectors, list | tuple):
            self._add_vectors(vectors, count)

    def add_no_vectors(self, count: int) -> None:
        """Note that the chunks added last have no vector, for lack of an embedder."""
        self.unsaid += count

    def _note_bare(self, flags: np.ndarray) -> None:
        """Note which of the chunks added last have no vector."""
        if flags.any():
            self._bare.extend(bytes(len(self) - len(flags) - len(self._bare)))
            self._bare.extend(flags.astype(np.uint8).tobytes())

    def _add_vectors(self, vectors: SomeVectors | None, count: int) -> None:
        given = cast("ArrayLike", vectors)
        if np.iscomplexobj(given):
            raise ValueError("vectors must be real numbers, not complex ones")
        rows = np.ascontiguousarray(given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != count:
            shape = f"not an array of shape {np.shape(given)}"
            raise ValueError(f"{count} chunks need {count} vectors, {shape}")
        if self.dim is None or (not self.vector_rows and self.is_dim_free()):
            self.dim = rows.shape[1]
        if rows.shape[1] != self.dim:
            what = f"vectors of dimension {rows.shape[1]}"
            raise ValueError(f"{what} do not fit a file of dimension {self.dim}")
        stored = rows.astype(self.dtype)
        bad = np.flatnonzero(~np.isfinite(stored).all(axis=1))
        if len(bad):
            what = f"vector {self.vector_rows + int(bad[0])}"
            raise ValueError(f"{what} has a component that is not finite as {self.dtype}")
        self._append_rows(stored)

    def _append_rows(self, rows: np.ndarray) -> None:
        self.vectors.append(rows.data.cast("B") if rows.size else b"")
        self.vector_rows += len(rows)

    @property
    def has_bare_rows(self) -> bool:
        """Whether chunks without a vector are among others that have one."""
        return bool(self._bare) and self.vector_rows > 0

    def bare_mask(self) -> np.ndarray:
        """Return for each chunk in order of arrival whether it has no vector."""
        mask = np.zeros(len(self), bool)
        mask[: len(self._bare)] = np.frombuffer(self._bare, np.uint8)
        return mask

    def matrix(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors, and the index of each chunk's vector in a given order.

        If some chunks have no vector, the last vector is NaN and stands for theirs.
        """
        if not self.has_bare_rows:
            return self.vectors.matrix(self.dtype, self.dim), order
        bare = self.bare_mask()
        self.vectors.append(np.full(self.dim, np.nan, self.dtype).tobytes())
        places = np.where(bare, self.vector_rows, np.cumsum(~bare) - 1)
        return self.vectors.matrix(self.dtype, self.dim), places[order]

    def ordered(self) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """Return document numbers by id, columns in row order, and the arrival number of each row.

        Columns are sorted in place, so nothing can be added afterwards.
        """
        by_id = self.documents.order()
        rank = np.empty(len(by_id), np.uint32)
        rank[by_id] = np.arange(len(by_id), dtype=np.uint32)
        columns = self._columns()
        if len(self):
            columns["document"][:] = rank[columns["document"]]
        if _is_rising(columns["document"], columns["index"]):
            return by_id, columns, np.arange(len(self))
        order = np.lexsort((columns["index"], columns["document"]))
        for column in columns.values():
            column[:] = column[order]
        if not _is_rising(columns["document"], columns["index"]):
            self._refuse_doubles(by_id, columns)
        return by_id, columns, order

    def _refuse_doubles(self, by_id: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        documents, indexes = columns["document"], columns["index"]
        same = (documents[1:] == documents[:-1]) & (indexes[1:] == indexes[:-1])
        row = int(np.flatnonzero(same)[0])
        doc_id = self.documents.ids.id(int(by_id[documents[row]]))
        raise ValueError(f"chunk {indexes[row]} of {doc_id!r} was added twice")

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {
            "document": self._document, "index": self._index, "place": self._place,
            "size": self._size, "char_start": self._char_start, "char_size": self._char_size,
            "json": self._json,
        }  # fmt: skip
        columns |= {f"field {i}": column for i, column in enumerate(self._fields)}
        if self._sparse:
            self._sparse.frombytes(bytes(8 * (len(self) - len(self._sparse))))
            columns[SPARSE] = self._sparse
        return {name: np.asarray(column) for name, column in columns.items()}

    def close(self) -> None:
        """Delete the temporary files."""
        self.texts.close()
        self.vectors.close()


def _sparse_packed(weights: SparseWeights, whose: str) -> bytes:
    """Return the weights of a chunk as the core takes them."""
    try:
        packed: bytes = _core.sparse_packed(weights)
    except (TypeError, ValueError) as error:
        raise type(error)(f"sparse weights of {whose}: {error}") from None
    if len(packed) >> OWN_BITS:
        raise ValueError(f"sparse weights of {whose} are over the limit of 16 MiB")
    return packed


def _is_rising(documents: np.ndarray, indexes: np.ndarray) -> bool:
    """Return whether rows are in strict order of (document, index)."""
    later, same = documents[1:] > documents[:-1], documents[1:] == documents[:-1]
    return bool((later | same & (indexes[1:] > indexes[:-1])).all())
