"""Upsert chunks: replace those with the same document id and index."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from ragfile import _core
from ragfile.records import Chunk, Document
from ragfile.write.metadata_fields import own_fields, plain_metadata
from ragfile.write.tables import is_table

if TYPE_CHECKING:
    from ragfile.file.row_segment import StoredDocument
    from ragfile.types import Fields, SomeVectors, SparseWeights, Table, Vector
    from ragfile.write.editor import Editor

    Chunks: TypeAlias = Iterable[Chunk | Fields] | Table


class Given(NamedTuple):
    """A chunk of an upsert, with its vector, None for none, or UNMADE."""

    chunk: Chunk
    vector: Vector | Unmade | None


class Unmade:
    """Marks a vector that the embedder has to make."""


UNMADE = Unmade()


def are_chunks(items: Iterable[Document | Chunk | Fields] | Table) -> TypeGuard[Chunks]:
    """Return whether the items of an upsert are chunks: a table, or a list with a chunk first."""
    if is_table(items):
        return True
    first = items[0] if isinstance(items, Sequence) and len(items) else None
    return isinstance(first, Chunk) or (isinstance(first, Mapping) and "doc_id" in first)


def counts(inserted: int = 0, updated: int = 0, unchanged: int = 0, **more: int) -> dict[str, int]:
    """Return a report with these counts."""
    return {"inserted": inserted, "updated": updated, "unchanged": unchanged, "deleted": 0, **more}


def upsert(
    editor: Editor, chunks: Iterable[Chunk], vectors: SomeVectors | None = None
) -> dict[str, int]:  # fmt: skip
    """Write changed documents again as a whole; unchanged texts keep their vectors.

    vectors are the caller's own, None for a chunk without one.
    """
    by_document: dict[str, list[Given]] = {}
    given: Iterable[Vector | Unmade | None] = (
        itertools.repeat(UNMADE) if vectors is None else vectors
    )
    for chunk, vector in zip(chunks, given, strict=vectors is not None):
        by_document.setdefault(chunk.doc_id, []).append(Given(chunk, vector))
    total = counts()
    fresh: list[Given] = []
    for doc_id, new in by_document.items():
        old = editor.take(doc_id)
        if old is None:
            fresh += new
            continue
        for name, count in _replace(editor, old, new).items():
            total[name] += count
    if fresh:
        own = [vector for _, vector in fresh if not isinstance(vector, Unmade)]
        editor.add([chunk for chunk, _ in fresh], None if vectors is None else own)
    total["inserted"] += len(fresh)
    return total


def _replace(editor: Editor, old: StoredDocument, new: list[Given]) -> dict[str, int]:
    document, stored = old.read(), {chunk.chunk_index: chunk for chunk in editor.chunks(old)}
    changed = [
        given for given in new
        if given.chunk.chunk_index not in stored
        or not _is_same(document, stored[given.chunk.chunk_index], given.chunk)
        or not _has_vector(old, given.chunk.chunk_index, given.vector)
    ]  # fmt: skip
    updated = sum(chunk.chunk_index in stored for chunk, _ in changed)
    if changed:
        _rewrite(editor, old, document, stored, changed)
    return counts(len(changed) - updated, updated, len(new) - len(changed))


def _rewrite(
    editor: Editor, old: StoredDocument, document: Document, stored: dict[int, Chunk],
    changed: list[Given],
) -> None:  # fmt: skip
    taken = {chunk.chunk_index for chunk, _ in changed}
    kept = [own_fields(document, chunk) for index, chunk in stored.items() if index not in taken]
    fresh = [_placed(document, chunk) for chunk, _ in changed]
    own = [vector for _, vector in changed if not isinstance(vector, Unmade)]
    vectors: SomeVectors | None
    if not own:
        vectors = editor.vectors.reused(old, document, [*kept, *fresh])
    else:
        vectors = [*(editor.vectors.reused(old, document, kept) or [None] * len(kept)), *own]
    editor.rewrite(old, document, [*kept, *fresh], vectors, has_text=bool(document.text))


def _has_vector(old: StoredDocument, index: int, vector: Vector | Unmade | None) -> bool:
    """Return whether a stored chunk has this vector; without a given one, it has."""
    if isinstance(vector, Unmade):
        return True
    (stored, bare), records = old.vectors, old.segment.records
    at = next(i for i, row in enumerate(old.rows) if records.chunk(row).index == index)
    if vector is None or stored is None or bare[at]:
        return vector is None and bool(bare[at])
    given = np.asarray(vector, dtype=np.float32).astype(stored.dtype)
    kept: np.ndarray = stored[at]
    return given.shape == kept.shape and given.tobytes() == kept.tobytes()


def _is_same(document: Document, old: Chunk, chunk: Chunk) -> bool:
    return (
        old.content == chunk.content
        and old.metadata == {**document.metadata, **plain_metadata(chunk.metadata)}
        and tuple(old.tags) == tuple(chunk.tags)
        and (old.start == chunk.start or old.start == -1 == _placed(document, chunk).start)
        and (chunk.sparse is None or _stored_weights(chunk.sparse) == (old.sparse or {}))
    )


def _stored_weights(weights: SparseWeights) -> dict[str, float]:
    """Return weights as a file stores them."""
    rounded = {term: _core.sparse_rounded(weight) for term, weight in weights.items()}
    return {term: weight for term, weight in rounded.items() if weight}


def _placed(document: Document, chunk: Chunk) -> Chunk:
    """Return a chunk without its span if the document's text differs there."""
    start, end = chunk.start, chunk.end
    if not document.text or start < 0 or document.text[start:end] == chunk.content:
        return chunk
    return replace(chunk, start=-1, end=-1)
