"""A folder of vectors.npy, chunks.jsonl, documents.jsonl and note.json: nothing that two lines of
any language cannot read.
"""

import json
import os

import numpy as np

from ragfile.errors import FormatError
from ragfile.exchange.stores import tables


def write(collection, path):
    os.makedirs(path, exist_ok=True)
    np.save(os.path.join(path, "vectors.npy"), collection.index.vectors)
    _write_lines(path, "documents", tables.DOCUMENT_COLUMNS, tables.document_rows(collection))
    _write_lines(path, "chunks", tables.CHUNK_COLUMNS, tables.chunk_rows(collection))
    with open(os.path.join(path, "note.json"), "w", encoding="utf-8") as file:
        json.dump(tables.note(collection), file, indent=2)


def read(path):
    vectors = np.load(os.path.join(path, "vectors.npy"), allow_pickle=False)
    documents = [body for (body,) in _read_lines(path, "documents", "body")]
    chunks = list(_read_lines(path, "chunks", "document_id", "chunk_key"))
    with open(os.path.join(path, "note.json"), encoding="utf-8") as file:
        note = tables.parsed(file.read(), "note.json")
    return tables.collection_of(documents, chunks, vectors, note)


def _write_lines(path, name, columns, rows):
    with open(os.path.join(path, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _read_lines(path, name, *keys):
    """What the lines of a file say of the keys."""
    with open(os.path.join(path, f"{name}.jsonl"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{name}.jsonl, line {number}"
            said = tables.parsed(line, where)
            if missing := [key for key in keys if not isinstance(said.get(key), str)]:
                raise FormatError(f"{where}: {missing[0]} is missing, or is not text")
            yield tuple(said[key] for key in keys)
