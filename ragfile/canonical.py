"""The canonical blocks: functions on plain data, each usable alone. None modifies its arguments.

    chunks = chunk(text, "words:200/40")
    counts = index(chunks, "kb.ragfile")
    found = retrieve("how long do pods live", Plan(k=5), "kb.ragfile")
    ranked = fuse([vector_candidates, lexical_candidates])
    better = rerank("how long do pods live", ranked)
    spans = compress("how long do pods live", better)

A store is the path of a .ragfile or an open one: a KnowledgeBase, and for index also a Writer or
Editor.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import xxhash

from ragfile.answer.passage_budget import compress
from ragfile.embedding.protocol import Embedder, open_embedder
from ragfile.errors import ModelError
from ragfile.ingest.chunker import Policy, split
from ragfile.knowledge_base import KnowledgeBase
from ragfile.opener import open as open_file
from ragfile.records import Candidate, Candidates, Chunk, Document, Hit, Plan, Segment
from ragfile.search.fusion import fuse
from ragfile.search.reranker import rerank
from ragfile.text import normalize
from ragfile.types import Fields, Metadata, Mode, StrPath
from ragfile.write.chunk_upsert import counts, upsert
from ragfile.write.editor import Editor
from ragfile.write.metadata_fields import to_utf8
from ragfile.write.writer import Writer, create

__all__ = ["chunk", "compress", "fuse", "index", "rerank", "retrieve"]

_GAP = "\n\n"


def chunk(
    text_or_segments: str | Document | Iterable[str | Fields],
    policy: Policy | str | Fields | None = None,
) -> list[Chunk]:
    """Cut a text, a Document or a list of segments into chunks.

    The text of a string or segment is normalised first; that of a Document must be already. A
    document without an id gets a hash of its text, so the same text is always the same document.

    Args:
        text_or_segments: A text, a Document, or segments: strings, or mappings with `text` (or
            `content`) and `metadata`. Other keys of a mapping, such as `page` or `t_start`, become
            metadata as well. No chunk crosses a segment, except under the policy `joined`.
        policy: How to cut: a Policy, a string such as "words:200/40", or a mapping. A mapping with
            `target_tokens` or `overlap_tokens` joins whole segments:
            {"target_tokens": 200, "overlap_tokens": 40}. Default: "markdown".

    Returns:
        The chunks, numbered from 0. A chunk's metadata combines the document's, the segment's and its
        own; the later one wins.

    Raises:
        ValueError: The policy is unknown, or a segment has no text.
    """
    policy = Policy.of(policy)
    document = _document(text_or_segments, " " if policy.kind == "joined" else _GAP)
    if not document.id:
        document = replace(document, id=xxhash.xxh3_128_hexdigest(to_utf8(document.text)))
    chunks = split(document, policy)
    for each in chunks:
        each.metadata = {**document.metadata, **each.metadata}
    return chunks


def _document(value: str | Document | Iterable[str | Fields], gap: str) -> Document:
    """Build a normalised Document; a Document is returned as it is."""
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document("", normalize(value).text)
    pieces: list[str] = []
    segments: list[Segment] = []
    at = 0
    for one in value:
        raw, metadata = (one, {}) if isinstance(one, str) else (_content(one), _metadata(one))
        text = normalize(raw).text
        segments.append(Segment(at, at + len(text), metadata))
        pieces.append(text)
        at += len(text) + len(gap)
    return Document("", gap.join(pieces), segments=tuple(segments))


def _content(segment: Fields) -> str:
    for name in ("text", "content"):
        if name in segment:
            return cast("str", segment[name])
    raise ValueError("a segment needs a text: a string, or a mapping with `text`")


def _metadata(segment: Fields) -> Metadata:
    """Return the metadata of a segment: its own, and every key that has no other meaning."""
    known = ("text" if "text" in segment else "content", "metadata")
    more = {name: value for name, value in segment.items() if name not in known}
    return {**more, **(segment.get("metadata") or {})}


def index(
    chunks: Iterable[Chunk | Fields], store: StrPath | KnowledgeBase | Writer | Editor
) -> dict[str, int]:
    """Write chunks to a store, replacing those with the same doc_id and chunk_index.

    Only texts that are new or changed are embedded, so indexing the same chunks twice changes
    nothing. Chunks of the store that are not named stay.

    Args:
        chunks: Chunks, or mappings with their fields.
        store: A path, or an open store. A path without a file is created with the default embedder; for
            an existing file, the model that it records makes the vectors.

    Returns:
        The numbers of chunks that were inserted, changed and unchanged, and the `generation` of the
        commit that holds them.

    Raises:
        ValueError: Two chunks have the same doc_id and chunk_index.
        ModelError: The file has vectors but does not name the model that made them.
    """
    records = [Chunk.of(chunk) for chunk in chunks]
    _check_keys(records)
    if isinstance(store, Editor):
        report = upsert(store, records)
        return {**report, "generation": store.generation}
    if isinstance(store, Writer):
        store.add(records)
        return counts(inserted=len(records), generation=1)
    path = store.path if isinstance(store, KnowledgeBase) else os.fspath(store)
    if not os.path.exists(path):
        with create(path, embedder="default") as writer:
            writer.add(records)
        return counts(inserted=len(records), generation=1)
    return _edited(path, store, records)


def _edited(path: str, store: StrPath | KnowledgeBase, records: list[Chunk]) -> dict[str, int]:
    """Upsert chunks into an existing file, and let an open reader see them."""
    with Editor(path) as editor:
        editor.vectors.embedder = _embedder(store, editor)
        report = upsert(editor, records)
        generation = editor.generation
    if isinstance(store, KnowledgeBase):
        store.refresh()
    return {**report, "generation": generation}


def retrieve(query: str, plan: Plan | Fields | None, store: StrPath | KnowledgeBase) -> Candidates:
    """Return the candidates that a plan finds, best first.

    Ties are ordered by (doc_id, chunk_index).

    Args:
        query: The question.
        plan: A Plan, a mapping with its fields, or None for the default.
        store: The path of a file, or an open KnowledgeBase.

    Returns:
        The candidates. If only one of the plan's two retrievers can answer, they are its candidates
        alone, and the list's `degraded` has the reason.

    Raises:
        ValueError: The plan names no retriever.
        ModelError: The plan's only retriever cannot answer.
    """
    plan = plan if isinstance(plan, Plan) else Plan(**(plan or {}))
    if not (plan.vector or plan.lexical):
        raise ValueError("a plan needs vector=True, lexical=True, or both")
    if not isinstance(store, KnowledgeBase):
        with open_file(store) as opened:
            return retrieve(query, plan, opened)
    mode: Mode = "hybrid" if plan.vector and plan.lexical else "vector" if plan.vector else "bm25"
    params = {"rrf_k": plan.rrf_k} if plan.fusion == "rrf" else {}
    hits = store.search(
        query, plan.k, mode=mode, where=plan.where, tags_any=plan.tags_any, tags_all=plan.tags_all, pool=plan.pool,
        fusion=(plan.fusion, params),
    )  # fmt: skip
    if hits.degraded and mode != "hybrid":
        raise ModelError(f"{store.path}: the plan's only retriever cannot answer: {hits.degraded}")
    return Candidates(map(_candidate, hits), degraded=hits.degraded)


def _candidate(hit: Hit) -> Candidate:
    return Candidate(
        hit.doc_id, hit.chunk_index, hit.text, hit.score, hit.tags, hit.metadata, hit.start, hit.end
    )  # fmt: skip


def _check_keys(chunks: list[Chunk]) -> None:
    seen: set[tuple[str, int]] = set()
    for chunk in chunks:
        key = chunk.doc_id, chunk.chunk_index
        if key in seen:
            raise ValueError(f"chunk {chunk.chunk_index} of {chunk.doc_id!r} appears twice")
        seen.add(key)


def _embedder(store: StrPath | KnowledgeBase, editor: Editor) -> Embedder | None:
    """Return the open reader's embedder, or the model that a file records if it runs offline."""
    if isinstance(store, KnowledgeBase):
        return store.embedder if store.rows.has_vectors or not len(store) else None
    recorded = editor.archive.config.get("model")
    if not recorded:
        if editor.archive.has_vectors:
            raise ModelError(
                f"{store} has vectors but does not name their model: open it with embedder= and pass the open file"
            )
        return None
    return open_embedder(recorded["spec"], offline=True) if recorded.get("spec") else None
