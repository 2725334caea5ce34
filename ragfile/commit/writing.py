"""Making a file: what is added is staged, put in order, and written section by section under one commit."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING

import numpy as np
import zstandard

from ragfile import _core
from ragfile.commit.staging import LOOSE, NO_SPAN, Spool, Staging
from ragfile.embedding.context import NOTHING, Context
from ragfile.embedding.protocol import open_embedder
from ragfile.errors import CorruptError, ModelError
from ragfile.ground.urls import refuse_remote
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunking import Policy, split
from ragfile.records import Chunk, Document
from ragfile.store.config import METRICS, STATIC_WEIGHT, TRANSFORMER_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Any, Self

    from typing_extensions import Buffer

    from ragfile.embedding.protocol import Embedder
    from ragfile.types import Fields, Metadata, Metric, Precision, StrPath, Vectors

TEXT_BLOCK = 8 << 10  # a hit unpacks one: half the time of 16 KiB for a tenth more bytes of text
META_BLOCK = 16 << 10
GATHER_ROWS = 8192
LEXICAL_MEMORY = 128 << 20  # postings beyond it are sorted on disk
DEFAULT = Analysis()


def creation_time():
    """Nanoseconds since 1970 from SOURCE_DATE_EPOCH, or 0: a file does not record the clock unless it is told to."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return int(epoch) * 10**9 if epoch else 0


def model_record(embedder, spec):
    """What a file keeps of its model: enough to know another one, and to open the same again."""
    if embedder is None:
        return None
    return {
        "name": embedder.model.name,
        "dims": embedder.model.dims,
        "spec": spec and spec.partition("?")[0],
    }


def fusion_record(embedder):
    """How the legs are put together: the weight of vectors against words depends on the kind of model."""
    return {
        "method": "calibrated",
        "w": STATIC_WEIGHT if getattr(embedder, "is_static", False) else TRANSFORMER_WEIGHT,
    }


