"""Passages: a collection as a flat list of texts with one vector each, as most stores keep it.

passages(collection)           the passages of a collection, row by row
gathered(passages, vectors)    the collection of such a list
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragfile.exchange.collection import Collection, JsonObject
from ragfile.exchange.faiss.index import Index
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from ragfile.types import Vectors


@dataclass
class Passage:
    """One row. start and end are set when the text is a span of its document's full text."""

    document_id: str
    chunk_key: str
    text: str
    row: int = 0
    source: str = ""
    title: str = ""
    start: int | None = None
    end: int | None = None
    metadata: JsonObject = field(default_factory=lambda: {})


def passages(collection: Collection) -> Iterator[Passage]:
    """Yield every row; rows of deleted documents have an empty text."""
    for row, ref in enumerate(collection.refs):
        document = collection.documents.get(ref["document_id"]) or {}
        chunk = collection.chunk(row) or {}
        metadata = _metadata(document, chunk)
        content: JsonObject = document.get("content") or {}
        title = content.get("title") or metadata.get("title")
        yield Passage(
            ref["document_id"],
            ref["chunk_key"],
            collection.text(row) or "",
            row,
            document.get("source") or "",
            title if isinstance(title, str) else "",
            chunk.get("i_start"),
            chunk.get("i_end"),
            metadata,
        )


def _metadata(document: JsonObject, chunk: JsonObject) -> JsonObject:
    """Merge the metadata of a document and its chunk."""
    both = (document.get("metadata"), chunk.get("metadata"))
    return {key: value for held in both if is_object(held) for key, value in held.items()}


def gathered(
    found: Iterable[Passage], vectors: Vectors, *, model_name: str | None = None,
    metric: str = "ip",
) -> Collection:  # fmt: skip
    """Group passages into documents; each text becomes a field, named by its chunk key.

    A number is appended to chunk keys that repeat within a document. Metadata shared by all passages of
    a document become the document's; the rest stay with the chunk.
    """
    found = list(found)
    refs: list[JsonObject] = []
    documents: dict[str, JsonObject] = {}
    shared = _shared(found)
    for row, passage in enumerate(found):
        common = shared[passage.document_id]
        document = documents.setdefault(passage.document_id, _document(passage, common))
        key, number = passage.chunk_key, 2
        while key in document["content"]:
            key, number = f"{passage.chunk_key} ({number})", number + 1
        document["content"][key] = passage.text
        own = {k: v for k, v in passage.metadata.items() if k not in common}
        entry = {"i_start": None, "i_end": None, "faiss_id": row}
        document["chunks"][key] = entry | ({"metadata": own} if own else {})
        refs.append({"document_id": passage.document_id, "chunk_key": key})
    return Collection(Index.of(vectors, metric), refs, documents, model_name)


def _shared(found: list[Passage]) -> dict[str, JsonObject]:
    """Return the metadata common to all passages of a document, by its id."""
    shared: dict[str, JsonObject] = {}
    for passage in found:
        held = shared.setdefault(passage.document_id, dict(passage.metadata))
        for key in [k for k, v in held.items() if passage.metadata.get(k, ...) != v]:
            del held[key]
    return shared


def _document(passage: Passage, metadata: JsonObject) -> JsonObject:
    content = {"title": passage.title} if passage.title else {}
    held = {"id": passage.document_id, "source": passage.source, "content": content}
    return {**held, "metadata": dict(metadata), "chunks": {}}
