"""The two canonical blocks that need a store: `index` puts chunks there, `retrieve` gets candidates back.

A store is the path of a .ragfile, or one that is open: for index also a writer, for retrieve only a reader.

    index(chunk(document), "kb.ragfile")      {"inserted": 3, "updated": 0, "unchanged": 0, "deleted": 0, "generation": 1}
    retrieve("how long", Plan(k=5), "kb.ragfile")
"""

import os

import numpy as np

from .editing import Editor
from .embedding import embedded, open_embedder
from .errors import ModelError
from .opening import open as open_file
from .records import Candidate, Chunk, Plan
from .searching import KnowledgeBase
from .writing import Writer, create


def index(chunks, store) -> dict:
    """Upserts chunks by (doc_id, chunk_index), and says how many came, changed and stayed, and which commit holds them.

    Only new texts are embedded: by the store's own model, or the embedded one for a path where no file is yet. Doing it twice
    changes nothing. Chunks that are not named stay; a pair named twice is an error.
    """
    chunks = [Chunk.of(chunk) for chunk in chunks]
    _check_keys(chunks)
    if isinstance(store, Editor):
        counts = _upsert(store, chunks)
        return {**counts, "generation": store._archive.generation + bool(store._staging.documents)}
    if isinstance(store, Writer):
        store.add(chunks)
        return _counts(inserted=len(chunks), generation=1)
    path = store.path if isinstance(store, KnowledgeBase) else os.fspath(store)
    if not os.path.exists(path):
        with create(path, embedder="default") as writer:
            writer.add(chunks)
        return _counts(inserted=len(chunks), generation=1)
    with Editor(path) as editor:
        editor.embedder = _embedder(store, editor)
        counts = _upsert(editor, chunks)
        generation = editor._archive.generation + bool(editor._staging.documents)
    if isinstance(store, KnowledgeBase):
        store.refresh()
    return {**counts, "generation": generation}


def retrieve(query, plan, store) -> list[Candidate]:
    """The candidates that a plan finds, best first, ties by (doc_id, chunk_index). A plan may be a mapping; None is the default."""
    plan = plan if isinstance(plan, Plan) else Plan(**(plan or {}))
    if not (plan.vector or plan.lexical):
        raise ValueError("a plan asks the vector leg, the lexical one, or both")
    if not isinstance(store, KnowledgeBase):
        with open_file(store) as opened:
            return retrieve(query, plan, opened)
    mode = "hybrid" if plan.vector and plan.lexical else "vector" if plan.vector else "bm25"
    params = {"rrf_k": plan.rrf_k} if plan.fusion == "rrf" else {}
    hits = store.search(
        query, plan.k, mode=mode, where=plan.where, tags_any=plan.tags_any, tags_all=plan.tags_all, pool=plan.pool,
        fusion=(plan.fusion, params),
    )  # fmt: skip
    return [
        Candidate(hit.doc_id, hit.chunk_index, hit.text, hit.score, hit.tags, hit.metadata, hit.start, hit.end)
        for hit in hits
    ]


def _counts(inserted=0, updated=0, unchanged=0, **more):
    return {"inserted": inserted, "updated": updated, "unchanged": unchanged, "deleted": 0, **more}


def _check_keys(chunks):
    seen = set()
    for chunk in chunks:
        key = chunk.doc_id, chunk.chunk_index
        if key in seen:
            raise ValueError(f"chunk {chunk.chunk_index} of {chunk.doc_id!r} is there twice")
        seen.add(key)


def _embedder(store, editor):
    """What makes vectors for a file: the reader's embedder, or the model that the file records, if it can run here."""
    if isinstance(store, KnowledgeBase):
        return store.embedder if store.has_vectors or not len(store) else None
    recorded = editor.record.get("model")
    if not recorded:
        if editor._archive.has_vectors:
            raise ModelError(
                f"{store} has vectors of a model that it does not name: open it with embedder= and pass that"
            )
        return None
    return open_embedder(recorded["spec"], offline=True) if recorded.get("spec") else None


def _upsert(editor, chunks):
    """Documents that change are written again, whole; vectors of texts that stayed are taken over."""
    by_document = {}
    for chunk in chunks:
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    total, fresh = _counts(), []
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
    segment, number = old
    document = editor._archive._document(segment, number)
    first, count = segment.records.document(number)[8:]
    there = {c.chunk_index: (segment.base + first + i, c) for i, c in enumerate(editor._old_chunks(old))}
    changed = [c for c in new if c.chunk_index not in there or not _is_same(document, there[c.chunk_index][1], c)]
    updated = sum(c.chunk_index in there for c in changed)
    counts = _counts(len(changed) - updated, updated, len(new) - len(changed))
    if changed:
        taken = {c.chunk_index for c in changed}
        kept = [_own(document, c) for i, (_, c) in there.items() if i not in taken]
        merged = kept + [_placed(document, c) for c in changed]
        vectors = _vectors(editor, there, merged, segment.vectors() is not None or not count)
        editor._remove(segment, number)
        editor.add_document(document, merged, vectors, has_text=bool(document.text))
        editor.report["updated"] += 1
    return counts


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
    return Chunk(chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, own, chunk.start, chunk.end)


def _placed(document, chunk):
    """A chunk without its place where its document's text says something else there."""
    if not document.text or chunk.start < 0 or document.text[chunk.start : chunk.end] == chunk.content:
        return chunk
    return Chunk(chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, chunk.metadata)


def _vectors(editor, there, chunks, has_vectors):
    """One vector a chunk: the stored one where the text stayed, else a new one; None for a store of words only."""
    if not has_vectors or (editor.embedder is None and not editor._archive.has_vectors):
        return None
    stored = {chunk.content: editor._archive.vector(row) for row, chunk in there.values()}
    new = list(dict.fromkeys(c.content for c in chunks if c.content not in stored))
    if new and editor.embedder is None:
        raise ModelError(f"{editor._archive.path} has vectors: new texts need its embedder")
    made = dict(zip(new, embedded(editor.embedder, new, "document"), strict=True)) if new else {}
    return np.array([stored[c.content] if c.content in stored else made[c.content] for c in chunks], dtype=np.float32)