class Writer:
    """A file in the making: nothing is visible before it is whole, and nothing is left behind when it fails."""

    embedder: Embedder | None
    policy: Policy
    analysis: Analysis | None
    record: dict[str, Any]
    created: int
    is_over: bool

    def __init__(
        self, path: StrPath, *, dim: int | None = None, metric: Metric = "cosine", precision: Precision = 32,
        embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
        analysis: Analysis | None = DEFAULT, portable: bool = False, spec: str | None = None,
        created: int | None = None, config: Metadata | None = None,
    ) -> None:  # fmt: skip
        refuse_remote(path)
        if metric not in METRICS:
            raise ValueError(f"unknown metric {metric!r}: use one of {', '.join(METRICS)}")
        if precision not in (16, 32):
            raise ValueError(f"vectors are stored with 16 or 32 bits a component, not {precision}")
        spec = embedder if isinstance(embedder, str) else spec
        embedder, self.policy = open_embedder(embedder), Policy.of(chunking)
        record = {
            "metric": metric, "precision": precision, "chunking": self.policy.record(), "portable": portable, "bm25": analysis is not None,
            "model": model_record(embedder, spec), "fusion": fusion_record(embedder),
            **Context.for_embedder(embedder).record(), **(config or {}),
        }  # fmt: skip
        dim = embedder.model.dims if dim is None and embedder is not None else dim
        self._begin(_core.Writer.create(path), record, dim, embedder, analysis, created)

    def _begin(self, file, record, dim, embedder, analysis, created):
        self._file, self.record, self.embedder, self.analysis, self._extra = (
            file,
            record,
            embedder,
            analysis,
            [],
        )
        self.context = Context.recorded(record)
        self.created, self.is_over = creation_time() if created is None else created, False
        try:
            dtype = np.float16 if record["precision"] == 16 else np.float32
            self._staging = Staging(os.path.dirname(os.path.abspath(file.path)), dim, dtype)
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __len__(self) -> int:
        """Chunks added so far."""
        return len(self._staging)

    def add(self, chunks: Iterable[Chunk | Fields], vectors: Vectors | None = None) -> None:
        """Chunk objects, or mappings with their fields, of any documents; with a vector each, or an embedder, or neither."""
        chunks = [Chunk.of(chunk) for chunk in chunks]
        self._staging.add_chunks(chunks)
        self._add_vectors(chunks, vectors)

    def add_documents(
        self, documents: Iterable[Document | Fields], vectors: Vectors | None = None
    ) -> None:
        """Document objects, or mappings with their fields: cut into chunks and, with an embedder, embedded here."""
        for document in documents:
            document = Document.of(document)
            raw = self._staging.add_document(document)
            chunks = split(document, self.policy)
            self._staging.add_chunks(chunks, document.text, raw)
            self._add_vectors(chunks, vectors, document.metadata)

    def add_document(
        self, document: Document | Fields, chunks: Sequence[Chunk], vectors: Vectors | None = None, *,
        has_text: bool = True,
    ) -> None:  # fmt: skip
        """A document with chunks that were cut elsewhere: those with a start are spans of its text, others are loose.

        has_text=False says that its text is not known, rather than empty.
        """
        document = Document.of(document)
        raw = self._staging.add_document(document, has_text)
        self._staging.add_chunks(chunks, document.text, raw)
        self._add_vectors(chunks, vectors, document.metadata)

    def add_section(
        self,
        name: str,
        data: Buffer,
        *,
        items: int = 0,
        must_read: bool = False,
        must_write: bool = False,
    ) -> None:
        """A section of your own, found again with rf.section(name)."""
        self._extra.append((name, bytes(data), items, must_read | must_write << 1))

    def _add_vectors(self, chunks, vectors, shared=NOTHING):
        if not chunks:
            return
        if vectors is None and self.embedder is not None:
            keys = [self.context.key(chunk, shared) for chunk in chunks]
            vectors = self.context.embed(self.embedder, keys)
        if vectors is not None:
            self._staging.add_vectors(vectors, len(chunks))
        if self._staging.vector_rows not in (0, len(self._staging)):
            raise ModelError("either every chunk has a vector or none has")

    def close(self) -> None:
        """Writes the file and makes it durable under its name; after discard, does nothing."""
        if self.is_over:
            return
        try:
            self._write_segment()
            self._write_rest()
            self._file.commit(self.created)
        finally:
            self.discard()

    def _write_segment(self):
        SegmentWriter(self._file, self._staging, self.record, self.analysis).write()

    def _write_rest(self):
        """What belongs to the whole file."""
        record = {**self.record, "dim": self._staging.dim}
        if (
            (model := record.get("model"))
            and model.get("dims") is None
            and self._staging.vector_rows
        ):
            record["model"] = {
                **model,
                "dims": self._staging.dim,
            }  # a server says it with its first answer
        self._file.add(
            "rag.config", json.dumps(record, sort_keys=True, ensure_ascii=False).encode(), items=1
        )
        for name, data, items, flags in self._extra:
            self._file.add(name, data, 0, flags, items)

    def discard(self) -> None:
        """Gives up what was not written; after close, does nothing."""
        self.is_over = True
        self._file.close()
        self._staging.close()


