"""Export the live chunks of a file as columns, for Arrow, DuckDB, pandas and JSON lines.

    row          int64: the number of the row       tags         list of texts
    node_id      document#index                     metadata_    JSON: the document's, then the chunk's
    doc_id       the document                                    own, and "tags"; see ground/tagged_metadata.py
    chunk_index  int64: its number there            metadata.…   the value at each path, with its type
    text         the chunk                          embedding    float32[dim], where the file has vectors;
    source       the document's                                  null for a chunk without one
    sparse       JSON: weights of terms, where chunks bring any

Rows come in the order of the file, batch by batch, so that no export needs more memory than a batch.
Only requested columns are read: a stream of `row` alone reads nothing.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.file import remote_prefetch, typed_columns
from ragfile.ground.extras import optional
from ragfile.ground.json_values import is_object
from ragfile.ground.tagged_metadata import with_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Sized

    from numpy.typing import ArrayLike, DTypeLike

    from ragfile.file.row_segment import RowSegment
    from ragfile.file.stored_rows import StoredRows
    from ragfile.records import Hit
    from ragfile.types import Float32s, Int64s, Metadata

    # (length, buffers, children), nested, as `_core.arrow_stream` takes them.
    ArrowArray = tuple[int, list[bytes | None], list[Any]]

BATCH = 4096
BATCH_BYTES = 64 << 20  # of text, about
PLAIN = ("row", "node_id", "doc_id", "chunk_index", "text", "source", "tags", "metadata_")
FORMATS = {"bool": b"b", "int": b"l", "float": b"g", "str": b"u", "json": b"u", "list": b"+l"}


def records(archive: StoredRows, vectors: bool = True) -> Iterator[dict[str, Any]]:
    """Yield a dict for each live chunk, ready for JSON."""
    vectors = vectors and archive.has_vectors
    for row in archive.live_rows().tolist():
        hit = archive.hit(row)
        record: dict[str, Any] = {
            "node_id": hit.id, "uuid": hit.uuid, "doc_id": hit.doc_id, "chunk_index": hit.chunk_index, "text": hit.text, "source": hit.source,
            "start": hit.start, "end": hit.end, "tags": list(hit.tags), "metadata": hit.metadata,
        }  # fmt: skip
        segment, local = archive.place(row)
        if weights := segment.sparse_of(local):
            record["sparse"] = weights
        if vectors:
            vector = hit.vector
            record["embedding"] = None if vector is None else vector.astype(np.float32).tolist()
        yield record


def metadata_of(hit: Hit) -> str:
    """Return the metadata of a hit, with its tags, as one line of JSON."""
    return json.dumps(with_tags(hit.metadata, hit.tags), ensure_ascii=False)


class Field(NamedTuple):
    """A column: its name, its Arrow field, and a function that makes the array of some rows."""

    name: str
    arrow: tuple[Any, ...]
    array: Callable[[Rows], ArrowArray]


class SegmentRows(NamedTuple):
    """Rows of one segment, by their numbers there."""

    segment: RowSegment
    number: int
    rows: Int64s


class Rows:
    """Some rows of a file, with their hits once they are read."""

    def __init__(self, archive: StoredRows, rows: Int64s) -> None:
        self.archive, self.rows = archive, rows
        self._hits: list[Hit] | None = None

    @property
    def hits(self) -> list[Hit]:
        """Return the rows as hits, which read their fields on first use."""
        if self._hits is None:
            remote_prefetch.passages(self.archive.segments, self.rows)
            passages = self.archive.passages()
            self._hits = passages.hits(self.rows, np.zeros(len(self.rows)), "score", {})
        return self._hits

    def places(self) -> Iterator[SegmentRows]:
        """Yield the rows segment by segment."""
        segments = self.archive.segments
        for number, segment in enumerate(segments):
            low, high = np.searchsorted(self.rows, [segment.base, segment.base + segment.rows])
            if low < high:
                yield SegmentRows(segment, number, self.rows[low:high] - segment.base)


class ArrowFields:
    """The columns of a file, by name."""

    def __init__(self, archive: StoredRows, vectors: bool = True) -> None:
        self.archive = archive
        self._typed = typed_columns.paths(archive.segment_columns)
        self.by_name = {field.name: field for field in self._made(vectors)}

    def _made(self, vectors: bool) -> Iterator[Field]:
        makers = {
            "row": _row, "node_id": _text_of("id"), "doc_id": _text_of("doc_id"), "chunk_index": _index,
            "text": _text_of("text"), "source": _text_of("source"), "tags": _tags, "metadata_": _metadata,
        }  # fmt: skip
        for name in PLAIN:
            yield Field(name, _ARROW.get(name, (b"u", name.encode(), [])), makers[name])
        if any(segment.has("rag.sparse") for segment in self.archive.segments):
            yield Field("sparse", (b"u", b"sparse", []), _sparse)
        for path in self._typed:
            if (kind := typed_columns.type_at(self.archive.segment_columns, path)) is not None:
                yield _typed_field(f"metadata.{path}", kind, path)
        if vectors and self.archive.has_vectors:
            if not self.archive.dim:
                what = "there are vectors, and rag.config has no dimension"
                raise CorruptError(what, section="rag.config")
            items: list[tuple[Any, ...]] = [(b"f", b"item", [])]
            dim = b"+w:%d" % (self.archive.dim or 0)
            arrow = (dim, b"embedding", items, self.archive.has_bare_rows)
            yield Field("embedding", arrow, _embedding)

    def stream(self, names: Sequence[str] | None = None, rows: Int64s | None = None) -> object:
        """Return a PyCapsule of an Arrow stream over rows, by default all live ones."""
        fields = [self.by_name[name] for name in (self.by_name if names is None else names)]
        rows = self.archive.live_rows() if rows is None else rows
        schema = (b"+s", b"", [field.arrow for field in fields])
        return _core.arrow_stream(schema, self._batches(fields, rows))

    def _batches(self, fields: Sequence[Field], rows: Int64s) -> Iterator[ArrowArray]:
        step = (
            BATCH if {"text", "embedding", "metadata_"} & {f.name for f in fields} else 16 * BATCH
        )
        at = 0
        while at < len(rows):
            part = Rows(self.archive, rows[at : at + self._fitting(fields, rows, at, step)])
            arrays = [field.array(part) for field in fields]
            if self.archive.is_sealed:
                self.archive.check_unchanged()
            yield len(part.rows), [None], arrays
            at += len(part.rows)

    def _fitting(self, fields: Sequence[Field], rows: Int64s, at: int, step: int) -> int:
        """Return the number of rows in the next batch: fewer where their texts are long."""
        if "text" not in {field.name for field in fields}:
            return step
        size = count = 0
        for row in rows[at : at + step].tolist():
            segment, local = self.archive.place(row)
            size += segment.records.chunk(local).size
            count += 1
            if size >= BATCH_BYTES:
                break
        return max(count, 1)


_ARROW: dict[str, tuple[Any, ...]] = {
    "row": (b"l", b"row", []),
    "chunk_index": (b"l", b"chunk_index", []),
    "tags": (b"+l", b"tags", [(b"u", b"item", [])]),
}


def _row(rows: Rows) -> ArrowArray:
    return _numbers(rows.rows.astype(np.int64))


def _index(rows: Rows) -> ArrowArray:
    return _numbers(np.array([hit.chunk_index for hit in rows.hits], np.int64))


def _text_of(name: str) -> Callable[[Rows], ArrowArray]:
    return lambda rows: _texts([getattr(hit, name) for hit in rows.hits])


def _tags(rows: Rows) -> ArrowArray:
    return _lists([list(hit.tags) for hit in rows.hits])


def _sparse(rows: Rows) -> ArrowArray:
    return _texts(
        json.dumps(segment.sparse_of(row) or {}, ensure_ascii=False)
        for segment, _, local in rows.places()
        for row in local.tolist()
    )


def _metadata(rows: Rows) -> ArrowArray:
    return _texts(map(metadata_of, rows.hits))


def _embedding(rows: Rows) -> ArrowArray:
    return _vectors(rows.archive.vectors_of(rows.rows.tolist()))


def _typed_field(name: str, kind: str, path: str) -> Field:
    children: list[tuple[Any, ...]] = [(b"u", b"item", [])] if kind == "list" else []
    return Field(name, (FORMATS[kind], name.encode(), children, True), _typed(kind, path))


def _typed(kind: str, path: str) -> Callable[[Rows], ArrowArray]:
    """Return a function that makes an array of a path's values and reads each segment once."""
    known: dict[int, typed_columns.TypedColumn] = {}

    def column_of(archive: StoredRows, number: int) -> typed_columns.TypedColumn:
        if number not in known:
            found = typed_columns.column_at(archive.segment_columns[number], path)
            known[number] = found._replace(values=typed_columns.cast(found.values, kind))
        return known[number]

    def array(rows: Rows) -> ArrowArray:
        values: list[Any] = []  # JSON
        for _, number, local in rows.places():
            codes, cast = column_of(rows.archive, number)
            values += [None if code < 0 else cast[code] for code in codes[local].tolist()]
        return _ARRAYS[kind](values)

    return array


