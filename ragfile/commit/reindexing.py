"""Bringing documents up to the file's policy and model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.commit.editing import BATCH, Editor
from ragfile.commit.history import stale_in
from ragfile.commit.writing import fusion_record, model_record
from ragfile.embedding.context import Context
from ragfile.embedding.protocol import open_embedder
from ragfile.errors import CorruptError
from ragfile.records import Segment

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Embedder
    from ragfile.ingest.chunking import Policy
    from ragfile.types import Fields, StrPath


def reindex(
    path: StrPath, *, chunking: Policy | str | Fields | None = None, embedder: str | Embedder | None = None,
    message: str = "", created: int | None = None, embedding_cache: StrPath | bool | None = None,
) -> dict[str, int]:  # fmt: skip
    """Cuts stale documents again from the texts that the file holds, and embeds what is new; with another embedder, everything.

    One commit. Returns {"recut": documents, "embedded": chunks}. Pages, slides and rows are known by their chunks alone: a sync
    with the sources is more exact.
    """
    spec, made = (
        embedder if isinstance(embedder, str) else None,
        open_embedder(embedder, cache=embedding_cache),
    )
    options = {
        "chunking": chunking,
        "message": message,
        "created": created,
        "embedding_cache": embedding_cache,
    }
    with _Reindexer(path, made, spec, **options) as writer:
        return writer.run()


class _Reindexer(Editor):
    """An edit that may change the model, for it leaves no vector of the old one."""

    def __init__(self, path, embedder, spec, **options):
        super().__init__(path, embedder=embedder, **options)
        if self._is_new_model:
            self.record |= {
                "model": model_record(embedder, spec),
                "fusion": fusion_record(embedder),
                **Context.for_embedder(embedder).record(),
            }
            self.context = Context.recorded(self.record)
            self._staging.dim, self._is_changed = embedder.model.dims, True

    def _fitting(self, embedder):
        recorded = self._archive.config.get("model") or {}
        self._is_new_model = embedder is not None and (
            embedder.model.name != recorded.get("name")
            or Context.for_embedder(embedder) != Context.recorded(self._archive.config)
        )
        return embedder if self._is_new_model else super()._fitting(embedder)

    def _check_vectors(self):
        if not self._is_new_model:
            super()._check_vectors()

    def _vectors_for(self, old, document, chunks):
        if self._is_new_model:
            return None
        return super()._vectors_for(old, document, chunks)

    def run(self):
        wanted = stale_in(self._archive, self.policy)
        for doc_id in wanted:
            if (old := self._take(doc_id)) is None:
                raise CorruptError(f"document {doc_id!r} is not found by its id", section="rag.ids")
            self._cut_again(old)
        if self._is_new_model:
            self._embed_the_rest()
        return {"recut": len(wanted), "embedded": self.embedded}

    def _cut_again(self, old):
        document = old.read()
        document.segments = tuple(_parts(document, self._old_chunks(old)))
        self.upsert([document])

    def _embed_the_rest(self):
        """Documents go over as they are, also those without chunks: no segment of the old model stays."""
        waiting = []
        for segment in self._archive.segments:
            for there in segment.live_documents():
                old = self._take(there.id)
                if old is None:
                    continue
                waiting += self._old_keys(old)
                self._carried.add(self._carry(old))
                if len(waiting) >= BATCH:
                    waiting = self._flush(waiting)
        self._flush(waiting)

    def _carry(self, old):
        self._staging.carry(*old)
        self._remove(*old)
        return old.id

    def _flush(self, texts):
        if texts:
            self._staging.add_vectors(self._embed(texts), len(texts))
        return []


def _parts(document, chunks):
    """The pages, slides or rows of a document, as far as its chunks tell: runs with the same metadata of their own."""
    parts = []
    for chunk in chunks:
        own = {
            k: v
            for k, v in chunk.metadata.items()
            if k != "headers" and (k, v) not in document.metadata.items()
        }
        if chunk.start < 0:
            continue
        if parts and parts[-1].metadata == own:
            parts[-1].end = max(parts[-1].end, chunk.end)
        else:
            parts.append(Segment(chunk.start, chunk.end, own))
    return parts if any(part.metadata for part in parts) else []
