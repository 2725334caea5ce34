"""A collection in memory: the common form of FAISS + JSON and .ragmd files, through which conversions pass.

Documents, references and unknown keys keep their dicts and their order, so that a collection can be
written exactly as it was read. Row r of the index belongs to refs[r]; a document's chunk can claim its
row by faiss_id.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ragfile.errors import FormatError, ModelError
from ragfile.exchange.faiss.index import Index

if TYPE_CHECKING:
    from ragfile.exchange.ragmd.front_matter import Frontmatter
    from ragfile.types import Vectors

JsonObject: TypeAlias = dict[str, Any]


class UnknownSection(NamedTuple):
    """A section of a .ragmd file that this program does not know, kept as its text."""

    follows: str  # the known section before it
    title: str
    text: str


def timestamp(now: float | None = None) -> str:
    """Return ISO 8601 in UTC for `now` (in seconds), else SOURCE_DATE_EPOCH, else the clock."""
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()) if now is None else now
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@dataclass
class Collection:
    """Documents by id, one reference per row, and the index.

    Attributes:
        index: The vectors, one row per reference.
        refs: A `{"document_id", "chunk_key", …}` per row.
        documents: `{"id", "source", "content", "full_text", "chunks", …}` by id.
        model_name: The embedding model.
        created_at: Time of creation, ISO 8601 in UTC.
        updated_at: Time of the last change, ISO 8601 in UTC.
        front: The front matter of a .ragmd file as written.
        sections: The unknown sections of a .ragmd file.
        pair: The JSON layout of a FAISS + JSON pair; see faiss/json_pair.py.
        digest: The SHA-256 of the .ragmd file that it was read from.
        is_cosine: Whether the vectors of an inner-product index are compared by cosine.
        pairs: The layout and keyword pairs of a 0.1.0 file; see stores/pairs.py.
    """

    index: Index
    refs: list[JsonObject] = field(default_factory=list[JsonObject])
    documents: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    model_name: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    front: Frontmatter | None = None
    sections: list[UnknownSection] = field(default_factory=list[UnknownSection])
    pair: JsonObject = field(default_factory=lambda: {})
    digest: str = field(default="", compare=False)
    pairs: JsonObject = field(default_factory=lambda: {})
    is_cosine: bool = False

    @property
    def dim(self) -> int:
        """Length of the vectors."""
        return self.index.dim

    def __len__(self) -> int:
        return len(self.refs)

    def chunk(self, row: int) -> JsonObject | None:
        """Return the chunk entry that a row's reference names, or None."""
        ref = self.refs[row]
        document = self.documents.get(ref["document_id"])
        if document is None:
            return None
        chunks: dict[str, JsonObject] = document.get("chunks") or {}
        return chunks.get(ref["chunk_key"])

    def text(self, row: int) -> str | None:
        """Return the text of a row: a span of full_text, else its field of `content`, else None."""
        ref = self.refs[row]
        document = self.documents.get(ref["document_id"])
        return None if document is None else chunk_text(document, ref["chunk_key"])

    def dangling(self) -> list[int]:
        """Return the rows with a reference to a missing document or chunk."""
        known = {name: _chunk_keys(document) for name, document in self.documents.items()}
        nothing: Container[object] = ()
        return [
            row
            for row, ref in enumerate(self.refs)
            if ref["chunk_key"] not in (known.get(ref["document_id"]) or nothing)
        ]

    def check(self) -> None:
        """Raise FormatError unless references, documents and index fit together."""
        if len(self.refs) != self.index.count:
            raise FormatError(
                f"{len(self.refs)} chunk references for an index of {self.index.count} vectors"
            )
        for row, ref in enumerate(self.refs):
            if type(ref.get("document_id")) is not str or type(ref.get("chunk_key")) is not str:
                raise FormatError(
                    f"chunk reference {row} needs a document_id and a chunk_key, both text"
                )
        for name, document in self.documents.items():
            _check_document(name, document, self.index.count)

    def touch(self, now: float | None = None) -> None:
        """Set updated_at to now."""
        self.updated_at = timestamp(now)
        self.created_at = self.created_at or self.updated_at

    def add(self, document: JsonObject, vectors: Vectors, now: float | None = None) -> None:
        """Append a document with one vector for each entry of its `chunks`.

        It replaces a document with the same id; the old rows stay until `drop_unclaimed()`.
        """
        import numpy as np

        keys = list(document.get("chunks") or {})
        rows = (
            np.asarray(vectors, np.float32).reshape(len(keys), -1)
            if keys
            else np.empty((0, self.dim), np.float32)
        )
        if rows.shape[1] != self.dim:
            raise ModelError(f"vectors have {rows.shape[1]} dimensions, the collection {self.dim}")
        for row, key in enumerate(keys, len(self.refs)):
            document["chunks"][key]["faiss_id"] = row
            self.refs.append({"document_id": document["id"], "chunk_key": key})
        self.index.append(rows)
        self.documents[document["id"]] = document
        self.touch(now)

    def replace(self, document: JsonObject, vectors: Vectors, now: float | None = None) -> None:
        """Append a document, and delete the rows of the previous document with its id."""
        name = document["id"]
        old = {row for row, ref in enumerate(self.refs) if ref["document_id"] == name}
        self.add(document, vectors, now)
        if old:
            self._keep([row for row in range(len(self.refs)) if row not in old])

    def delete(self, document_id: str, now: float | None = None) -> None:
        """Remove a document with its rows; later rows move up."""
        del self.documents[document_id]
        self._keep([row for row, ref in enumerate(self.refs) if ref["document_id"] != document_id])
        self.touch(now)

    def drop_unclaimed(self, now: float | None = None) -> int:
        """Delete the rows that no document claims, and return their number."""
        kept = [row for row in range(len(self.refs)) if self._claimed(row)]
        dropped = len(self.refs) - len(kept)
        if dropped:
            self._keep(kept)
            self.touch(now)
        return dropped

    def _claimed(self, row: int) -> bool:
        chunk = self.chunk(row)
        return chunk is not None and chunk.get("faiss_id", row) in (row, None)

    def _keep(self, rows: list[int]) -> None:
        moved = {old: new for new, old in enumerate(rows)}
        self.index = Index.of(self.index.vectors[rows], self.index.metric)
        self.refs = [self.refs[row] for row in rows]
        for document in self.documents.values():
            chunks: dict[str, JsonObject] = document.get("chunks") or {}
            for chunk in chunks.values():
                if chunk.get("faiss_id") is not None:
                    chunk["faiss_id"] = moved.get(chunk["faiss_id"])


