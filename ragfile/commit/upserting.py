"""Chunks that replace those with the same document id and index, in an edit."""

from collections.abc import Iterable

from ragfile.commit.editing import Editor, own_fields
from ragfile.records import Chunk, Document
from ragfile.store.row_segment import StoredDocument


def counts(inserted: int = 0, updated: int = 0, unchanged: int = 0, **more: int) -> dict[str, int]:
    return {"inserted": inserted, "updated": updated, "unchanged": unchanged, "deleted": 0, **more}


def upsert(editor: Editor, chunks: Iterable[Chunk]) -> dict[str, int]:
    """Documents that change are written again, whole; texts that stayed keep their vectors."""
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    total, fresh = counts(), []
    for doc_id, new in by_document.items():
        old = editor.take(doc_id)
        if old is None:
            fresh += new
            continue
        for name, count in _replace(editor, old, new).items():
            total[name] += count
    if fresh:
        editor.add(fresh)
    total["inserted"] += len(fresh)
    return total


def _replace(editor: Editor, old: StoredDocument, new: list[Chunk]) -> dict[str, int]:
    document, there = old.read(), {chunk.chunk_index: chunk for chunk in editor.chunks(old)}
    changed = [
        chunk
        for chunk in new
        if chunk.chunk_index not in there or not _is_same(document, there[chunk.chunk_index], chunk)
    ]
    updated = sum(chunk.chunk_index in there for chunk in changed)
    if changed:
        taken = {chunk.chunk_index for chunk in changed}
        merged = [
            own_fields(document, chunk) for index, chunk in there.items() if index not in taken
        ]
        merged += [_placed(document, chunk) for chunk in changed]
        vectors = editor.vectors.reused(old, document, merged)
        editor.rewrite(old, document, merged, vectors, has_text=bool(document.text))
    return counts(len(changed) - updated, updated, len(new) - len(changed))


def _is_same(document: Document, there: Chunk, chunk: Chunk) -> bool:
    return (
        there.content == chunk.content
        and there.metadata == {**document.metadata, **chunk.metadata}
        and tuple(there.tags) == tuple(chunk.tags)
        and (there.start == chunk.start or there.start == -1 == _placed(document, chunk).start)
    )


def _placed(document: Document, chunk: Chunk) -> Chunk:
    """A chunk without its place where its document's text says something else there."""
    start, end = chunk.start, chunk.end
    if not document.text or start < 0 or document.text[start:end] == chunk.content:
        return chunk
    return Chunk(chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, chunk.metadata)
