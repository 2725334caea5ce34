"""Convert between a 1.0 .ragfile and a collection.

A file converted from FAISS + JSON or .ragmd contains its origin (origin.py) and is restored byte for
byte. A file built here takes its whole configuration along, so that the way back makes the same file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from typing import TYPE_CHECKING

import numpy as np
import zstandard

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder
from ragfile.errors import CorruptError, FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.origin import pack
from ragfile.exchange.origin import unpack as unpack_origin
from ragfile.exchange.ragmd.front_matter import Frontmatter
from ragfile.file import config as recorded
from ragfile.file import sections
from ragfile.file.row_segment import unpack
from ragfile.ingest.analysis import Analysis
from ragfile.records import Chunk, Document
from ragfile.search.file_rows import rows_of
from ragfile.write.analysis_record import DEFAULT
from ragfile.write.writer import Writer, fusion_record, model_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.exchange.collection import JsonObject
    from ragfile.file.row_segment import StoredDocument
    from ragfile.search.file_rows import FileRows
    from ragfile.types import Booleans, Float32s, Floats, Metric, StrPath

ORIGIN = "rag.origin"
RECORD = "ragfile"  # the front matter key of a .ragfile's configuration in a .ragmd
METRICS = {"ip": "ip", "cosine": "ip", "l2": "l2"}


def read(path: StrPath) -> Collection:
    """Return the collection of a file."""
    with rows_of(path) as archive:
        section = archive.file.section(ORIGIN, 0)
        if section is not None:
            return _from_origin(archive, section)
        return _from_records(archive)


def write(collection: Collection, path: StrPath) -> None:
    """Write a file from which read() restores the collection."""
    if _is_recorded(collection):
        _write_records(collection, path)
    else:
        _write_with_origin(collection, path)


def _is_recorded(collection: Collection) -> bool:
    """Return whether a .ragfile is the source of the collection.

    Documents added later may lack tags and metadata, but their chunks must be named by number.
    """
    if collection.front is None or RECORD not in collection.front.values:
        return False
    later = [held for held in collection.documents.values() if "tags" not in held]
    return all(_NUMBERED.fullmatch(key) for held in later for key in held.get("chunks") or {})


_NUMBERED = re.compile(r"chunk-[0-9]+", re.ASCII)


# ------------------------------------------------------------------------------------------------------- with an origin --


def _from_origin(archive: FileRows, section: _core.Section) -> Collection:
    stream = _core.Stream(section, unpack)

    def text_of(doc_id: str) -> str:
        document = archive.document(doc_id)
        if document is None:
            raise KeyError(doc_id)
        return document.text

    def vector_of(doc_id: str, index: int) -> Floats:
        row = archive.row(f"{doc_id}#{index}")
        if row is None:
            raise KeyError((doc_id, index))
        return archive.vector(row)

    with _fitting(f"{ORIGIN} of {archive.path}"):
        return unpack_origin(stream.read(0, stream.size), text_of, vector_of)


@contextlib.contextmanager
def _fitting(what: str) -> Iterator[None]:
    """Report errors from an unvalidated record as CorruptError."""
    try:
        yield
    except FormatError:
        raise
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise CorruptError(f"{what} is malformed: {type(error).__name__}: {error}") from None


def _write_with_origin(collection: Collection, path: StrPath) -> None:
    origin, texts, places = pack(collection)
    vectors = _rows(collection)
    rows: dict[str, list[tuple[int, int]]] = {}
    for row, place in places.items():
        rows.setdefault(place.document_id, []).append((place.chunk_index, row))
    config = _model(collection)
    metric: Metric = "l2" if collection.index.metric == "l2" else "ip"
    with Writer(path, dim=collection.dim, metric=metric, config=config) as w:
        for doc_id, document in collection.documents.items():
            held = sorted(rows.pop(doc_id, ()))
            chunks = [_chunk_of(collection, doc_id, document, index, row) for index, row in held]
            metadata = document.get("metadata")
            source = document.get("source")
            made = Document(
                doc_id,
                texts.get(doc_id, ""),
                source if isinstance(source, str) else "",
                _plain(metadata),
            )
            w.add_document(made, chunks, vectors[[row for _, row in held]] if held else None)
        w.draft.add_section(ORIGIN, _stream(origin), items=len(collection))


def _model(collection: Collection) -> JsonObject:
    """Return the model entry of the file; the default model is recognized by name and dimension."""
    name, own = collection.model_name, StaticEmbedder()
    if name == own.model.name and collection.dim == own.model.dims:
        return {"model": model_record(own, "default"), "fusion": fusion_record(own)}
    return {"model": {"name": name, "dims": collection.dim, "spec": None} if name else None}


def _chunk_of(
    collection: Collection, doc_id: str, document: JsonObject, index: int, row: int
) -> Chunk:
    """Return a row as a chunk: a span of its document's text where possible."""
    text, chunk = collection.text(row) or "", collection.chunk(row) or {}
    stored, full = chunk.get("i_start"), document.get("full_text") or ""
    start = stored if text and isinstance(stored, int) and stored >= 0 else -1
    if full[start : start + len(text)] != text:
        start = -1
    key = {"key": collection.refs[row]["chunk_key"]}
    return Chunk(doc_id, index, text, (), key, start, start + len(text) if start >= 0 else -1)