def _bits(flags: ArrayLike) -> bytes:
    return np.packbits(np.asarray(flags, bool), bitorder="little").tobytes()


def _validity(values: Sequence[object]) -> bytes | None:
    flags = [value is not None for value in values]
    return None if all(flags) else _bits(flags)


def _numbers(values: Int64s) -> ArrowArray:
    return len(values), [None, values.tobytes()], []


def _plain(values: Sequence[float | None], dtype: DTypeLike) -> ArrowArray:
    filled = np.array([0 if value is None else value for value in values], dtype)
    return len(values), [_validity(values), filled.tobytes()], []


def _bools(values: Sequence[bool | None]) -> ArrowArray:
    return len(values), [_validity(values), _bits([bool(value) for value in values])], []


def _texts(texts: Iterable[str | None]) -> ArrowArray:
    """Return a column of strings. Lone surrogates become question marks: no other store takes them."""
    texts = list(texts)
    raw = [b"" if text is None else text.encode("utf-8", "replace") for text in texts]
    return len(raw), [_validity(texts), _offsets(raw), b"".join(raw)], []


def _lists(values: Sequence[Sequence[str] | None]) -> ArrowArray:
    items = list(chain.from_iterable(value or () for value in values))
    offsets = _offsets([value or () for value in values])
    return len(values), [_validity(values), offsets], [_texts(items)]


