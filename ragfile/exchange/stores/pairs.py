"""Files of format 0.1.0: keyword and embedding pairs.

Contents become documents: each is named by its first keyword, or by a number, and lists all of its
keywords in its metadata. An embedding pair is a chunk with its vector. The collection keeps the
keyword pairs in order and the layout (`pairs`), so that the way back makes an equal file.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile.exchange.collection import Collection, chunk_text
from ragfile.exchange.faiss.index import Index
from ragfile.file.pairs import PairFile
from ragfile.file.pairs_writer import write_pairs
from ragfile.ground.call_site import stack_level
from ragfile.ground.json_values import is_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragfile.exchange.collection import JsonObject
    from ragfile.types import ByteOrder, Padding, PairPrecision, StrPath

RESERVED = "-\0"  # no keyword holds these


class KeywordPair(NamedTuple):
    """A keyword and the document with its content."""

    keyword: str
    document_id: str


def read(path: StrPath, *, dim: int | None = None) -> Collection:
    """Read a file of either byte order and dialect.

    Args:
        path: The file.
        dim: The length of the vectors, for a file that does not record it.
    """
    with PairFile(path, dim=dim) as file:
        contents = _Contents()
        if not {"keyword", "vector"} & set(file.strategies):
            warnings.warn(f"{path} has no pairs", UserWarning, stacklevel=stack_level())
        listed = [contents.named(keyword, text) for keyword, text in file.pairs("keyword")]
        vectors = [(np.array(v, np.float32), text) for v, text in file.pairs("vector")]
        refs = [contents.row(text, row) for row, (_, text) in enumerate(vectors)]
        rows = [vector for vector, _ in vectors]
        if file.precision == 64:
            warnings.warn(
                f"{path}: vectors of 64 bits are rounded to 32",
                UserWarning,
                stacklevel=stack_level(),
            )
        matrix = np.array(rows, np.float32).reshape(len(rows), len(rows[0]) if rows else 1)
        layout = {
            "precision": file.precision or 32, "byteorder": file.byteorder,
            "sorted_keys": "rag.keys" in file.strategies, "keywords": listed,
        }  # fmt: skip
    return Collection(Index.of(matrix), refs, contents.documents, pairs=layout, is_cosine=True)


class _Contents:
    """Documents, one for each distinct content."""

    def __init__(self) -> None:
        self.documents: dict[str, JsonObject] = {}
        self._names: dict[str, str] = {}

    def named(self, keyword: str, text: str) -> KeywordPair:
        """Add a keyword to the document of a content."""
        document = self._document(text, keyword)
        keywords = document["metadata"].setdefault("keywords", [])
        if keyword not in keywords:
            keywords.append(keyword)
        document["chunks"].setdefault("chunk-0", _span(text, None))
        return KeywordPair(keyword, document["id"])

    def row(self, text: str, row: int) -> JsonObject:
        """Add a vector's row to the document of its content, and return its reference."""
        chunks = self._document(text, "")["chunks"]
        free = [key for key, chunk in chunks.items() if chunk["faiss_id"] is None]
        key = free[0] if free else f"chunk-{len(chunks)}"
        chunks[key] = _span(text, row)
        return {"document_id": self._names[text], "chunk_key": key}

    def _document(self, text: str, keyword: str) -> JsonObject:
        if text not in self._names:
            is_free = keyword and keyword not in self.documents
            name = keyword if is_free else f"pair-{len(self.documents)}"
            self._names[text] = name
            self.documents[name] = {"id": name, "full_text": text, "metadata": {}, "chunks": {}}
        return self.documents[self._names[text]]


def _span(text: str, row: int | None) -> JsonObject:
    return {"i_start": 0, "i_end": len(text), "faiss_id": row}


def write(
    collection: Collection, path: StrPath, *, padding: Padding | None = None,
    precision: PairPrecision | None = None, byteorder: ByteOrder | None = None,
) -> None:  # fmt: skip
    """Write a file, with the layout that the collection was read from unless options name another.

    A collection of another origin gives a keyword pair for each keyword in the metadata of a document,
    each of its tags, and its id.
    """
    held = collection.pairs
    rows = enumerate(collection.index.vectors if len(collection) else ())
    write_pairs(
        path,
        _keywords(collection),
        ((vector, collection.text(row) or "") for row, vector in rows),
        padding=padding or 16,
        precision=precision or held.get("precision", 32),
        byteorder=byteorder or held.get("byteorder", "little"),
        sorted_keys=bool(held.get("sorted_keys")),
    )


def _keywords(collection: Collection) -> Iterator[tuple[str, str]]:
    if "keywords" in collection.pairs:
        for keyword, name in collection.pairs["keywords"]:
            if name in collection.documents:
                yield keyword, collection.documents[name].get("full_text") or ""
        return
    lost = 0
    for name, document in collection.documents.items():
        names = _names_of(name, document)
        kept = [each for each in names if not set(RESERVED) & set(each)]
        lost += len(names) - len(kept)
        yield from ((keyword, text) for keyword in kept for text in _texts(document))
    if lost:
        reason = 'contain "-" or NUL, which keywords of format 0.1.0 cannot hold'
        warnings.warn(
            f"{lost} ids, tags and keywords are left out: they {reason}", stacklevel=stack_level()
        )


def _names_of(name: str, document: JsonObject) -> list[str]:
    metadata: JsonObject = document.get("metadata") or {}
    keywords, tags = metadata.get("keywords"), document.get("tags")
    names: list[object] = [*(keywords if is_list(keywords) else ()), *(tags or ()), name]
    return list(dict.fromkeys(str(each) for each in names))


def _texts(document: JsonObject) -> list[str]:
    chunks: JsonObject = document.get("chunks") or {}
    texts = (chunk_text(document, key) for key in chunks)
    return [text for text in texts if text]
