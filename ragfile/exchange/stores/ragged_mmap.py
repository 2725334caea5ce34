"""A folder of mmap-ninja maps, which give access to single vectors and texts without loading all."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
from mmap_ninja.ragged import RaggedMmap
from mmap_ninja.string import StringsMmap

from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath

FOLDERS = ("vectors", "texts", "chunks", "documents")


def write(collection: Collection, path: StrPath) -> None:
    """Write the maps and note.json."""
    os.makedirs(path, exist_ok=True)
    rows = list(tables.chunk_rows(collection))
    lists = {
        "texts": [text for *_, text, _, _ in rows],
        "chunks": [json.dumps([name, key]) for _, name, key, *_ in rows],
        "documents": [body for *_, body in tables.document_rows(collection)],
    }
    RaggedMmap.from_lists(
        os.path.join(path, "vectors"), [np.array(row) for row in collection.index.vectors]
    )
    for name, texts in lists.items():
        StringsMmap.from_strings(os.path.join(path, name), texts)
    with open(os.path.join(path, "note.json"), "w", encoding="utf-8") as file:
        json.dump(tables.note(collection), file)


def read(path: StrPath) -> Collection:
    """Read the maps and note.json."""
    vectors = RaggedMmap(os.path.join(path, "vectors"))
    chunks = StringsMmap(os.path.join(path, "chunks"))
    documents = StringsMmap(os.path.join(path, "documents"))
    with open(os.path.join(path, "note.json"), encoding="utf-8") as file:
        note = tables.parsed(file.read(), "note.json")
    rows = np.array([vectors[row] for row in range(len(vectors))], np.float32)
    keys = [json.loads(str(chunks[row])) for row in range(len(chunks))]
    texts = [str(documents[number]) for number in range(len(documents))]
    return tables.collection_of(texts, keys, rows, note)