def _offsets(parts: Sequence[Sized]) -> bytes:
    offsets = np.zeros(len(parts) + 1, np.int32)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return offsets.tobytes()


def _vectors(flat: Float32s) -> ArrowArray:
    """Return a column of lists of one length; a row of NaN is null."""
    is_present = ~np.isnan(flat[:, 0])
    if is_present.all():
        return len(flat), [None], [(flat.size, [None, flat.tobytes()], [])]
    flat[~is_present] = 0
    return len(flat), [_bits(is_present)], [(flat.size, [None, flat.tobytes()], [])]


_ARRAYS: dict[str, Callable[[Sequence[Any]], ArrowArray]] = {
    "bool": _bools, "int": lambda values: _plain(values, np.int64),
    "float": lambda values: _plain(values, np.float64), "str": _texts, "json": _texts, "list": _lists,
}  # fmt: skip


class WithoutVectors:
    """The texts and metadata of a file as an Arrow stream."""

    def __init__(self, archive: StoredRows) -> None:
        self._archive = archive

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow_stream(self._archive, vectors=False)


def arrow_stream(archive: StoredRows, vectors: bool = True) -> object:
    """Return a PyCapsule of an Arrow stream over the live chunks; needs no Arrow library."""
    return ArrowFields(archive, vectors).stream()


MODEL = b"ragfile.model"  # the key of the schema's metadata
MODEL_KEYS = ("model", "fusion", "context")  # of a file's configuration


def model_note(archive: StoredRows) -> dict[bytes, str]:
    """Return the metadata of a schema that names the model of the vectors."""
    return {MODEL: json.dumps(model_entries(archive.config))}


def noted_model(holder: object) -> Metadata | None:
    """Return the entries of a configuration that an Arrow schema notes in its metadata, or a pandas frame in
    its `attrs`; None without a note.
    """
    for name, key in (("metadata", MODEL), ("attrs", MODEL.decode())):
        notes: object = getattr(holder, name, None)
        noted = cast("dict[object, object]", notes).get(key) if isinstance(notes, dict) else None
        if isinstance(noted, str | bytes):
            found: object = json.loads(noted)
            return model_entries(found) if is_object(found) else {}
    return None


def model_entries(config: Metadata) -> Metadata:
    """Return the entries of a configuration that are about its model."""
    return {name: config[name] for name in MODEL_KEYS if name in config}


def arrow_reader(archive: StoredRows, vectors: bool = True) -> Any:  # Any: pyarrow has no types
    """Return the stream as a pyarrow.RecordBatchReader."""
    stream = archive if vectors else WithoutVectors(archive)
    return optional("pyarrow", "an Arrow table").RecordBatchReader.from_stream(stream)
