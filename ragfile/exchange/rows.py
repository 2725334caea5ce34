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
        title = (document.get("content") or {}).get("title")
        yield Passage(
            ref["document_id"],
            ref["chunk_key"],
            collection.text(row) or "",
            row,
            document.get("source") or "",
            title if isinstance(title, str) else "",
            chunk.get("i_start"),
            chunk.get("i_end"),
            document.get("metadata") or {},
        )


def gathered(found, vectors, *, model_name=None, metric="ip"):
    """Passages with their vectors as documents: each text is a field of its document, named by its
    chunk key.

    A chunk key that a document has already gets a number.
    """
    refs, documents = [], {}
    for row, passage in enumerate(found):
        document = documents.setdefault(passage.document_id, _document(passage))
        key, number = passage.chunk_key, 2
        while key in document["content"]:
            key, number = f"{passage.chunk_key} ({number})", number + 1
        document["content"][key] = passage.text
        document["chunks"][key] = {"i_start": None, "i_end": None, "faiss_id": row}
        refs.append({"document_id": passage.document_id, "chunk_key": key})
    return Collection(Index.of(vectors, metric), refs, documents, model_name)


def _document(passage):
    content = {"title": passage.title} if passage.title else {}
    held = {"id": passage.document_id, "source": passage.source, "content": content}
    return {**held, "metadata": dict(passage.metadata), "chunks": {}}
