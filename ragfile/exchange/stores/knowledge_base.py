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

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder, is_scheme, same_model
from ragfile.errors import CorruptError, FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.origin import pack
from ragfile.exchange.origin import unpack as unpack_origin
from ragfile.exchange.ragmd.front_matter import RECORD, recorded_front
from ragfile.file import config as recorded
from ragfile.file import sections
from ragfile.file.container import Container
from ragfile.file.hidden_documents import NAME as HIDDEN
from ragfile.file.hidden_documents import packed, read_hidden
from ragfile.ground.call_site import stack_level
from ragfile.ground.json_values import is_list, is_object
from ragfile.ingest.analysis import Analysis
from ragfile.records import Chunk, Document
from ragfile.search.file_rows import rows_of
from ragfile.write.analysis_record import noted_analysis
from ragfile.write.writer import Writer, fusion_record, model_record

if TYPE_CHECKING:
    from collections.abc import Generator

    from ragfile.exchange.collection import JsonObject
    from ragfile.file.row_segment import StoredDocument
    from ragfile.search.file_rows import FileRows
    from ragfile.types import Booleans, Float32s, Floats, Metric, SomeVectors, StrPath

ORIGIN = "rag.origin"
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
    return all(_NUMBERED.fullmatch(key) for held in later for key in _chunks(held))


_NUMBERED = re.compile(r"chunk-[0-9]+", re.ASCII)


# ------------------------------------------------------------------------------------------------------- with an origin --


def _from_origin(archive: FileRows, section: _core.Section) -> Collection:
    stream = _core.Stream(section)

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

    with fitting(f"{ORIGIN} of {archive.path}"):
        return unpack_origin(stream.read(0, stream.size), text_of, vector_of)


@contextlib.contextmanager
def fitting(what: str) -> Generator[None]:
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
    has_rows = bool(rows) or not collection.pairs
    is_complete = bool(collection.pairs or collection.is_cosine)
    metric = _metric(collection)
    with Writer(path, dim=collection.dim if has_rows else None, metric=metric, config=config) as w:
        for doc_id, document in collection.documents.items():
            held = sorted(rows.pop(doc_id, ()))
            chunks = [_chunk_of(collection, doc_id, document, index, row) for index, row in held]
            given: SomeVectors | None = vectors[[row for _, row in held]] if held else None
            made = Document(
                doc_id, texts.get(doc_id, ""), _text(document.get("source")),
                _plain(document.get("metadata")), _tags(document),
            )  # fmt: skip
            if is_complete:
                bare = _bare_chunks(made, document, {row for _, row in held})
                pairs = [*zip(chunks, () if given is None else given, strict=True), *bare]
                pairs.sort(key=lambda pair: pair[0].chunk_index)
                chunks = [chunk for chunk, _ in pairs]
                given = [vector for _, vector in pairs] if has_rows and pairs else None
            w.add_document(made, chunks, given)
        w.draft.add_section(ORIGIN, _stream(origin), items=len(collection))