def _plain(value: object) -> JsonObject:
    """Return metadata that a file can hold, or an empty dict."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _rows(collection: Collection) -> Float32s:
    """Return the vectors of any index as float32 rows."""
    if collection.index.is_flat:
        return np.asarray(collection.index.vectors)
    from ragfile.exchange.faiss.native import rows

    return rows(collection.index)


def _stream(data: bytes) -> bytes:
    out = bytearray()
    builder = _core.StreamBuilder(out.extend, zstandard.ZstdCompressor(level=9).compress, 1 << 20)
    builder.write(data)
    builder.finish()
    return bytes(out)


# --------------------------------------------------------------------------------------------------- with all records --


def _from_records(archive: FileRows) -> Collection:
    if not archive.has_vectors:
        raise ValueError(f"{archive.path} has no vectors, which the other format requires")
    for name in archive.file.strategies:
        if not sections.is_known(name):
            warnings.warn(
                f"section {name} is left out: the other format has no place for it",
                UserWarning,
                stacklevel=4,
            )
    documents: dict[str, JsonObject] = {}
    refs: list[JsonObject] = []
    vectors: list[Float32s] = []
    _warn_of_bare(archive)
    for segment in archive.segments:
        for old in segment.live_documents():
            stored, bare = old.vectors
            name, document, rows = old.id, _document(old, len(refs), bare), old.rows
            if not name or name in documents or len(document["chunks"]) != len(rows):
                raise CorruptError(
                    f"document {name!r} of {archive.path}, or one of its chunks, appears twice or has no name"
                )
            documents[name] = document
            refs.extend(
                {"document_id": name, "chunk_key": key}
                for key, entry in document["chunks"].items()
                if entry["faiss_id"] is not None
            )
            if stored is not None:
                vectors.append(np.asarray(stored[~bare], dtype=np.float32))
    config = archive.config
    matrix = np.concatenate(vectors) if vectors else np.empty((0, archive.dim or 1), np.float32)
    index = Index.of(matrix, METRICS[config.get("metric", "cosine")])
    model = (config.get("model") or {}).get("name")
    record = {"config": config, "analysis": _analysis_record(archive)}
    kept = json.dumps(record, sort_keys=True)
    front = Frontmatter({RECORD: kept}, {RECORD: f"{RECORD}: {json.dumps(kept)}\n"})
    return Collection(index, refs, documents, model, front=front)


def _warn_of_bare(archive: FileRows) -> None:
    if archive.has_bare_rows:
        count = len(archive) - int(archive.vector_mask().sum())
        what = "in the other format they are chunks of their documents, and no rows of its index"
        warnings.warn(f"{count} chunks have no vector: {what}", UserWarning, stacklevel=5)


def _document(old: StoredDocument, first_row: int, bare: Booleans) -> JsonObject:
    """Return a stored document as a dict; chunks without a vector have no row."""
    made, record, segment = old.read(), old.record, old.segment
    full_text = made.text if record.has_text else None
    document: JsonObject = {
        "id": made.id,
        "source": made.source,
        "content": {},
        "full_text": full_text,
    }
    document |= {"metadata": made.metadata, "tags": list(made.tags), "chunks": {}}
    document |= {
        name: value for name, value in (("original", made.edits), ("body", made.body)) if value
    }
    numbers = iter(range(first_row, first_row + len(record.rows)))
    for row, is_bare in zip(record.rows, bare.tolist(), strict=True):
        chunk = segment.records.chunk(row)
        key, own = f"chunk-{chunk.index}", segment.fields(chunk.meta_at, chunk.meta_size)
        number = None if is_bare else next(numbers)
        entry: JsonObject = {"i_start": None, "i_end": None, "faiss_id": number}
        has_span = chunk.char_start is not None
        if chunk.start + chunk.size <= record.text_size:
            if has_span:
                entry["i_start"], entry["i_end"] = chunk.span
        else:
            document["content"][key] = segment.text(record, chunk.start, chunk.size)
            if has_span:
                entry["start"] = chunk.char_start
        document["chunks"][key] = entry | own
    return document


def _analysis_record(archive: FileRows) -> JsonObject | None:
    lexicon = next(
        (s.lexicon for s in archive.segments if s.section("rag.terms") is not None), None
    )
    return (
        None
        if lexicon is None
        else {"text": lexicon.config, "k1": lexicon.analysis.k1, "b": lexicon.analysis.b}
    )


def _write_records(collection: Collection, path: StrPath) -> None:
    assert collection.front is not None
    with _fitting(f"the record {RECORD!r}"):
        record = json.loads(collection.front.values[RECORD])
        config = recorded.read_config(json.dumps(record["config"]).encode(), os.fspath(path))
        bm25 = record["analysis"]
        analysis: Analysis | None = DEFAULT
        if bm25:
            analysis = Analysis.recorded(bm25["text"], bm25["k1"], bm25["b"])
    if not config.get("bm25", True):
        analysis = None
    vectors = _rows(collection)
    options = {
        name: config[name] for name in ("dim", "metric", "precision", "portable") if name in config
    }
    with Writer(path, analysis=analysis, config=config, **options) as w:
        for doc_id, document in collection.documents.items():
            with _fitting(f"document {doc_id!r}"):
                chunks = [
                    _chunk_from(doc_id, document, key, entry)
                    for key, entry in document["chunks"].items()
                ]
                rows = [entry["faiss_id"] for entry in document["chunks"].values()]
                text = document.get("full_text")
                source, tags = document.get("source", ""), tuple(document.get("tags", ()))
                metadata = document.get("metadata", {})
                way_back = {"edits": document.get("original", ()), "body": document.get("body", 0)}
                made = Document(doc_id, text or "", source, metadata, tags, **way_back)
                held = [None if row is None else vectors[row] for row in rows]
                w.add_document(made, chunks, held if rows else None, has_text=text is not None)


def _chunk_from(doc_id: str, document: JsonObject, key: str, entry: JsonObject) -> Chunk:
    index = key.removeprefix("chunk-")
    if not index.isdecimal():
        raise CorruptError(f"chunk {key!r} of {doc_id!r} is not named as a .ragfile names them")
    start, stop = entry["i_start"], entry["i_end"]
    tags = tuple(entry["tags"] if "tags" in entry else document.get("tags", ()))
    metadata = entry.get("metadata", {})
    if start is None:
        at = entry.get("start", -1)
        text = document["content"][key]
        return Chunk(
            doc_id, int(index), text, tags, metadata, at, at + len(text) if at >= 0 else -1
        )
    return Chunk(doc_id, int(index), document["full_text"][start:stop], tags, metadata, start, stop)