def empty(dim: int, metric: str = "ip", model_name: str | None = None) -> Collection:
    """Return a collection without rows."""
    import numpy as np

    return Collection(Index.of(np.empty((0, dim), np.float32), metric), model_name=model_name)


def chunk_text(document: JsonObject, key: str) -> str | None:
    """Return the text of one chunk of a document, or None."""
    chunks: dict[str, JsonObject] = document.get("chunks") or {}
    chunk: JsonObject = chunks.get(key) or {}
    start, full_text = chunk.get("i_start"), document.get("full_text")
    if start is not None and full_text is not None:
        return str(full_text[start : chunk.get("i_end")])
    content: JsonObject = document.get("content") or {}
    value = content.get(key)
    return value if value is None or isinstance(value, str) else str(value)


def _chunk_keys(document: JsonObject) -> Container[str]:
    chunks: JsonObject = document.get("chunks") or {}
    content: JsonObject = document.get("content") or {}
    return chunks if not content else {**content, **chunks}


def _check_document(name: str, document: JsonObject, count: int) -> None:
    if type(document) is not dict:
        raise FormatError(f"document {name!r} is not an object")
    chunks, content, text = (
        document.get("chunks"),
        document.get("content"),
        document.get("full_text"),
    )
    if document.get("id", name) != name:
        raise FormatError(f"document {name!r} calls itself {document['id']!r}")
    if (
        type(chunks) not in (dict, _NONE)
        or type(content) not in (dict, _NONE)
        or type(text) not in (str, _NONE)
    ):
        raise FormatError(f"document {name!r}: chunks and content are objects, full_text is text")
    named: JsonObject = chunks or {}
    for key, chunk in named.items():
        kind = type(chunk)  # pyright: ignore[reportUnknownVariableType]  # of any type
        if kind is not dict:
            raise FormatError(f"chunk {key!r} of document {name!r} is not an object")
        row = chunk.get("faiss_id")
        if row is not None and (type(row) is not int or not 0 <= row < count):
            raise FormatError(
                f"chunk {key!r} of document {name!r} has faiss_id {row} in an index of {count} vectors"
            )
        start, end = chunk.get("i_start"), chunk.get("i_end")
        if start is None and end is None:
            continue
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise FormatError(f"chunk {key!r} of document {name!r} has no span: {start} to {end}")


_NONE = type(None)
