"""A 1.0 .ragfile as a collection, and back.

What came from FAISS + JSON or .ragmd carries its origin (origin.py) and comes back as it was, byte
for byte. What was built here goes out with all that a file records of it: the way back makes the
same file again.
"""

from __future__ import annotations

import contextlib
import json
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
from ragfile.write.writer import DEFAULT, Writer, fusion_record, model_record

if TYPE_CHECKING:
    from typing import Any

ORIGIN = "rag.origin"
RECORD = "ragfile"  # the frontmatter key under which a .ragmd keeps what a .ragfile recorded
METRICS = {"ip": "ip", "cosine": "ip", "l2": "l2"}


def read(path):
    """The collection in a file."""
    with rows_of(path) as archive:
        section = archive.file.section(ORIGIN, 0)
        if section is not None:
            return _from_origin(archive, section)
        return _from_records(archive)


def write(collection, path):
    """A file that gives the collection back."""
    if _is_recorded(collection):
        _write_records(collection, path)
    else:
        _write_with_origin(collection, path)


def _is_recorded(collection):
    """Whether a .ragfile wrote the collection. Documents that a program put in later can lack tags and
    metadata, but their chunks must be named by their numbers.
    """
    if collection.front is None or RECORD not in collection.front.values:
        return False
    later = [held for held in collection.documents.values() if "tags" not in held]
    return all(_NUMBERED.fullmatch(key) for held in later for key in held.get("chunks") or {})


_NUMBERED = re.compile(r"chunk-[0-9]+", re.ASCII)


# ------------------------------------------------------------------------------------------------------- with an origin --


def _from_origin(archive, section):
    stream = _core.Stream(section, unpack)

    def text_of(doc_id):
        document = archive.document(doc_id)
        if document is None:
            raise KeyError(doc_id)
        return document.text

    def vector_of(doc_id, index):
        row = archive.row(f"{doc_id}#{index}")
        if row is None:
            raise KeyError((doc_id, index))
        return archive.vector(row)

    with _fitting(f"{ORIGIN} of {archive.path}"):
        return unpack_origin(stream.read(0, stream.size), text_of, vector_of)


@contextlib.contextmanager
def _fitting(what):
    """What a record of ours tells is taken at its word; where that cannot be, it is the record that
    is wrong.
    """
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
        raise CorruptError(
            f"{what} is not what it must be: {type(error).__name__}: {error}"
        ) from None


def _write_with_origin(collection, path):
    origin, texts, places = pack(collection)
    vectors = _rows(collection)
    rows = {}
    for row, place in places.items():
        if place is not None:
            rows.setdefault(place[0], []).append((place[1], row))
    config = _model(collection)
    metric = collection.index.metric if collection.index.metric in METRICS else "ip"
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


def _model(collection):
    """What the file records of the collection's model. The embedded one's name says which it is,
    and asks for no consent.
    """
    name, own = collection.model_name, StaticEmbedder()
    if name == own.model.name and collection.dim == own.model.dims:
        return {"model": model_record(own, "default"), "fusion": fusion_record(own)}
    return {"model": {"name": name, "dims": collection.dim, "spec": None} if name else None}


def _chunk_of(collection, doc_id, document, index, row):
    """Row as a chunk: a span of the document's text where it is one, else loose."""
    text, chunk = collection.text(row) or "", collection.chunk(row) or {}
    start: Any = chunk.get("i_start")
    full = document.get("full_text") or ""
    is_span = text and isinstance(start, int) and start >= 0
    if not is_span or full[start : start + len(text)] != text:
        start = -1
    key = {"key": collection.refs[row]["chunk_key"]}
    return Chunk(doc_id, index, text, (), key, start, start + len(text) if start >= 0 else -1)


