"""The canonical blocks: callable alone, with plain data, which they leave as it is.

chunks = chunk(text, "words:200/40")
counts = index(chunks, "kb.ragfile")
found  = retrieve("how long do pods live", Plan(k=5), "kb.ragfile")
ranked = fuse([vector_candidates, lexical_candidates])
better = rerank("how long do pods live", ranked)
spans = compress("how long do pods live", better)

A store is the path of a .ragfile, or one that is open: for index also a writer, for retrieve only a reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import xxhash

from ragfile.answer.passage_budget import compress
from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError
from ragfile.ingest.chunker import Policy, split
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.records import Candidate, Candidates, Chunk, Document, Plan, Segment
from ragfile.search.fusion import fuse
from ragfile.search.reranker import rerank
from ragfile.text import normalize
from ragfile.types import Fields, StrPath
from ragfile.write.chunk_upsert import counts, upsert
from ragfile.write.editor import Editor
from ragfile.write.fields import to_utf8
from ragfile.write.writer import Writer, create

__all__ = ["chunk", "compress", "fuse", "index", "rerank", "retrieve"]

_GAP = "\n\n"


def chunk(
    text_or_segments: str | Document | Iterable[str | Fields],
    policy: Policy | str | Fields | None = None,
) -> list[Chunk]:
    """Chunks with a stable chunk_index, from a text, a Document, or a list of segments.

    A segment is a text or a mapping with `text` (or `content`) and `metadata`; what else it says, such as
    `page` or `t_start`, is metadata, too. No chunk crosses a segment, but for the policy `joined`, which
    puts whole segments together: {"target_tokens": 200, "overlap_tokens": 40}. Text and segments are normalised first; a Document is taken to be so already. What has no id gets one from its text: the same
    text is the same document, and can be indexed as it is. Metadata is the document's, then the
    segment's, then the chunk's own, the later winning.
    """
    policy = Policy.of(policy)
    document = _document(text_or_segments, " " if policy.kind == "joined" else _GAP)
    if not document.id:
        document = replace(document, id=xxhash.xxh3_128_hexdigest(to_utf8(document.text)))
    chunks = split(document, policy)
    for each in chunks:
        each.metadata = {**document.metadata, **each.metadata}
    return chunks


def _document(value, gap):
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document("", normalize(value).text)
    pieces, segments, at = [], [], 0
    for one in value:
        text, metadata = (one, {}) if isinstance(one, str) else (_content(one), _said(one))
        text = normalize(text).text
        segments.append(Segment(at, at + len(text), metadata))
        pieces.append(text)
        at += len(text) + len(gap)
    return Document("", gap.join(pieces), segments=tuple(segments))


def _content(segment):
    for name in ("text", "content"):
        if name in segment:
            return segment[name]
    raise ValueError("a segment has a text")


def _said(segment):
    """The metadata of a segment: its own, and every key that has no other meaning."""
    known = ("text" if "text" in segment else "content", "metadata")
    more = {name: value for name, value in segment.items() if name not in known}
    return {**more, **(segment.get("metadata") or {})}


def index(
    chunks: Iterable[Chunk | Fields], store: StrPath | KnowledgeBase | Writer | Editor
) -> dict[str, int]:
    """Upserts chunks by (doc_id, chunk_index), and says how many came, changed and stayed, and which commit holds them.

    Only new texts are embedded: by the store's own model, or the embedded one for a path where no file is yet. Doing it twice
    changes nothing. Chunks that are not named stay; a pair named twice is an error.
    """
    chunks = [Chunk.of(chunk) for chunk in chunks]
    _check_keys(chunks)
    if isinstance(store, Editor):
        told = upsert(store, chunks)
        return {**told, "generation": store.generation}
    if isinstance(store, Writer):
        store.add(chunks)
        return counts(inserted=len(chunks), generation=1)
    path = store.path if isinstance(store, KnowledgeBase) else os.fspath(store)
    if not os.path.exists(path):
        with create(path, embedder="default") as writer:
            writer.add(chunks)
        return counts(inserted=len(chunks), generation=1)
    with Editor(path) as editor:
        editor.vectors.embedder = _embedder(store, editor)
        told = upsert(editor, chunks)
        generation = editor.generation
    if isinstance(store, KnowledgeBase):
        store.refresh()
    return {**told, "generation": generation}


def retrieve(query: str, plan: Plan | Fields | None, store: StrPath | KnowledgeBase) -> Candidates:
    """The candidates that a plan finds, best first, ties by (doc_id, chunk_index). A plan may be a mapping; None is the default.

    A plan with one leg that cannot be asked raises ModelError. With both, the other answers alone, and the list's
    `degraded` has the reason.
    """
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
    if hits.degraded and mode != "hybrid":
        raise ModelError(
            f"{store.path}: the plan asks one leg, and it has no answer: {hits.degraded}"
        )
    return Candidates(map(_candidate, hits), degraded=hits.degraded)


def _candidate(hit):
    return Candidate(
        hit.doc_id, hit.chunk_index, hit.text, hit.score, hit.tags, hit.metadata, hit.start, hit.end
    )  # fmt: skip


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
        return store.embedder if store.rows.has_vectors or not len(store) else None
    recorded = editor.archive.config.get("model")
    if not recorded:
        if editor.archive.has_vectors:
            raise ModelError(
                f"{store} has vectors of a model that it does not name: open it with embedder= and pass that"
            )
        return None
    return open_embedder(recorded["spec"], offline=True) if recorded.get("spec") else None