def _metric(collection: Collection) -> Metric:
    """Return the metric of the index, or cosine."""
    return "l2" if collection.index.metric == "l2" else "cosine" if collection.is_cosine else "ip"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tags(held: JsonObject, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the tags of a document or a chunk, which come from another program."""
    tags = held.get("tags")
    if is_list(tags) and all(isinstance(tag, str) for tag in tags):
        return tuple(tags)
    return default


def _bare_chunks(
    document: Document, held: JsonObject, rows: set[int]
) -> list[tuple[Chunk, Float32s | None]]:
    """Return the chunks of a document that have no vector, which words and keywords find."""
    chunks: dict[str, JsonObject] = held.get("chunks") or {}
    return [
        (Chunk(
            document.id, number, document.text[entry["i_start"] : entry["i_end"]],
            _tags(entry, tuple(document.tags)), _plain(entry.get("metadata")),
            entry["i_start"], entry["i_end"],
        ), None)
        for number, entry in enumerate(chunks.values())
        if entry.get("faiss_id") not in rows
    ]  # fmt: skip


def _model(collection: Collection) -> JsonObject:
    """Return the model entry of the file; the default model is recognized by name and dimension."""
    name, own = collection.model_name, StaticEmbedder()
    if name and same_model({"name": name, "dims": collection.dim}, own.model.record()):
        return {"model": model_record(own, "default"), "fusion": fusion_record(own)}
    if not name:
        return {"model": None}
    spec = name if is_scheme(name.partition(":")[0]) else None
    plain = name if spec is None else name.partition("?")[0]
    return {"model": {"name": plain, "dims": collection.dim, "spec": spec}}


def _chunk_of(
    collection: Collection, doc_id: str, document: JsonObject, index: int, row: int
) -> Chunk:
    """Return a row as a chunk: a span of its document's text where possible."""
    text, chunk = collection.text(row) or "", collection.chunk(row) or {}
    stored, full = chunk.get("i_start"), document.get("full_text") or ""
    start = stored if text and isinstance(stored, int) and stored >= 0 else -1
    if full[start : start + len(text)] != text:
        start = -1
    key = collection.refs[row]["chunk_key"]
    metadata = ({} if _NUMBERED.fullmatch(key) else {"key": key}) | _plain(chunk.get("metadata"))
    end = start + len(text) if start >= 0 else -1
    return Chunk(doc_id, index, text, _tags(chunk, _tags(document)), metadata, start, end)


def _chunks(document: JsonObject) -> JsonObject:
    return document.get("chunks") or {}


def _plain(value: object) -> JsonObject:
    """Return metadata that a file can hold, or an empty dict."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return {}
    return value if is_object(value) else {}


def _rows(collection: Collection) -> Float32s:
    """Return the vectors of any index as float32 rows."""
    if collection.index.is_flat:
        return np.asarray(collection.index.vectors)
    from ragfile.exchange.faiss.native import rows

    return rows(collection.index)


def _stream(data: bytes) -> bytes:
    out = bytearray()
    builder = _core.StreamBuilder(out.extend, 1 << 20, level=9)
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
                stacklevel=stack_level(),
            )
    documents: dict[str, JsonObject] = {}
    refs: list[JsonObject] = []
    vectors: list[Float32s] = []
    _warn_of_bare(archive)
    for segment in archive.segments:
        for old in segment.live_documents():
            stored, bare = old.vectors
            name, document, rows = old.id, document_object(old, len(refs), bare), old.rows
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
    matrix = np.concatenate(vectors) if vectors else np.empty((0, archive.dim or 1), np.float32)
    return recorded_collection(record_of(archive), matrix, refs, documents)


def record_of(archive: FileRows) -> JsonObject:
    """Return the configuration of a file, which `recorded_collection()` takes."""
    record = {"config": archive.config, "analysis": _analysis_record(archive)}
    is_file = isinstance(archive.file, Container)  # layers are exported as the view that they are
    hidden = read_hidden(archive.file.reader, archive.path) if is_file else []
    return record | {"hidden": hidden} if hidden else record


def recorded_collection(
    record: JsonObject, vectors: Floats, refs: list[JsonObject], documents: dict[str, JsonObject]
) -> Collection:
    """Return the collection of a file without an origin."""
    config = record["config"]
    index = Index.of(vectors, METRICS[config.get("metric", "cosine")])
    model: dict[str, str | None] = config.get("model") or {}
    kept = json.dumps(record, sort_keys=True)
    name, spec = model.get("name"), model.get("spec")
    if name and spec and spec.partition("?")[0] == name:  # with the prefixes of the texts
        name = spec
    return Collection(index, refs, documents, name, front=recorded_front(kept))


def _warn_of_bare(archive: FileRows) -> None:
    if archive.has_bare_rows:
        count = len(archive) - int(archive.vector_mask().sum())
        what = "in the other format they are chunks of their documents, and no rows of its index"
        warnings.warn(
            f"{count} chunks have no vector: {what}", UserWarning, stacklevel=stack_level()
        )


def document_object(old: StoredDocument, first_row: int, bare: Booleans) -> JsonObject:
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
        if weights := segment.sparse_of(row):
            entry["sparse"] = weights
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
    with fitting(f"the record {RECORD!r}"):
        record = json.loads(collection.front.values[RECORD])
        config = recorded.read_config(json.dumps(record["config"]).encode(), os.fspath(path))
        bm25, hidden = record["analysis"], packed(record.get("hidden", ()))
        analysis: Analysis | None = noted_analysis(config)
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
            with fitting(f"document {doc_id!r}"):
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
                given = held if rows and len(collection) else None
                w.add_document(made, chunks, given, has_text=text is not None)
        if hidden[1]:
            w.draft.add_section(HIDDEN, *hidden)


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
        stop = at + len(text) if at >= 0 else -1
        return Chunk(doc_id, int(index), text, tags, metadata, at, stop, entry.get("sparse"))
    text = document["full_text"][start:stop]
    return Chunk(doc_id, int(index), text, tags, metadata, start, stop, entry.get("sparse"))
