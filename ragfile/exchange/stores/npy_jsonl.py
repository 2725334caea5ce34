"""A folder of vectors.npy, chunks.jsonl, documents.jsonl and note.json, easy to read in any language."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

import numpy as np

from ragfile.errors import FormatError
from ragfile.exchange.stores import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragfile.exchange.collection import Collection
    from ragfile.types import StrPath


def write(collection: Collection, path: StrPath) -> None:
    """Write the four files."""
    os.makedirs(path, exist_ok=True)
    np.save(os.path.join(path, "vectors.npy"), collection.index.vectors)
    _write_lines(path, "documents", tables.DOCUMENT_COLUMNS, tables.document_rows(collection))
    _write_lines(path, "chunks", tables.CHUNK_COLUMNS, tables.chunk_rows(collection))
    with open(os.path.join(path, "note.json"), "w", encoding="utf-8") as file:
        json.dump(tables.note(collection), file, indent=2)


def read(path: StrPath) -> Collection:
    """Read the four files."""
    vectors = _vectors(os.path.join(path, "vectors.npy"))
    documents = [body for (body,) in _read_lines(path, "documents", "body")]
    chunks = list(_read_lines(path, "chunks", "document_id", "chunk_key"))
    with open(os.path.join(path, "note.json"), encoding="utf-8") as file:
        note = tables.parsed(file.read(), "note.json")
    return tables.collection_of(documents, chunks, vectors, note)


def _vectors(path: str) -> np.ndarray:
    """Return the array of a file, mapped: its header can name more bytes than there are."""
    try:
        return cast("np.ndarray", np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, OverflowError, MemoryError) as error:
        reason = str(error) or "its header is longer than the file"
        raise FormatError(f"{path} has no array of numbers: {reason}") from None


def _write_lines(
    path: StrPath, name: str, columns: Sequence[str], rows: Iterable[Iterable[object]]
) -> None:
    with open(os.path.join(path, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _read_lines(path: StrPath, name: str, *keys: str) -> Iterator[tuple[str, ...]]:
    """Yield the values of these keys from each line."""
    with open(os.path.join(path, f"{name}.jsonl"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{name}.jsonl, line {number}"
            fields = tables.parsed(line, where)
            if missing := [key for key in keys if not isinstance(fields.get(key), str)]:
                raise FormatError(f"{where}: {missing[0]} is missing, or is not text")
            yield tuple(fields[key] for key in keys)
