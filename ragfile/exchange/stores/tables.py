"""A collection as two tables and a note, the shape that files and databases of tables share.

documents(id, source, title, body)      body: the document as JSON, whole
chunks(row_id, document_id, chunk_key, text, i_start, i_end, embedding)
note(key, value)                        model_name, metric, created_at, updated_at
"""

import json

from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.rows import passages

DOCUMENT_COLUMNS = ("id", "source", "title", "body")
CHUNK_COLUMNS = ("row_id", "document_id", "chunk_key", "text", "i_start", "i_end")
NOTE_KEYS = ("model_name", "created_at", "updated_at")


def document_rows(collection):
    """One tuple per document, in order. The body escapes what is not ASCII, so a lone surrogate
    passes any store.
    """
    for name, document in collection.documents.items():
        title = (document.get("content") or {}).get("title")
        yield (
            _clean(name),
            _clean(document.get("source")),
            _clean(title),
            json.dumps({"id": name, **document}),
        )


def chunk_rows(collection):
    """One tuple per row, without its vector."""
    for p in passages(collection):
        yield p.row, _clean(p.document_id), _clean(p.chunk_key), _clean(p.text), p.start, p.end


def note(collection):
    """What is said once of all, as pairs of text."""
    found = {key: getattr(collection, key) for key in NOTE_KEYS}
    return {
        key: value
        for key, value in {**found, "metric": collection.index.metric}.items()
        if value is not None
    }


def collection_of(documents, chunks, vectors, said):
    """The collection again: rows as above, in row order, and their vectors."""
    held = {}
    for body in documents:
        document = parsed(body, "a document's body")
        if not isinstance(document.get("id"), str):
            raise FormatError("a document's body has no id")
        held[document["id"]] = document
    refs = [{"document_id": name, "chunk_key": key} for name, key in chunks]
    collection = Collection(Index.of(vectors, said.get("metric", "ip")), refs, held)
    for key in NOTE_KEYS:
        setattr(collection, key, said.get(key))
    collection.check()
    return collection


def parsed(raw, what):
    """A JSON object in some text, or a FormatError that says what is none."""
    try:
        found = json.loads(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise FormatError(f"{what} is not a JSON object")
    return found


def _clean(value):
    """Text that every store takes: no lone surrogates, no NUL."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