def _plain(value):
    """A dict that the metadata of a file can hold, or nothing."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _rows(collection):
    """The vectors of any index as float32 rows."""
    if collection.index.is_flat:
        return np.asarray(collection.index.vectors)
    from ragfile.exchange.faiss.native import rows

    return rows(collection.index)


def _stream(data):
    out = bytearray()
    builder = _core.StreamBuilder(out.extend, zstandard.ZstdCompressor(level=9).compress, 1 << 20)
    builder.write(data)
    builder.finish()
    return bytes(out)


# --------------------------------------------------------------------------------------------------- with all records --


def _from_records(archive):
    if not archive.has_vectors:
        raise ValueError(
            f"{archive.path} has no vectors, and what it is to become cannot be without"
        )
    for name in archive.file.strategies:
        if not sections.is_known(name):
            warnings.warn(
                f"section {name} is left out: the other format has no place for it",
                UserWarning,
                stacklevel=4,
            )
    documents, refs, vectors = {}, [], []
    _warn_of_bare(archive)
    for segment in archive.segments:
        for there in segment.live_documents():
            stored, bare = there.vectors
            name, document, rows = there.id, _document(there, len(refs), bare), there.rows
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


def _warn_of_bare(archive):
    if archive.has_bare_rows:
        count = len(archive) - int(archive.vector_mask().sum())
        what = "in the other format they are chunks of their documents, and no rows of its index"
        warnings.warn(f"{count} chunks have no vector: {what}", UserWarning, stacklevel=5)


def _document(there, first_row, bare):
    """A stored document as a dict. A chunk without a vector has no row."""
    made, record, segment = there.read(), there.record, there.segment
    full_text = made.text if record.has_text else None
    document = {"id": made.id, "source": made.source, "content": {}, "full_text": full_text}
    document |= {"metadata": made.metadata, "tags": list(made.tags), "chunks": {}}
    document |= {
        name: value for name, value in (("original", made.edits), ("body", made.body)) if value
    }
    numbers = iter(range(first_row, first_row + len(record.rows)))
    for row, is_bare in zip(record.rows, bare.tolist(), strict=True):
        chunk = segment.records.chunk(row)
        key, own = f"chunk-{chunk.index}", segment.fields(chunk.meta_at, chunk.meta_size)
        entry, has_span = (
            {"i_start": None, "i_end": None, "faiss_id": None if is_bare else next(numbers)},
            chunk.char_start is not None,
        )
        if chunk.start + chunk.size <= record.text_size:
            if has_span:
                entry["i_start"], entry["i_end"] = chunk.span
        else:
            document["content"][key] = segment.text(record, chunk.start, chunk.size)
            if has_span:
                entry["start"] = chunk.char_start
        document["chunks"][key] = entry | own
    return document


def _analysis_record(archive):
    lexicon = next(
        (s.lexicon for s in archive.segments if s.section("rag.terms") is not None), None
    )
    return (
        None
        if lexicon is None
        else {"text": lexicon.config, "k1": lexicon.analysis.k1, "b": lexicon.analysis.b}
    )


def _write_records(collection, path):
    with _fitting(f"the record {RECORD!r}"):
        record = json.loads(collection.front.values[RECORD])
        config, told = (
            recorded.read_config(json.dumps(record["config"]).encode(), path),
            record["analysis"],
        )
        analysis = Analysis.recorded(told["text"], told["k1"], told["b"]) if told else DEFAULT
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
                rows, text = (
                    [entry["faiss_id"] for entry in document["chunks"].values()],
                    document.get("full_text"),
                )
                source, tags = document.get("source", ""), tuple(document.get("tags", ()))
                metadata = document.get("metadata", {})
                way_back = {"edits": document.get("original", ()), "body": document.get("body", 0)}
                made, held = (
                    Document(doc_id, text or "", source, metadata, tags, **way_back),
                    [None if row is None else vectors[row] for row in rows],
                )
                w.add_document(made, chunks, held if rows else None, has_text=text is not None)


def _chunk_from(doc_id, document, key, entry):
    index = key.removeprefix("chunk-")
    if not index.isdecimal():
        raise CorruptError(f"chunk {key!r} of {doc_id!r} is not named as a .ragfile names them")
    start, stop = entry["i_start"], entry["i_end"]
    tags = tuple(entry.get("tags", document.get("tags", ())))
    metadata = entry.get("metadata", {})
    if start is None:
        at = entry.get("start", -1)
        text = document["content"][key]
        return Chunk(
            doc_id, int(index), text, tags, metadata, at, at + len(text) if at >= 0 else -1
        )
    return Chunk(doc_id, int(index), document["full_text"][start:stop], tags, metadata, start, stop)
