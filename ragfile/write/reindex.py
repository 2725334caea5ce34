"""Bring documents up to date with the file's chunk policy and model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ragfile.embedding.protocol import Embedder, open_embedder
from ragfile.errors import CorruptError
from ragfile.ingest.bundles import is_reserved
from ragfile.ingest.chunker import Policy
from ragfile.records import Chunk, Document, Segment
from ragfile.types import Fields, StrPath
from ragfile.write.editor import BATCH, Editor
from ragfile.write.history import stale_in
from ragfile.write.writer import fusion_record, model_record


def reindex(
    path: StrPath, *, chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None, message: str = "", created: int | None = None,
    embedding_cache: StrPath | bool | None = None, wait: float | None = None,
) -> dict[str, int]:  # fmt: skip
    """Split outdated documents again from their stored text, and embed new chunks.

    All changes are one commit. Pages, slides and rows are known by their chunks alone, so a `sync()`
    with the sources is more exact.

    Args:
        path: The file to update.
        chunking: The new chunk policy. Defaults to the file's own.
        embedder: The new model. If it differs from the file's, every chunk is embedded again.
        message: A message for the log.
        created: Time of the commit in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else the clock.
        embedding_cache: A folder that keeps vectors between runs; True chooses the default folder.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.

    Returns:
        `{"recut": documents split again, "embedded": chunks embedded}`.

    Raises:
        LockedError: Another writer still holds the file, or this thread does.
        ProviderError: An embedding server failed for good.
    """
    spec = embedder if isinstance(embedder, str) else None
    with Editor(
        path,
        chunking=chunking,
        message=message,
        created=created,
        embedding_cache=embedding_cache,
        wait=wait,
    ) as editor:
        # no cache beside an encrypted file, also where RAGFILE_CACHE names one
        made = open_embedder(
            embedder, cache=embedding_cache if editor.draft.file.keys is None else False
        )
        is_new_model = made is not None and _change_model(editor, made, spec)
        recut = _cut_stale(editor)
        if is_new_model:
            _embed_the_rest(editor)
        return {"recut": recut, "embedded": editor.embedded}


def _change_model(editor: Editor, embedder: Embedder, spec: str | None) -> bool:
    """Set another model, and return whether its vectors differ from the stored ones."""
    if not editor.vectors.change_model(embedder):
        return False
    editor.draft.record |= {
        "model": model_record(embedder, spec), "fusion": fusion_record(embedder),
        **editor.vectors.context.record(),
    }  # fmt: skip
    editor.draft.staging.dim = embedder.model.dims
    return True


def _cut_stale(editor: Editor) -> int:
    """Split outdated documents again, and return their number."""
    wanted = stale_in(editor.archive, editor.policy)
    if editor.archive.config.get("selection", {}).get("bundle"):
        wanted = {doc_id: why for doc_id, why in wanted.items() if not is_reserved(doc_id)}
    for doc_id in wanted:
        if (old := editor.take(doc_id)) is None:
            raise CorruptError(f"document {doc_id!r} is not found by its id", section="rag.ids")
        document = old.read()
        document.segments = tuple(_parts(document, editor.chunks(old)))
        editor.upsert([document])
    return len(wanted)


def _embed_the_rest(editor: Editor) -> None:
    """Embed all other documents, so that no segment of the old model remains."""
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
    """Derive the pages, slides or rows of a document from its chunks.

    Each is a run of chunks with the same metadata of their own.
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
