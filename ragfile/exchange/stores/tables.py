"""A collection as two tables and a note, the schema shared by all tabular stores.

documents(id, source, title, body)      body: the whole document as JSON
chunks(row_id, document_id, chunk_key, text, i_start, i_end, embedding)
note(key, value)                        model_name, metric, created_at, updated_at
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection, JsonObject
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.rows import passages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragfile.types import Vectors

DOCUMENT_COLUMNS = ("id", "source", "title", "body")
CHUNK_COLUMNS = ("row_id", "document_id", "chunk_key", "text", "i_start", "i_end")
NOTE_KEYS = ("model_name", "created_at", "updated_at")


class DocumentRow(NamedTuple):
    """A row of the table of documents."""

    id: str
    source: str
    title: str
    body: str


class ChunkRow(NamedTuple):
    """A row of the table of chunks, without its vector."""

    row_id: int
    document_id: str
    chunk_key: str
    text: str
    i_start: int | None
    i_end: int | None


def document_rows(collection: Collection) -> Iterator[DocumentRow]:
    """Yield one row per document, in order, with a body in ASCII, which any store keeps."""
    for name, document in collection.documents.items():
        title = (document.get("content") or {}).get("title")
        yield DocumentRow(
            _clean(name),
            _clean(document.get("source")),
            _clean(title),
            json.dumps({"id": name, **document}),
        )


def chunk_rows(collection: Collection) -> Iterator[ChunkRow]:
    """Yield one row per vector, in order."""
    for p in passages(collection):
        ids = _clean(p.document_id), _clean(p.chunk_key)
        yield ChunkRow(p.row, *ids, _clean(p.text), p.start, p.end)


def note(collection: Collection) -> dict[str, str]:
    """Return the properties of the whole collection, as text."""
    found = {key: getattr(collection, key) for key in NOTE_KEYS}
    return {
        key: value
        for key, value in {**found, "metric": collection.index.metric}.items()
        if value is not None
    }


def collection_of(
    documents: Iterable[str],
    chunks: Iterable[Sequence[str]],
    vectors: Vectors,
    properties: JsonObject,
) -> Collection:
    """Restore a collection from documents' bodies, (document id, chunk key) pairs, vectors and note."""
    held: dict[str, JsonObject] = {}
    for body in documents:
        document = parsed(body, "a document's body")
        if not isinstance(document.get("id"), str):
            raise FormatError("a document's body has no id")
        held[document["id"]] = document
    refs = [{"document_id": name, "chunk_key": key} for name, key in chunks]
    collection = Collection(Index.of(vectors, properties.get("metric", "ip")), refs, held)
    for key in NOTE_KEYS:
        setattr(collection, key, properties.get(key))
    collection.check()
    return collection


def parsed(raw: str | bytes, what: str) -> JsonObject:
    """Return a JSON object, or raise a FormatError that names its place."""
    try:
        found = json.loads(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise FormatError(f"{what} is not a JSON object")
    return found


def _clean(value: object) -> str:
    """Return text that every store accepts: no lone surrogates, no NUL."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
