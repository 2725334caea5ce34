"""Changing a file: one writer, one commit, all or nothing.

A document lies in one segment, whole. Changing it writes it again into the commit's new segment and marks its old rows as
deleted; what did not change is left alone, vectors of chunks whose text stayed are taken over.

A file has one model and one chunk policy. An edit may bring another policy: the documents that it does not touch are then
listed in `rag.stale` until they are cut again. Another model would make vectors that cannot be compared: that is reindex().
"""

from __future__ import annotations

import hashlib
import json
import operator
import time
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.commit.staging import to_utf8
from ragfile.commit.writing import DEFAULT, Writer, creation_time
from ragfile.embedding.cache import Forgetting
from ragfile.embedding.context import NOTHING
from ragfile.embedding.protocol import open_embedder, open_recorded
from ragfile.errors import FormatError, ModelError
from ragfile.ground.urls import refuse_remote
from ragfile.ingest.chunking import Policy, split
from ragfile.records import Chunk, Document
from ragfile.store.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ragfile.embedding.protocol import Embedder
    from ragfile.types import Fields, Rows, StrPath, Vectors, Where

BATCH = 512


def _opened(path):
    """The file with its writer's lock."""
    refuse_remote(path)
    try:
        return _core.Writer.edit(path)
    except FormatError:
        with open(path, "rb") as file:
            if file.read(6).removeprefix(b"\xef\xbb\xbf")[:3] != b"---":
                raise
        raise FormatError(
            f"{path}: a .ragmd is not changed in place: `ragfile convert` it to a .ragfile first"
        ) from None


