"""Passages: a collection as a flat list of texts with a vector each, which is all that most other
stores know.

passages(collection)           what a store can hold of it, row by row
gathered(passages, vectors)    the collection that such a list describes
"""

from dataclasses import dataclass, field

from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index


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
    metadata: dict = field(default_factory=dict)


def passages(collection):
    """Every row, those of deleted documents too (their text is empty)."""
    for row, ref in enumerate(collection.refs):
        document = collection.documents.get(ref["document_id"]) or {}
        chunk = collection.chunk(row) or {}
        metadata = _metadata(document, chunk)
        title = (document.get("content") or {}).get("title") or metadata.get("title")
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


def _metadata(document, chunk):
    """The document's, with what only the chunk says: its page, its headers."""
    both = (document.get("metadata"), chunk.get("metadata"))
    return {key: value for held in both if isinstance(held, dict) for key, value in held.items()}


def gathered(found, vectors, *, model_name=None, metric="ip"):
    """Passages with their vectors as documents: each text is a field of its document, named by its
    chunk key.

    A chunk key that a document has already gets a number. Metadata that all passages of a document share
    are the document's, and the others the chunk's.
    """
    refs, documents, found = [], {}, list(found)
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


def _shared(found):
    """The metadata that are the same in all passages of a document, by its id."""
    shared: dict[str, dict] = {}
    for passage in found:
        held = shared.setdefault(passage.document_id, dict(passage.metadata))
        for key in [k for k, v in held.items() if passage.metadata.get(k, ...) != v]:
            del held[key]
    return shared


def _document(passage, metadata):
    content = {"title": passage.title} if passage.title else {}
    held = {"id": passage.document_id, "source": passage.source, "content": content}
    return {**held, "metadata": dict(metadata), "chunks": {}}
