"""Chunks that replace those with the same document id and index, in an edit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.records import Chunk, Document
from ragfile.write.fields import own_fields, plain_metadata
from ragfile.write.tables import is_table

if TYPE_CHECKING:
    from ragfile.file.row_segment import StoredDocument
    from ragfile.write.editor import Editor

UNSAID = object()  # in the place of a vector that the embedder is to make


def are_chunks(items: Any) -> bool:
    """Whether what an upsert was given are chunks: tables are; of lists the first item says it."""
    if is_table(items):
        return True
    first = items[0] if isinstance(items, Sequence) and len(items) else None
    return isinstance(first, Chunk) or (isinstance(first, Mapping) and "doc_id" in first)


def counts(inserted: int = 0, updated: int = 0, unchanged: int = 0, **more: int) -> dict[str, int]:
    return {"inserted": inserted, "updated": updated, "unchanged": unchanged, "deleted": 0, **more}


def upsert(
    editor: Editor, chunks: Iterable[Chunk], vectors: Any = None
) -> dict[str, int]:  # fmt: skip
    """Documents that change are written again, whole; texts that stayed keep their vectors.

    vectors are of the caller's own; None among them stands for a chunk that has none.
    """
    by_document: dict[str, list[tuple[Chunk, Any]]] = {}
    given = itertools.repeat(UNSAID) if vectors is None else vectors
    for chunk, vector in zip(chunks, given, strict=vectors is not None):
        by_document.setdefault(chunk.doc_id, []).append((chunk, vector))
    total, fresh = counts(), []
    for doc_id, new in by_document.items():
        old = editor.take(doc_id)
        if old is None:
            fresh += new
            continue
        for name, count in _replace(editor, old, new).items():
            total[name] += count
    if fresh:
        said = [vector for _, vector in fresh]
        editor.add([chunk for chunk, _ in fresh], None if vectors is None else said)
    total["inserted"] += len(fresh)
    return total


def _replace(
    editor: Editor, old: StoredDocument, new: list[tuple[Chunk, Any]]
) -> dict[str, int]:  # fmt: skip
    document, there = old.read(), {chunk.chunk_index: chunk for chunk in editor.chunks(old)}
    changed = [
        (chunk, vector) for chunk, vector in new
        if chunk.chunk_index not in there
        or not _is_same(document, there[chunk.chunk_index], chunk)
        or not _has_vector(old, chunk.chunk_index, vector)
    ]  # fmt: skip
    updated = sum(chunk.chunk_index in there for chunk, _ in changed)
    if changed:
        _rewrite(editor, old, document, there, changed)
    return counts(len(changed) - updated, updated, len(new) - len(changed))


def _rewrite(editor, old, document, there, changed):
    taken = {chunk.chunk_index for chunk, _ in changed}
    kept = [own_fields(document, chunk) for index, chunk in there.items() if index not in taken]
    fresh = [_placed(document, chunk) for chunk, _ in changed]
    if changed[0][1] is UNSAID:
        vectors = editor.vectors.reused(old, document, [*kept, *fresh])
    else:
        stored = editor.vectors.reused(old, document, kept) or [None] * len(kept)
        vectors = [*stored, *(vector for _, vector in changed)]
    editor.rewrite(old, document, [*kept, *fresh], vectors, has_text=bool(document.text))


def _has_vector(old, index, vector):
    """Whether a stored chunk has this vector. Where nobody gave one, the stored one is right."""
    if vector is UNSAID:
        return True
    (stored, bare), records = old.vectors, old.segment.records
    at = next(i for i, row in enumerate(old.rows) if records.chunk(row).index == index)
    if vector is None or bare[at]:
        return vector is None and bool(bare[at])
    given = np.asarray(vector, dtype=np.float32).astype(stored.dtype)
    return given.shape == stored[at].shape and given.tobytes() == stored[at].tobytes()


def _is_same(document: Document, there: Chunk, chunk: Chunk) -> bool:
    return (
        there.content == chunk.content
        and there.metadata == {**document.metadata, **plain_metadata(chunk.metadata)}
        and tuple(there.tags) == tuple(chunk.tags)
        and (there.start == chunk.start or there.start == -1 == _placed(document, chunk).start)
    )


def _placed(document: Document, chunk: Chunk) -> Chunk:
    """A chunk without its place where its document's text says something else there."""
    start, end = chunk.start, chunk.end
    if not document.text or start < 0 or document.text[start:end] == chunk.content:
        return chunk
    return Chunk(chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, chunk.metadata)
