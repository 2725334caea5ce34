"""Bringing documents up to the file's policy and model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ragfile.embedding.protocol import Embedder, open_embedder
from ragfile.errors import CorruptError
from ragfile.ingest.chunker import Policy
from ragfile.records import Chunk, Document, Segment
from ragfile.types import Fields, StrPath
from ragfile.write.editor import BATCH, Editor
from ragfile.write.history import stale_in
from ragfile.write.writer import fusion_record, model_record


def reindex(
    path: StrPath, *, chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None, message: str = "", created: int | None = None,
    embedding_cache: StrPath | bool | None = None,
) -> dict[str, int]:  # fmt: skip
    """Cuts stale documents again from the texts that the file holds, and embeds what is new.

    With another embedder, everything is embedded. One commit. Returns {"recut": documents,
    "embedded": chunks}. Pages, slides and rows are known by their chunks alone: a sync with the
    sources is more exact.
    """
    spec = embedder if isinstance(embedder, str) else None
    made = open_embedder(embedder, cache=embedding_cache)
    with Editor(
        path, chunking=chunking, message=message, created=created, embedding_cache=embedding_cache
    ) as editor:
        is_new_model = made is not None and _change_model(editor, made, spec)
        recut = _cut_stale(editor)
        if is_new_model:
            _embed_the_rest(editor)
        return {"recut": recut, "embedded": editor.embedded}


def _change_model(editor: Editor, embedder: Embedder, spec: str | None) -> bool:
    """Gives the file another model: no vector of the old one can stay."""
    if not editor.vectors.change_model(embedder):
        return False
    editor.draft.record |= {
        "model": model_record(embedder, spec), "fusion": fusion_record(embedder),
        **editor.vectors.context.record(),
    }  # fmt: skip
    editor.draft.staging.dim = embedder.model.dims
    return True


def _cut_stale(editor: Editor) -> int:
    """Cuts the documents again that another policy has cut. Returns how many."""
    wanted = stale_in(editor.archive, editor.policy)
    for doc_id in wanted:
        if (old := editor.take(doc_id)) is None:
            raise CorruptError(f"document {doc_id!r} is not found by its id", section="rag.ids")
        document = old.read()
        document.segments = tuple(_parts(document, editor.chunks(old)))
        editor.upsert([document])
    return len(wanted)


def _embed_the_rest(editor: Editor) -> None:
    """Carries the other documents over: no segment of the old model stays."""
    waiting: list[Hashable] = []
    for segment in editor.archive.segments:
        for old in segment.live_documents():
            if editor.take(old.id) is None:
                continue
            waiting += editor.vectors.keys(old)
            editor.carry(old, with_vectors=False)
            if len(waiting) >= BATCH:
                _embed(editor, waiting)
                waiting = []
    _embed(editor, waiting)


def _embed(editor: Editor, keys: list[Hashable]) -> None:
    if keys:
        editor.draft.staging.add_vectors(editor.vectors.embed(keys), len(keys))


def _parts(document: Document, chunks: Iterable[Chunk]) -> list[Segment]:
    """The pages, slides or rows of a document, as far as its chunks tell.

    They are runs of chunks with the same metadata of their own.
    """
    parts: list[Segment] = []
    for chunk in chunks:
        if chunk.start < 0:
            continue
        shared = document.metadata.items()
        own = {k: v for k, v in chunk.metadata.items() if k != "headers" and (k, v) not in shared}
        if parts and parts[-1].metadata == own:
            parts[-1].end = max(parts[-1].end, chunk.end)
        else:
            parts.append(Segment(chunk.start, chunk.end, own))
    return parts if any(part.metadata for part in parts) else []
