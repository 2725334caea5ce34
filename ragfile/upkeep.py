"""What a file says of its own past, and bringing documents up to the file's policy and model: log, stale, reindex."""

import os

from . import _core, remote
from .addresses import is_remote
from .archive import Archive
from .chunking import Policy
from .editing import BATCH, Editor
from .embedding import open_embedder
from .errors import CorruptError
from .records import Segment
from .writing import fusion_record, model_record


def log(path, *, cache=None):
    """Every commit that can still be opened, newest first: generation, created (ns since 1970, 0 = not recorded), message,
    chunks that were live, chunks it added, chunks it deleted, and the bytes that the file had."""
    mapped = remote.mapped(path, cache) if is_remote(path) else _core.Map(os.fspath(path))
    newest = _core.Reader(mapped)
    commits, before = [], 0
    for generation in range(1, newest.commit["generation"] + 1):
        reader = newest if generation == newest.commit["generation"] else _core.Reader(mapped, generation)
        commit, segments = reader.commit, reader.segments
        live, added = sum(s[2] for s in segments), sum(s[1] for s in segments if s[3] == generation)
        told = {name: commit[name] for name in ("generation", "created", "message")}
        commits.append(
            {**told, "chunks": live, "added": added, "deleted": before + added - live, "size": commit["end"]}
        )
        before = live
    return commits[::-1]


def stale(path, *, chunking=None, embedder=None):
    """{document id: reason} of the documents that were cut by another policy, or embedded by another model, than the file's.

    With chunking or embedder: than those.
    """
    with Archive(path) as archive:
        return stale_in(archive, chunking, embedder)


def stale_in(archive, chunking=None, embedder=None):
    """As stale, of an open file."""
    recorded = archive.config.get("chunking")
    wanted = recorded if chunking is None else Policy.of(chunking).record()
    listed = {doc_id: entry["chunking"] for entry in archive.stale_records for doc_id in entry["documents"]}
    model, other = (archive.config.get("model") or {}).get("name"), open_embedder(embedder)
    found = {}
    for segment in archive._segments:
        for number in segment.live_documents():
            document = segment.records.document(number)
            policy, reasons = listed.get(document[0], recorded), []
            if policy != wanted and document[5]:
                reasons.append(f"cut by {_shown(policy)}, not {_shown(wanted)}")
            if other is not None and other.model.name != model and document[9]:
                reasons.append(f"embedded by {model}, not {other.model.name}")
            if reasons:
                found[document[0]] = "; ".join(reasons)
    return found


def _shown(policy):
    return "no known policy" if not policy else f"{policy.get('kind')}:{policy.get('size')}/{policy.get('overlap')}"


def reindex(path, *, chunking=None, embedder=None, message="", created=None, embedding_cache=None):
    """Cuts stale documents again from the texts that the file holds, and embeds what is new; with another embedder, everything.

    One commit. Returns {"recut": documents, "embedded": chunks}. Pages, slides and rows are known by their chunks alone: a sync
    with the sources is more exact.
    """
    spec, made = embedder if isinstance(embedder, str) else None, open_embedder(embedder, cache=embedding_cache)
    options = {"chunking": chunking, "message": message, "created": created, "embedding_cache": embedding_cache}
    with _Reindexer(path, made, spec, **options) as writer:
        return writer.run()


class _Reindexer(Editor):
    """An edit that may change the model, for it leaves no vector of the old one."""

    def __init__(self, path, embedder, spec, **options):
        super().__init__(path, embedder=embedder, **options)
        if self._is_new_model:
            self.record |= {"model": model_record(embedder, spec), "fusion": fusion_record(embedder)}
            self._staging.dim, self._is_changed = embedder.model.dims, True

    def _fitting(self, embedder):
        recorded = self._archive.config.get("model") or {}
        self._is_new_model = embedder is not None and embedder.model.name != recorded.get("name")
        return embedder if self._is_new_model else super()._fitting(embedder)

    def _check_vectors(self):
        if not self._is_new_model:
            super()._check_vectors()

    def _vectors_for(self, old, chunks):
        return None if self._is_new_model else super()._vectors_for(old, chunks)

    def run(self):
        wanted = stale_in(self._archive, self.policy)
        for doc_id in wanted:
            if (old := self._take(doc_id)) is None:
                raise CorruptError(f"document {doc_id!r} is not found by its id", section="rag.ids")
            self._cut_again(*old)
        if self._is_new_model:
            self._embed_the_rest()
        return {"recut": len(wanted), "embedded": self.embedded}

    def _cut_again(self, segment, number):
        document = self._archive._document(segment, number)
        document.segments = tuple(_parts(document, self._old_chunks((segment, number))))
        self.upsert([document])

    def _embed_the_rest(self):
        """Documents go over as they are, also those without chunks: no segment of the old model stays."""
        waiting = []
        for segment in self._archive._segments:
            for number in segment.live_documents():
                old = self._take(segment.records.document(number)[0])
                if old is None:
                    continue
                waiting += [chunk.content for chunk in self._old_chunks(old)]
                self._carried.add(self._carry(*old))
                if len(waiting) >= BATCH:
                    waiting = self._flush(waiting)
        self._flush(waiting)

    def _carry(self, segment, number):
        self._staging.carry(segment, number)
        self._remove(segment, number)
        return segment.records.document(number)[0]

    def _flush(self, texts):
        if texts:
            self._staging.add_vectors(self._embed(texts), len(texts))
        return []


def _parts(document, chunks):
    """The pages, slides or rows of a document, as far as its chunks tell: runs with the same metadata of their own."""
    parts = []
    for chunk in chunks:
        own = {k: v for k, v in chunk.metadata.items() if k != "headers" and (k, v) not in document.metadata.items()}
        if chunk.start < 0:
            continue
        if parts and parts[-1].metadata == own:
            parts[-1].end = max(parts[-1].end, chunk.end)
        else:
            parts.append(Segment(chunk.start, chunk.end, own))
    return parts if any(part.metadata for part in parts) else []