class Editor(Writer):
    """The next commit of a file; see ragfile.edit()."""

    message: str
    report: dict[str, int]
    deletions: list[dict[str, Any]]
    embedded: int

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
        created: int | None = None, message: str = "", accept_loss: bool = False,
        embedding_cache: StrPath | bool | None = None,
    ) -> None:  # fmt: skip
        file = _opened(path)
        try:
            self._cache, self._forgetting = embedding_cache, Forgetting(embedding_cache)
            self._archive = Archive(path, strict=not accept_loss)
            record = dict(self._archive.config)
            self.policy = Policy.of(_recorded_policy(record) if chunking is None else chunking)
            if chunking is not None:
                record["chunking"] = self.policy.record()
            self._is_changed = record != self._archive.config
            embedder, dim = self._fitting(embedder), record.pop("dim", None)
            analysis = recorded_analysis(self._archive)
        except BaseException:
            file.close()
            raise
        self._begin(
            file,
            {"precision": 32, "metric": "cosine", **record},
            dim,
            embedder,
            analysis,
            _now(created),
        )
        self.message, self._dead, self._gone = message, {}, {}
        self._carried, self._current = set(), set()
        self.report = {"inserted": 0, "updated": 0, "unchanged": 0, "deleted": 0}
        self.deletions, self.embedded = [], 0
        self._made = {}  # vectors of the texts of a batch, while it is written

    def _fitting(self, embedder):
        """The embedder that was given, if the file's vectors are its model's; without one, the recorded model when it is needed."""
        if embedder is None:
            is_empty = not len(self._archive)
            return (
                Recorded(self._archive.config, self._cache)
                if is_empty or self._archive.has_vectors
                else None
            )
        made, recorded = (
            open_embedder(embedder, cache=self._cache),
            self._archive.config.get("model"),
        )
        if made is not None and len(self._archive) and not self._archive.has_vectors:
            raise ModelError(
                f"{self._archive.path} has chunks without vectors: use reindex to give it a model"
            )
        if made is not None and recorded and made.model.name != recorded["name"]:
            raise ModelError(
                f"{self._archive.path} has vectors of {recorded['name']}, not {made.model.name}: use reindex to change the model"
            )
        return made

    def _embed(self, texts):
        """Vectors of chunks by their keys, or None without an embedder. A recorded model is opened here."""
        if not texts:
            return np.empty((0, self._staging.dim or 0), np.float32)
        if isinstance(self.embedder, Recorded):
            self.embedder = self.embedder.open()
        if self.embedder is None:
            return None
        new = [text for text in texts if text not in self._made]
        self.embedded += len(new)
        made = iter(self.context.embed(self.embedder, new) if new else ())
        return np.array(
            [self._made[t] if t in self._made else next(made) for t in texts], dtype=np.float32
        )

    def _add_vectors(self, chunks, vectors, shared=NOTHING):
        if chunks and vectors is None:
            vectors = self._embed([self.context.key(chunk, shared) for chunk in chunks])
        super()._add_vectors(chunks, vectors, shared)
        self._check_vectors()

    def _check_vectors(self):
        """Either every chunk of the file has a vector or none has."""
        if len(self._staging) and not self._staging.vector_rows and self._archive.has_vectors:
            raise ModelError(
                f"{self._archive.path} has vectors, so new chunks need some: give embedder= or vectors="
            )
        if self._staging.vector_rows and len(self._archive) and not self._archive.has_vectors:
            raise ModelError(
                f"{self._archive.path} has chunks without vectors, so new ones cannot have any"
            )

    def _take(self, doc_id):
        """The StoredDocument of a document that this edit has not touched, or None."""
        if doc_id in self._staging.documents:
            return None
        there = self._archive.find(doc_id)
        if there is None or there.number in self._gone.get(there.segment.number, ()):
            return None
        rows = there.rows
        return None if rows and rows.start in self._dead.get(there.segment.number, ()) else there

    def _remove(self, segment, number):
        rows = segment.records.document(number).rows
        if rows:
            self._dead.setdefault(segment.number, set()).update(rows)
        else:
            self._gone.setdefault(segment.number, set()).add(number)

    def add(self, chunks: Iterable[Chunk | Fields], vectors: Vectors | None = None) -> None:
        """Chunks, of new documents or more of old ones."""
        chunks = [Chunk.of(chunk) for chunk in chunks]
        for doc_id in dict.fromkeys(chunk.doc_id for chunk in chunks):
            if (old := self._take(doc_id)) is None:
                self.report["inserted"] += doc_id not in self._staging.documents
                continue
            rows = self._staging.carry(*old)
            self._staging.documents[doc_id].tags = old.read().tags
            if (stored := old.segment.stored_vectors(rows.start, len(rows))) is not None:
                self._staging.carry_vectors(stored)
            self._remove(*old)
            self._carried.add(doc_id)
            self.report["updated"] += 1
        self._staging.add_chunks(chunks)
        self._add_vectors(chunks, vectors)

    def add_documents(
        self, documents: Iterable[Document | Fields], vectors: Vectors | None = None
    ) -> None:
        """New documents; an id that lives already is refused."""
        for document in documents:
            document = Document.of(document)
            if self._take(document.id) is not None:
                raise ValueError(f"document {document.id!r} is in the file already: use upsert")
            super().add_documents([document], vectors)
            self.report["inserted"] += 1

    def upsert(self, documents: Iterable[Document | Fields]) -> None:
        """New documents, and new versions of old ones. Only chunks whose text is new are embedded, those of many documents at once."""
        for batch in _batches((Document.of(document) for document in documents), self.policy):
            plans = [self._planned(document, chunks) for document, chunks in batch]
            new = dict.fromkeys(text for *_, texts in plans for text in texts)
            self._made = (
                {}
                if (made := self._embed(list(new))) is None
                else dict(zip(new, made, strict=True))
            )
            for plan in plans:
                self._carry_out(*plan)
            self._made = {}

    def _planned(self, document, chunks):
        """(document, chunks, was it there, did it change, texts to embed)."""
        old = self._take(document.id)
        if old is None:
            keys = [self.context.key(chunk, document.metadata) for chunk in chunks]
            return document, chunks, False, True, keys
        if self._is_same(old, document, chunks):
            return document, chunks, True, False, []
        known = self._rows_of(old, document, chunks)
        return document, chunks, True, True, [text for text, row in known.items() if row is None]

    def _carry_out(self, document, chunks, was_there, is_changed, _):
        if not was_there:
            super().add_document(document, chunks)
            self.report["inserted"] += 1
        elif is_changed and (old := self._take(document.id)) is not None:
            self._replace(old, document, chunks)
        elif is_changed:
            raise ValueError(f"document {document.id!r} was changed before by this same edit")
        else:
            self._current.add(document.id)
            self.report["unchanged"] += 1

    def replace(self, old_id: str, document: Document | Fields) -> None:
        """A document in the place of another one, which may have another id: what has the same text keeps its vectors."""
        document, old = Document.of(document), self._take(old_id)
        if old is None:
            raise KeyError(old_id)
        if document.id != old_id and self._take(document.id) is not None:
            raise ValueError(f"document {document.id!r} is in the file already")
        self._replace(old, document, split(document, self.policy))

    def _replace(self, old, document, chunks):
        vectors = self._vectors_for(old, document, chunks)
        self._forgetting.note(
            lambda: (
                set(self._old_keys(old)) - {self.context.key(c, document.metadata) for c in chunks}
            )
        )
        self._remove(*old)
        super().add_document(document, chunks, vectors)
        self.report["updated"] += 1

    def _old_chunks(self, old):
        return [self._archive.chunk(row) for row in old.file_rows]

    def _is_same(self, old, document, chunks):
        there = old.read()
        if (there.text, there.source, there.metadata) != (
            document.text,
            document.source,
            document.metadata,
        ):
            return False
        if (there.edits, there.body) != (list(document.edits), document.body):
            return False
        if tuple(there.tags) != tuple(document.tags) or len(old.rows) != len(chunks):
            return False
        cut = (
            (c.chunk_index, c.start, c.end, {**document.metadata, **c.metadata}, tuple(c.tags))
            for c in chunks
        )
        return all(map(operator.eq, cut, self._old_cut(old, there)))

    def _old_cut(self, old, there):
        """What _is_same compares of each old chunk, whose text is that of its span."""
        for row in old.rows:
            chunk = old.segment.records.chunk(row)
            own = old.segment.fields(chunk.meta_at, chunk.meta_size)
            metadata, tags = (
                {**there.metadata, **own.get("metadata", {})},
                tuple(own.get("tags", there.tags)),
            )
            yield chunk.index, *chunk.span, metadata, tags

    def _rows_of(self, old, document, chunks):
        """{key: the old row that has it, or None} of new chunks. One old text is in memory at a time:
        where windows overlap, they are many times their document."""
        known = dict.fromkeys(self.context.key(c, document.metadata) for c in chunks)
        for row, key in zip(old.rows, self._old_keys(old), strict=True):
            if key in known:
                known[key] = row
        return known

    def _old_keys(self, old):
        """What determined the vector of each chunk of a document in the file, one at a time."""
        return (
            self.context.key(chunk) for chunk in (self._archive.chunk(row) for row in old.file_rows)
        )

    def _vectors_for(self, old, document, chunks):
        """Stored vectors where the text stayed, new ones for the rest; None without an embedder or vectors."""
        rows = old.rows
        stored = old.segment.stored_vectors(rows.start, len(rows))
        if stored is None or self.embedder is None:
            return None
        known = self._rows_of(old, document, chunks)
        new = [text for text, row in known.items() if row is None]
        if new and (made := self._embed(new)) is None:
            return None
        fresh = dict(zip(new, made if new else (), strict=True))
        vectors = np.empty((len(chunks), stored.shape[1]), np.float32)
        for i, chunk in enumerate(chunks):
            key = self.context.key(chunk, document.metadata)
            row = known[key]
            vectors[i] = fresh[key] if row is None else stored[row - rows.start]
        return vectors

    def delete(
        self,
        ids: str | Iterable[str] = (),
        *,
        checksums: str | Iterable[str] = (),
        where: Where | Rows | None = None,
    ) -> list[str]:
        """Deletes documents: by id, by the checksum in their metadata, or those of which a chunk passes a filter.

        Returns the ids that were there; `deletions` tells what each of them was.
        """
        wanted = dict.fromkeys([ids] if isinstance(ids, str) else ids)
        wanted.update(dict.fromkeys(self._with_checksum(checksums) if checksums else ()))
        wanted.update(dict.fromkeys(self._passing(where) if where is not None else ()))
        for doc_id in wanted:
            if doc_id in self._staging.documents:
                raise ValueError(f"document {doc_id!r} was added by this same edit")
        found = [
            doc_id
            for doc_id in wanted
            if (old := self._take(doc_id)) is not None and self._delete(old)
        ]
        self.report["deleted"] += len(found)
        return found

    def _delete(self, old):
        document = old.read()
        self.deletions.append(
            {
                "id": document.id, "source": document.source, "chunks": len(old.rows),
                "checksum": document.metadata.get("checksum"), "sha256": hashlib.sha256(to_utf8(document.text)).hexdigest(),
            }
        )  # fmt: skip
        self._forgetting.note(lambda: self._old_keys(old))
        self._remove(*old)
        return True

    def _with_checksum(self, checksums):
        wanted = {checksums} if isinstance(checksums, str) else set(checksums)
        for segment in self._archive.segments:
            for there in segment.live_documents():
                checksum = there.fields.get("metadata", {}).get("checksum")
                if isinstance(checksum, str) and checksum in wanted:
                    yield there.id

    def _passing(self, where):
        for row in np.flatnonzero(self._archive.mask(where)).tolist():
            segment, local = self._archive.place(row)
            if segment.is_live(local):
                yield segment.records.document(segment.records.chunk(local).document).id

    def close(self) -> None:
        """Commits, or does nothing when nothing changed."""
        if self.is_over:
            return
        try:
            stale = self._stale()
            is_stale_changed = stale != self._archive.stale_records
            if (
                self._staging.documents
                or self._dead
                or self._gone
                or self._extra
                or self._is_changed
                or is_stale_changed
            ):
                self._write_segment()
                self._write_tombs()
                self._write_rest()
                if is_stale_changed:
                    self._write_stale(stale)
                if self._archive.section("rag.origin", 0) is not None:
                    # it describes what the file was converted from, which this is no more
                    self._file.drop("rag.origin")
                self._file.commit(self.created, self.message)
                self._forgetting.carry_out()
        finally:
            self.discard()

    def discard(self) -> None:
        super().discard()
        self._archive.close()

    def _stale(self):
        """What rag.stale has to say after this edit: chunk policies, and the documents that are still cut by them."""
        archive, current = self._archive, self.record.get("chunking")
        listed = {i: e["chunking"] for e in archive.stale_records for i in e["documents"]}
        if self._is_changed:
            before = archive.config.get("chunking")
            for segment in archive.segments:
                for record in (there.record for there in segment.live_documents()):
                    if record.has_text:
                        listed.setdefault(record.id, before)
        touched = self._current.union(self._staging.documents) - self._carried
        by_policy = {}
        for doc_id, policy in listed.items():
            is_there = doc_id in self._carried or self._take(doc_id) is not None
            if policy != current and doc_id not in touched and is_there:
                by_policy.setdefault(json.dumps(policy, sort_keys=True), []).append(doc_id)
        return [
            {"chunking": json.loads(p), "documents": sorted(ids, key=to_utf8)}
            for p, ids in sorted(by_policy.items())
        ]

    def _write_stale(self, stale):
        if stale:
            raw = to_utf8(
                json.dumps(stale, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            )
            self._file.add("rag.stale", raw, items=sum(len(entry["documents"]) for entry in stale))
        else:
            self._file.drop("rag.stale")

    def _write_tombs(self):
        for segment in self._archive.segments:
            dead = self._dead.get(segment.number, set())
            if not dead and segment.number not in self._gone:
                continue
            if segment.live == len(dead) and not self._has_empty_documents(segment):
                self._drop_segment(segment)
                continue
            if dead:
                self._write_dead_rows(segment, dead)
            if segment.number in self._gone:
                self._write_gone(segment)

    def _has_empty_documents(self, segment):
        gone = self._gone.get(segment.number, ())
        return any(
            there.number not in gone and not there.rows for there in segment.live_documents()
        )

    def _drop_segment(self, segment):
        for entry in self._archive.entries:
            if entry["segment"] == segment.number:
                self._file.drop(entry["name"], segment.number)
        self._file.forget(segment.number)

    def _write_dead_rows(self, segment, dead):
        bits = np.zeros((segment.rows + 63) // 64 * 64, dtype=bool)
        bits[: segment.rows] = ~segment.live_mask()
        bits[list(dead)] = True
        self._file.add(
            "rag.tombs", np.packbits(bits, bitorder="little"), segment.number, items=int(bits.sum())
        )
        self._file.rows(segment.number, segment.rows, segment.rows - int(bits.sum()))

    def _write_gone(self, segment):
        bits = np.zeros(segment.records.documents, dtype=bool)
        bits[
            [
                n
                for n in range(len(bits))
                if not segment.records.document(n).rows and not segment.document_is_live(n)
            ]
        ] = True
        bits[list(self._gone[segment.number])] = True
        self._file.add(
            "rag.gone", np.packbits(bits, bitorder="little"), segment.number, items=int(bits.sum())
        )


class Recorded:
    """The model that a file records, opened when something has to be embedded: a deletion need not wait for it."""

    def __init__(self, config, cache):
        self.config, self.cache = config, cache

    def open(self):
        return open_recorded(self.config.get("model"), cache=self.cache)


def recorded_analysis(archive):
    """The lexical choices of a file, the defaults for one without rows, None for one that is not to have BM25."""
    if not archive.config.get("bm25", True):
        return None
    return next(
        (s.lexicon.analysis for s in archive.segments if s.section("rag.terms") is not None),
        DEFAULT,
    )


def _batches(documents, policy):
    """[(document, chunks)] lists of some BATCH chunks."""
    batch, count = [], 0
    for document in documents:
        chunks = split(document, policy)
        batch.append((document, chunks))
        count += len(chunks) or 1
        if count >= BATCH:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def _now(created):
    """An edit records when it was made, for the log; SOURCE_DATE_EPOCH or created= say otherwise."""
    return (creation_time() or time.time_ns()) if created is None else created


def _recorded_policy(record):
    recorded = record.get("chunking") or {}
    named = {name: recorded[name] for name in ("kind", "size", "overlap") if name in recorded}
    return {**named, "version": recorded.get("version", 1)} if recorded else {}


def edit(
    path: StrPath, *, embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None,
    created: int | None = None, message: str = "", accept_loss: bool = False,
    embedding_cache: StrPath | bool | None = None,
) -> Editor:  # fmt: skip
    """Starts the next commit of a file; it takes effect when the `with` block ends without an error.

    If the file's newest commit is damaged, the edit is refused, because it would continue from the commit before;
    accept_loss=True does that. message and created (ns since 1970) are for the log.

        with ragfile.edit("kb.ragfile", message="one page less") as writer:
            writer.delete(["old.md"])
    """
    return Editor(
        path, embedder=embedder, chunking=chunking, created=created, message=message, accept_loss=accept_loss,
        embedding_cache=embedding_cache,
    )  # fmt: skip
