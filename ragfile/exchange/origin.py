"""The origin of a collection: all that it holds beyond texts and vectors.

A store with its own layout keeps three things: each document's text, each row's vector, and the
origin (JSON in UTF-8, which the store compresses). They restore the collection exactly, so that FAISS +
JSON or .ragmd written from it has the original bytes.

    blob, texts, rows = pack(collection)
    collection = unpack(blob, text_of, vector_of)
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.errors import CorruptError, FormatError, VersionError
from ragfile.exchange.collection import Collection, JsonObject, UnknownSection
from ragfile.exchange.faiss.index import Index, aligned_bytes
from ragfile.exchange.ragmd.front_matter import Frontmatter
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragfile.types import Floats

VERSION = 1


class ChunkPlace(NamedTuple):
    """The place of a row: its chunk's position among the chunks of its document.

    Rows that no chunk claims are numbered after the chunks.
    """

    document_id: str
    chunk_index: int


class PackedCollection(NamedTuple):
    """The origin of a collection, and the texts by document id and rows that a store keeps."""

    blob: bytes
    texts: dict[str, str]
    rows: dict[int, ChunkPlace]


def pack(collection: Collection) -> PackedCollection:
    """Split a collection into its origin and the texts and rows that a store keeps.

    Texts with a lone surrogate and the vectors of deleted documents stay inside the origin.
    """
    texts = {
        name: text
        for name, d in collection.documents.items()
        if (text := _portable(d.get("full_text")))
    }
    places = _places(collection)
    rows = {row: place for row, place in enumerate(places) if place is not None}
    held = {
        "version": VERSION,
        "model_name": collection.model_name,
        "created_at": collection.created_at,
        "updated_at": collection.updated_at,
        "index": _packed_index(collection.index, rows),
        "refs": collection.refs,
        "documents": {
            name: {
                key: None if key == "full_text" and name in texts else value
                for key, value in document.items()
            }
            for name, document in collection.documents.items()
        },
        "texts": list(texts),
        "front": collection.front.state() if collection.front else None,
        "sections": collection.sections,
        "pair": collection.pair,
        **({"pairs": collection.pairs} if collection.pairs else {}),
        **({"cosine": True} if collection.is_cosine else {}),
    }
    blob = json.dumps(held, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return PackedCollection(blob, texts, rows)


def read(blob: bytes) -> JsonObject:
    """Return the object of an origin as it is stored."""
    held: object = json.loads(bytes(blob))
    if not is_object(held):
        raise FormatError("this origin is not a JSON object")
    if held.get("version") != VERSION:
        raise VersionError(f"this origin is of version {held.get('version')}, not {VERSION}")
    return held


def unpack(
    blob: bytes, text_of: Callable[[str], str], vector_of: Callable[[str, int], Floats]
) -> Collection:
    """Restore a collection, given functions that return the store's texts and vectors.

    Their KeyError means that the store changed after pack(), and is passed on.
    """
    held = read(blob)
    documents = held["documents"]
    for name in held["texts"]:
        documents[name]["full_text"] = text_of(name)
    empty = Index.of(np.empty((0, 1), np.float32))
    collection = Collection(
        empty, held["refs"], documents, held["model_name"], held["created_at"], held["updated_at"]
    )
    collection.front = Frontmatter(*held["front"]) if held["front"] else None
    collection.sections = [UnknownSection(*section) for section in held["sections"]]
    collection.pair = held["pair"]
    collection.pairs = held.get("pairs", {})
    collection.is_cosine = held.get("cosine", False)
    collection.index = _unpacked_index(held["index"], _places(collection), vector_of)
    collection.check()
    return collection


def _portable(text: str | None) -> str | None:
    try:
        return text if text and text.encode() else None
    except UnicodeEncodeError:
        return None


def _places(collection: Collection) -> list[ChunkPlace | None]:
    """Return the place of each row, None for a row of a missing document."""
    positions = {
        name: {key: n for n, key in enumerate(d.get("chunks") or {})}
        for name, d in collection.documents.items()
    }
    taken: set[ChunkPlace | None] = set()
    places: list[ChunkPlace | None] = []
    late: list[int] = []
    for row, ref in enumerate(collection.refs):
        name, key = ref["document_id"], ref["chunk_key"]
        chunk = collection.chunk(row)
        claimed = chunk is not None and chunk.get("faiss_id", row) in (row, None)
        place = ChunkPlace(name, positions[name][key]) if claimed else None
        if place in taken:
            place = None
        places.append(place)
        taken.add(place)
        if place is None and name in positions:
            late.append(row)
    following = {name: len(keys) for name, keys in positions.items()}
    for row in late:
        name = collection.refs[row]["document_id"]
        places[row] = ChunkPlace(name, following[name])
        following[name] += 1
    return places


def _known(place: ChunkPlace | None) -> ChunkPlace:
    if place is None:
        raise CorruptError("this origin lacks the vector of a deleted document")
    return place


def _packed_index(index: Index, rows: dict[int, ChunkPlace]) -> JsonObject:
    if not index.is_flat:
        return {"whole": base64.b64encode(index.data.data).decode()}
    loose = {
        row: base64.b64encode(index.vectors[row]).decode()
        for row in range(index.count)
        if row not in rows
    }
    head = bytes(index.data[: index.layout[0]])
    return {"head": base64.b64encode(head).decode(), "loose": loose}


def _unpacked_index(
    held: JsonObject, places: list[ChunkPlace | None], vector_of: Callable[[str, int], Floats]
) -> Index:
    if "whole" in held:
        return Index(base64.b64decode(held["whole"], validate=True))
    head = base64.b64decode(held["head"], validate=True)
    loose = {
        int(row): np.frombuffer(base64.b64decode(data), "<f4")
        for row, data in held["loose"].items()
    }
    rows = [
        loose[row] if row in loose else vector_of(*_known(place))
        for row, place in enumerate(places)
    ]
    body = np.ascontiguousarray(rows, "<f4").reshape(-1).view(np.uint8)
    data = aligned_bytes(len(head) + len(body))
    data[: len(head)] = np.frombuffer(head, np.uint8)
    data[len(head) :] = body
    return Index(data)