class SegmentWriter:
    """The sections of one segment, from what was staged."""

    def __init__(self, file, staging, record, analysis):
        self.file, self.staging, self.record, self.analysis = file, staging, record, analysis

    def write(self):
        """Returns the segment's number, or 0 when there was nothing to write."""
        ids, columns, order = self.staging.ordered()
        if not ids:
            return 0
        self.segment = self.file.segment()
        self.file.rows(self.segment, len(order))
        if self.staging.vector_rows:
            self._write_vectors(order)
        self._write_texts(ids, columns)
        return self.segment

    def _section(self, name, items, blocks):
        self.file.begin(name, self.segment)
        for block in blocks:
            self.file.write(block)
        self.file.end(items)

    def _write_vectors(self, order):
        staged = self.staging.vectors.matrix(self.staging.dtype, self.staging.dim)
        at = self.file.begin("vector", self.segment)
        self.file.write(
            _core.vector_head(at, self.staging.dim, self.record["precision"], len(order))
        )
        for first in range(0, len(order), GATHER_ROWS):
            rows = np.ascontiguousarray(staged[order[first : first + GATHER_ROWS]])
            self.file.write(_core.vector_rows(rows.view(np.uint8).reshape(len(rows), -1), first))
        self.file.end(len(order))
        if len(order):
            matrix = _core.Matrix(
                staged, len(order), self.staging.dim, dtype=f"f{self.record['precision']}", metric=self.record["metric"],
                offsets=order.astype(np.uint64) * np.uint64(staged.strides[0]),
            )  # fmt: skip
            self.file.begin("rag.shadow", self.segment)
            _core.build_shadow(matrix, self.file.write)
            self.file.end(len(order))

    def _write_texts(self, ids, columns):
        self.lexicon = None
        if self.analysis is not None:
            self.lexicon = _core.LexicalBuilder(
                self.analysis, memory=LEXICAL_MEMORY, directory=self.staging.folder
            )
        portable = self.record.get("portable")
        self.keywords = Keywords(self.staging.folder) if portable else None
        records, meta = _core.RecordsBuilder(), Spool(self.staging.folder)
        self.file.begin("rag.text", self.segment)
        pack = zstandard.ZstdCompressor(level=3).compress
        stream = _core.StreamBuilder(self.file.write, pack, TEXT_BLOCK)
        counts = np.bincount(columns["document"], minlength=len(ids)).tolist()
        rows = _in_parts(columns, ("index", "place", "size", "char_start", "char_size", "json"))
        for doc_id, count in zip(ids, counts, strict=True):
            self._write_document(doc_id, count, rows, records, stream, meta)
        stream.finish()
        self.file.end(len(ids))
        self._write_meta(meta, len(ids))
        chunks, documents, id_list = records.tables()
        self._section("rag.chunks", len(columns["index"]), [chunks])
        self._section("rag.documents", len(ids), [documents])
        self._section("rag.ids", len(ids), [id_list])
        if self.lexicon is not None:
            self._write_lexicon(len(columns["index"]))
        if self.keywords is not None:
            at = self.file.begin("keyword", self.segment)
            for block in self.keywords.blocks(at):
                self.file.write(block)
            self.file.end(len(columns["index"]))

    def _write_lexicon(self, rows):
        terms = bytearray()
        self.file.begin("rag.postings", self.segment)
        self.lexicon.finish(self.file.write, terms.extend)
        self.file.end(rows)
        self._section("rag.terms", rows, [terms])

    def _write_document(self, doc_id, count, rows, records, stream, meta):
        entry, spool = self.staging.documents[doc_id], self.staging.texts
        text = spool.read(entry.text_at, entry.text_size)
        at, size, placed, contents, own_fields = stream.write(text), len(text), [], [], []
        for index, place, length, char_start, char_size, own in itertools.islice(rows, count):
            start, content = self._lies(text, size, place, length)
            if place & LOOSE and content:
                stream.write(content)
                size += length
                if size >= NO_SPAN:
                    raise ValueError(
                        f"document {doc_id!r} and its chunks are over the limit of 4 GiB"
                    )
            said, char_start = (
                spool.read(own >> 24, own & 0xFFFFFF),
                None if char_start == NO_SPAN else char_start,
            )
            placed.append(
                (index, start, length, char_start, char_size, meta.append(said), len(said))
            )
            contents.append(content)
            own_fields.append(said)
        meta_at, chars = meta.append(spool.read(*entry.json)), entry.chars
        records.document(
            doc_id, at, entry.text_size, size, chars, entry.has_text, meta_at, entry.json[1], count
        )
        for chunk in placed:
            records.chunk(*chunk)
        if self.keywords is not None:
            self.keywords.add(contents)
        if self.lexicon is not None:
            self._index(entry, contents, own_fields)

    def _lies(self, text, end, place, size):
        """(start, content) of a chunk in its document's stretch of rag.text: a span of the text, or loose behind all so far."""
        if not place & LOOSE:
            return place, text[place : place + size]
        if not size:
            return len(text), b""  # nowhere in particular, so that it is carried over as it is
        return end, self.staging.texts.read(place & ~LOOSE, size)

    def _index(self, entry, contents, own_fields):
        """Gives the chunks of a document to BM25: their text, or a tuple with a text for each field."""
        try:
            texts = [content.decode("utf-8", "surrogatepass") for content in contents]
        except UnicodeDecodeError:  # only what is carried over as it is
            raise CorruptError("the text of a chunk is not UTF-8", section="rag.text") from None
        names = [name for name, _ in self.analysis.fields]
        if names == ["text"]:
            self.lexicon.add(texts)
            return
        marks = [json.dumps(name, ensure_ascii=False).encode() for name in names if name != "text"]
        shared, rows = _metadata_with(marks, self.staging.texts.read(*entry.json)), []
        for text, own in zip(texts, own_fields, strict=True):
            known = {**shared, **_metadata_with(marks, own)}
            rows.append(
                tuple(text if name == "text" else _field(known.get(name)) for name in names)
            )
        self.lexicon.add(rows)

    def _write_meta(self, meta, documents):
        self.file.begin("rag.meta", self.segment)
        stream = _core.StreamBuilder(
            self.file.write, zstandard.ZstdCompressor(level=3).compress, META_BLOCK
        )
        for first in range(0, meta.size, 1 << 20):
            stream.write(meta.read(first, min(1 << 20, meta.size - first)))
        meta.close()
        stream.finish()
        self.file.end(documents)


