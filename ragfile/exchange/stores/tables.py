"""A collection as two tables and a note, the schema shared by all tabular stores.

documents(id, source, title, body)      body: the whole document as JSON
chunks(row_id, document_id, chunk_key, text, i_start, i_end, embedding)
note(key, value)                        model_name, metric, created_at, updated_at, kept

`kept` is JSON: the parts of a collection beyond documents and rows, which restore its first format.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection, JsonObject, UnknownSection
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd.front_matter import Frontmatter
from ragfile.exchange.rows import Passage, passages
from ragfile.ground.json_values import is_object

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
        content: JsonObject = document.get("content") or {}
        yield DocumentRow(
            _clean(name),
            _clean(document.get("source")),
            _clean(content.get("title")),
            json.dumps({"id": name, **document}),
        )


def chunk_rows(collection: Collection) -> Iterator[ChunkRow]:
    """Yield one row per vector, in order."""
    for p in passages(collection):
        ids = _clean(p.document_id), _clean(p.chunk_key)
        yield ChunkRow(p.row, *ids, _clean(p.text), p.start, p.end)


def note(collection: Collection) -> dict[str, str]:
    """Return the properties of the whole collection, as text."""
    found = {key: getattr(collection, key) for key in NOTE_KEYS} | {"kept": _kept(collection)}
    return {
        key: value
        for key, value in {**found, "metric": collection.index.metric}.items()
        if value is not None
    }


def _kept(collection: Collection) -> str | None:
    """Return the parts of a collection beyond documents and rows as JSON in ASCII; None without any."""
    held = {
        "front": collection.front.state() if collection.front else None,
        "sections": collection.sections, "pair": collection.pair, "pairs": collection.pairs,
        "cosine": collection.is_cosine,
    }  # fmt: skip
    return json.dumps(held) if any(held.values()) else None


def _put_back(collection: Collection, kept: str) -> None:
    held = parsed(kept, "the note")
    try:
        collection.front = Frontmatter(*held["front"]) if held["front"] else None
        collection.sections = [UnknownSection(*section) for section in held["sections"]]
        collection.pair, collection.pairs = held["pair"], held["pairs"]
        collection.is_cosine = bool(held["cosine"])
    except (KeyError, TypeError) as error:
        raise FormatError(f"the note is malformed: {error!r}") from None


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
    if properties.get("kept"):
        _put_back(collection, properties["kept"])
    collection.check()
    return collection


def whole_note(collection: Collection) -> str:
    """Return JSON that restores a collection from its rows and the documents at first rows."""
    used = {ref["document_id"] for ref in collection.refs}
    rowless = [
        row.body for row in document_rows(collection) if parsed(row.body, "")["id"] not in used
    ]
    order = list(collection.documents)
    held = {"note": note(collection), "rows": len(collection), "order": order, "rowless": rowless}
    return json.dumps(held)


def first_rows(collection: Collection) -> dict[int, str]:
    """Return the body of each document by the first of its rows."""
    found: dict[str, int] = {}
    for row, ref in enumerate(collection.refs):
        found.setdefault(ref["document_id"], row)
    return {
        found[name]: json.dumps({"id": name, **document})
        for name, document in collection.documents.items()
        if name in found
    }


def put_together(
    whole: str, bodies: Iterable[str], found: Sequence[Passage], vectors: Vectors
) -> Collection | None:
    """Return the collection that rows of a store were written from; None if they changed since."""
    try:
        held = parsed(whole, "the note")
        documents = {parsed(body, "")["id"]: body for body in (*bodies, *held["rowless"])}
        listed = [documents[name] for name in held["order"]]
        keys = [(passage.document_id, passage.chunk_key) for passage in found]
        if held["rows"] != len(found):
            return None
        made = collection_of(listed, keys, vectors, held["note"])
    except (FormatError, KeyError, TypeError):
        return None
    same = all((made.text(row) or "") == passage.text for row, passage in enumerate(found))
    return made if same else None


def parsed(raw: str | bytes, what: str) -> JsonObject:
    """Return a JSON object, or raise a FormatError that names its place."""
    try:
        found = json.loads(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from None
    if not is_object(found):
        raise FormatError(f"{what} is not a JSON object")
    return found


def _clean(value: object) -> str:
    """Return text that every store accepts: no lone surrogates, no NUL."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
