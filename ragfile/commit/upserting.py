"""Chunks that replace those with the same document id and index, in an edit."""

import numpy as np

from ragfile.errors import ModelError
from ragfile.records import Chunk


def counts(inserted=0, updated=0, unchanged=0, **more):
    return {"inserted": inserted, "updated": updated, "unchanged": unchanged, "deleted": 0, **more}


def upsert(editor, chunks):
    """Documents that change are written again, whole; vectors of texts that stayed are taken over."""
    by_document = {}
    for chunk in chunks:
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    total, fresh = counts(), []
    for doc_id, new in by_document.items():
        old = editor._take(doc_id)
        if old is None:
            fresh += new
            continue
        for name, count in _replace(editor, old, new).items():
            total[name] += count
    if fresh:
        editor.add(fresh)
    total["inserted"] += len(fresh)
    return total


def _replace(editor, old, new):
    document = old.read()
    chunks = zip(old.file_rows, editor._old_chunks(old), strict=True)
    there = {chunk.chunk_index: (row, chunk) for row, chunk in chunks}
    changed = [
        c
        for c in new
        if c.chunk_index not in there or not _is_same(document, there[c.chunk_index][1], c)
    ]
    updated = sum(c.chunk_index in there for c in changed)
    told = counts(len(changed) - updated, updated, len(new) - len(changed))
    if changed:
        taken = {c.chunk_index for c in changed}
        kept = [_own(document, c) for i, (_, c) in there.items() if i not in taken]
        merged = kept + [_placed(document, c) for c in changed]
        vectors = _vectors(
            editor, document, there, merged, old.segment.vectors() is not None or not old.rows
        )
        editor._remove(*old)
        editor.add_document(document, merged, vectors, has_text=bool(document.text))
        editor.report["updated"] += 1
    return told


def _is_same(document, there, chunk):
    return (
        there.content == chunk.content
        and there.metadata == {**document.metadata, **chunk.metadata}
        and tuple(there.tags) == tuple(chunk.tags)
        and (there.start == chunk.start or there.start == -1 == _placed(document, chunk).start)
    )


def _own(document, chunk):
    """A stored chunk with only the metadata that its document does not say."""
    shared = document.metadata
    own = {k: v for k, v in chunk.metadata.items() if k not in shared or shared[k] != v}
    return Chunk(
        chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, own, chunk.start, chunk.end
    )


def _placed(document, chunk):
    """A chunk without its place where its document's text says something else there."""
    if (
        not document.text
        or chunk.start < 0
        or document.text[chunk.start : chunk.end] == chunk.content
    ):
        return chunk
    return Chunk(chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, chunk.metadata)


def _vectors(editor, document, there, chunks, has_vectors):
    """One vector a chunk: the stored one where the text stayed, else a new one; None for a store of words only."""
    if not has_vectors or (editor.embedder is None and not editor._archive.has_vectors):
        return None
    key = editor.context.key
    stored = {key(chunk): editor._archive.vector(row) for row, chunk in there.values()}
    keys = [key(chunk, document.metadata) for chunk in chunks]
    new = list(dict.fromkeys(k for k in keys if k not in stored))
    if new and editor.embedder is None:
        raise ModelError(f"{editor._archive.path} has vectors: new texts need its embedder")
    made = dict(zip(new, editor.context.embed(editor.embedder, new), strict=True)) if new else {}
    return np.array(
        [stored[k] if k in stored else made[k] for k in keys],
        dtype=np.float32,
    )
