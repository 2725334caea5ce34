"""The origin: what a collection is made of beyond texts and vectors, so that another store can give
it back whole.

A store that keeps texts and vectors in a way of its own holds three things: each document's text,
each row's vector, and these bytes (JSON in UTF-8, to be compressed by whoever stores them). With
them the collection comes back exactly, and FAISS + JSON or .ragmd written from it byte for byte.

    blob, texts, rows = pack(collection)
    collection = unpack(blob, text_of, vector_of)
"""

import base64
import json

import numpy as np

from ragfile.errors import FormatError, VersionError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index, aligned_bytes
from ragfile.exchange.ragmd.front_matter import Frontmatter

VERSION = 1


def pack(collection):
    """(bytes of the origin, {document_id: text}, {row: (document_id, chunk_index)}).

    texts are the full texts that the store must keep for the origin; one with a lone surrogate
    stays inside. rows names the place of each row that the store keeps: a chunk's position among
    its document's chunks, rows that no chunk claims numbered after them. The vectors of all other
    rows, those of deleted documents, stay inside.
    """
    texts = {
        name: text
        for name, d in collection.documents.items()
        if (text := _portable(d.get("full_text")))
    }
    rows, places = {}, _places(collection)
    for row in range(len(collection)):
        if places[row] is not None:
            rows[row] = places[row]
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
    }
    return json.dumps(held, ensure_ascii=False).encode("utf-8", "backslashreplace"), texts, rows


def read(blob):
    """Return the object of an origin as it is stored."""
    held = json.loads(bytes(blob))
    if not isinstance(held, dict):
        raise FormatError("this origin is not a JSON object")
    if held.get("version") != VERSION:
        raise VersionError(f"this origin is of version {held.get('version')}, not {VERSION}")
    return held


def unpack(blob, text_of, vector_of):
    """The collection again. text_of(document_id) and vector_of(document_id, chunk_index) ask the
    store; a KeyError of theirs means that the store has moved on since, and passes.
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
    collection.sections = [tuple(section) for section in held["sections"]]
    collection.pair = held["pair"]
    collection.index = _unpacked_index(held["index"], _places(collection), vector_of)
    collection.check()
    return collection


def _portable(text):
    try:
        return text if text and text.encode() else None
    except UnicodeEncodeError:
        return None


def _places(collection):
    """For each row its (document_id, chunk_index), or None for a row of a document that is not
    there.
    """
    positions = {
        name: {key: n for n, key in enumerate(d.get("chunks") or {})}
        for name, d in collection.documents.items()
    }
    taken, places, late = set(), [], []
    for row, ref in enumerate(collection.refs):
        name, key = ref["document_id"], ref["chunk_key"]
        chunk = collection.chunk(row)
        claimed = chunk is not None and chunk.get("faiss_id", row) in (row, None)
        place = (name, positions[name][key]) if claimed else None
        if place in taken:
            place = None
        places.append(place)
        taken.add(place)
        if place is None and name in positions:
            late.append(row)
    following = {name: len(keys) for name, keys in positions.items()}
    for row in late:
        name = collection.refs[row]["document_id"]
        places[row] = (name, following[name])
        following[name] += 1
    return places


def _packed_index(index, rows):
    if not index.is_flat:
        return {"whole": base64.b64encode(index.data).decode()}
    loose = {
        row: base64.b64encode(index.vectors[row]).decode()
        for row in range(index.count)
        if row not in rows
    }
    head = bytes(index.data[: index.layout[0]])
    return {"head": base64.b64encode(head).decode(), "loose": loose}


def _unpacked_index(held, places, vector_of):
    if "whole" in held:
        return Index(base64.b64decode(held["whole"], validate=True))
    head = base64.b64decode(held["head"], validate=True)
    loose = {
        int(row): np.frombuffer(base64.b64decode(data), "<f4")
        for row, data in held["loose"].items()
    }
    rows = [loose[row] if row in loose else vector_of(*place) for row, place in enumerate(places)]
    body = np.ascontiguousarray(rows, "<f4").reshape(-1).view(np.uint8)
    data = aligned_bytes(len(head) + len(body))
    data[: len(head)] = np.frombuffer(head, np.uint8)
    data[len(head) :] = body
    return Index(data)
