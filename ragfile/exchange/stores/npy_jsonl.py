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
    documents = [line["body"] for line in _read_lines(path, "documents")]
    chunks = [(line["document_id"], line["chunk_key"]) for line in _read_lines(path, "chunks")]
    with open(os.path.join(path, "note.json"), encoding="utf-8") as file:
        return tables.collection_of(documents, chunks, vectors, json.load(file))


def _write_lines(path, name, columns, rows):
    with open(os.path.join(path, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _read_lines(path, name):
    with open(os.path.join(path, f"{name}.jsonl"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise FormatError(f"{name}.jsonl, line {number}: {error}") from None
