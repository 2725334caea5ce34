"""The records of adapters.single_file: documents and results, their index, and the sources of documents."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ragfile.canonical import chunk
from ragfile.errors import ModelError
from ragfile.exchange.collection import chunk_text
from ragfile.ingest.document_loader import Loading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile import records
    from ragfile.exchange.faiss.index import Index
    from ragfile.types import Float32s, Floats, Int64s


class ChunkRef(NamedTuple):
    document_id: str
    chunk_key: str


class ChunkResult(NamedTuple):
    """One result. Equal scores are in row order."""

    document_id: str
    chunk_key: str
    text: str
    document_text: str | None = None
    score: float = 0.0
    content: dict[str, Any] | None = None


@dataclass
class Document:
    """A document and its chunks: {key: {"i_start", "i_end", "faiss_id"}}.

    The ends are half-open spans of full_text, or null for a field of content. `more` keeps unknown keys.
    """

    id: str
    content: dict[str, Any] = field(default_factory=dict[str, Any])
    full_text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""
    chunks: dict[str, Any] = field(default_factory=dict[str, Any])
    more: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Document:
        """Read a document; unknown keys and the order of keys are preserved."""
        known = {key: data[key] for key in _DOCUMENT_KEYS if key in data}
        more = {key: value for key, value in data.items() if key not in _DOCUMENT_KEYS}
        document = cls(**known, more=more)
        vars(document)["_order"] = list(data)
        return document

    def to_dict(self) -> dict[str, Any]:
        held = {key: getattr(self, key) for key in _DOCUMENT_KEYS} | self.more
        order = getattr(self, "_order", None) or list(held)
        late = [key for key in held if key not in order and held[key]]
        return {key: held[key] for key in (*order, *late) if key in held}

    def get_chunk_text(self, key: str) -> str | None:
        return chunk_text(self.to_dict(), key)


_DOCUMENT_KEYS = tuple(f.name for f in fields(Document) if f.name != "more")


class ServedIndex:
    """The index of a store with the interface of a FAISS index."""

    def __init__(self, index: Index | None) -> None:
        self._index = index

    @property
    def ntotal(self) -> int:
        """The number of vectors."""
        return 0 if self._index is None else self._index.count

    @property
    def d(self) -> int:
        """The length of the vectors; 0 while the store is empty."""
        return 0 if self._index is None else self._index.dim

    @property
    def vectors(self) -> Float32s:
        """The vectors as read-only rows."""
        return np.empty((0, 0), np.float32) if self._index is None else self._index.vectors

    def search(self, queries: Floats, k: int) -> tuple[Float32s, Int64s]:
        """Return the scores and rows of the k best for each query; missing ones have row -1."""
        scores = np.full((len(queries), k), -np.finfo(np.float32).max, np.float32)
        rows = np.full((len(queries), k), -1, np.int64)
        for number, query in enumerate(np.asarray(queries, np.float32)):
            if self._index is None or not self._index.count:
                break
            found, best = nearest(self._index, query, k)
            rows[number, : len(found)], scores[number, : len(found)] = found, best
        return scores, rows


def as_dict(document: Document | Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of any class that has to_dict(), or a mapping, as a dict."""
    to_dict = getattr(document, "to_dict", None)
    if callable(to_dict):
        return cast("dict[str, Any]", to_dict())
    try:
        return dict(cast("Mapping[str, Any]", document))
    except TypeError:
        kind = type(document).__name__
        raise TypeError(
            f"a document is a mapping or has to_dict(), and {kind} has neither"
        ) from None


def number_chunks(document: object, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Set the rows of a caller's chunk objects, as the original program does."""
    chunks: dict[str, object] = getattr(document, "chunks", None) or {}
    for key, entry in chunks.items():
        for name in ("faiss_id", "id"):
            if hasattr(entry, name):
                setattr(entry, name, entries[key]["faiss_id"])


def whole_text(document: Mapping[str, Any]) -> str:
    return document.get("full_text") or json.dumps(document.get("content") or {}, indent=2)


def documents_of(source: str, doc_type: str | None) -> list[Document]:
    """Read the documents of a CSV file as the original program does, or of any other files."""
    if source.lower().endswith(".csv"):
        return list(_csv_documents(source, doc_type))
    reading = Loading([source])
    found = [_chunked(document) for document in reading]
    if reading.failures:
        raise ValueError(f"{reading.failures[0].path}: {reading.failures[0].reason}")
    return found


def _csv_documents(path: str, doc_type: str | None) -> Iterator[Document]:
    stem = doc_type or os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            chunks = {name: {"i_start": None, "i_end": None} for name, text in row.items() if text}
            yield Document(f"{stem}-{number}", dict(row), source=path, chunks=chunks)


def _chunked(document: records.Document) -> Document:
    spans = {
        f"chunk-{piece.chunk_index}": {"i_start": piece.start, "i_end": piece.end}
        for piece in chunk(document)
    }
    return Document(document.id, full_text=document.text, source=document.source, chunks=spans)


def nearest(index: Index, query: Float32s, k: int) -> tuple[Int64s, Float32s]:
    """Return the k best rows of a flat index and their scores, exactly, in FAISS's order.

    Inner products are in descending order, distances ascending.
    """
    if query.shape != (index.dim,):
        raise ModelError(f"the query has {query.size} dimensions, the collection {index.dim}")
    scores = index.vectors @ query
    if index.metric == "l2":
        scores = np.einsum("nd,nd->n", index.vectors, index.vectors) + query @ query - 2 * scores
    keys = scores if index.metric == "l2" else -scores
    k = min(k, len(keys))
    near = np.flatnonzero(keys <= np.partition(keys, k - 1)[k - 1]) if k else np.empty(0, np.int64)
    rows = near[np.argsort(keys[near], kind="stable")][:k]
    return rows, scores[rows]