class Keywords:
    """The `keyword` section: what each row's reference stands for, for readers that know nothing but pairs."""

    PADDING, PREAMBLE, ALIGNMENT = 4, 17, 64

    def __init__(self, folder):
        self._spool = Spool(folder)
        self._pairs = _core.PairWriter(self._spool.append, padding=self.PADDING)

    def add(self, contents):
        for content in contents:
            reference = f"c{self._pairs.count:010d}"
            try:
                self._pairs.add_keyword(reference, content.decode("utf-8"))
            except UnicodeDecodeError:
                raise ValueError(
                    "a portable file cannot hold a lone surrogate: pairs are UTF-8"
                ) from None

    def blocks(self, at):
        """The section's bytes, given where they will lie."""
        self._pairs.flush()
        start = -(-(at + self.PREAMBLE + 1) // self.ALIGNMENT) * self.ALIGNMENT
        head = self._pairs.preamble(start)
        yield head + bytes(start - at - len(head))
        for first in range(0, self._pairs.size, 1 << 20):
            yield self._spool.read(first, min(1 << 20, self._pairs.size - first))
        self._spool.close()


def _in_parts(columns, names):
    """Tuples of plain numbers, row by row, without all of them in memory at once."""
    for first in range(0, len(columns[names[0]]), GATHER_ROWS):
        yield from zip(
            *(columns[name][first : first + GATHER_ROWS].tolist() for name in names), strict=True
        )


def _metadata(raw):
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass")).get("metadata", {}) if raw else {}
    except (ValueError, AttributeError, RecursionError):  # only what is carried over as it is
        raise CorruptError(
            "the metadata of a document is not what it must be", section="rag.meta"
        ) from None


def _metadata_with(marks, raw):
    """The metadata, if one of these names can be in it."""
    return _metadata(raw) if any(mark in raw for mark in marks) else {}


def _field(value):
    """Metadata as the text of a field: lists are joined, what is not there is no text."""
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return None if value is None else str(value)


def create(
    path: StrPath, *, dim: int | None = None, metric: Metric = "cosine", precision: Precision = 32,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
    analysis: Analysis | None = DEFAULT, portable: bool = False, spec: str | None = None, created: int | None = None,
    config: Metadata | None = None,
) -> Writer:  # fmt: skip
    """Starts a new file; it appears under its name when the `with` block ends without an error.

    Chunks come with vectors of your own (`dim` is their length if there are none to see it by), or `embedder` makes
    them. spec is the name to record for an embedder that is an object, config what else the file is to record.
    analysis=None leaves out BM25; created is a time in ns since 1970.

        with ragfile.create("kb.ragfile", dim=2) as writer:
            writer.add([{"doc_id": "a", "chunk_index": 0, "content": "Pods live long."}], [[0.6, 0.8]])
    """
    return Writer(
        path, dim=dim, metric=metric, precision=precision, embedder=embedder, chunking=chunking, analysis=analysis,
        portable=portable, spec=spec, created=created, config=config,
    )  # fmt: skip
