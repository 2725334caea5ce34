"""Changing a file: one writer, one commit, all or nothing; and compaction, which leaves nothing of the past.

A document lies in one segment, whole. Changing it writes it again into the commit's new segment and marks its old rows as
deleted; what did not change is left alone, vectors of chunks whose text stayed are taken over.
"""

import numpy as np

from . import _core
from .archive import Archive
from .chunking import Policy, split
from .embedding import open_embedder
from .records import Chunk, Document
from .writing import DEFAULT, Writer


class Editor(Writer):
    """The next commit of a file; see ragfile.edit()."""

    def __init__(self, path, *, embedder=None, chunking=None, created=None, message="", accept_loss=False):
        file = _core.Writer.edit(path)
        try:
            self._archive = Archive(path, strict=not accept_loss)
            record = dict(self._archive.config)
            self.policy = Policy.of(_recorded_policy(record) if chunking is None else chunking)
            if chunking is not None:
                record["chunking"] = self.policy.record()
        except BaseException:
            file.close()
            raise
        dim = record.pop("dim", None)
        analysis = recorded_analysis(self._archive)
        embedder = open_embedder(embedder)
        self._begin(file, {"precision": 32, "metric": "cosine", **record}, dim, embedder, analysis, created)
        self.message, self._dead, self._gone = message, {}, {}
        self.report = {"inserted": 0, "updated": 0, "unchanged": 0, "deleted": 0}

    def _take(self, doc_id):
        """(segment, number) of a document that this edit has not touched, or None."""
        if doc_id in self._staging.documents:
            return None
        segment, number = self._archive._find(doc_id)
        if segment is None or number in self._gone.get(segment.number, ()):
            return None
        first, rows = segment.records.document(number)[8:]
        return None if rows and first in self._dead.get(segment.number, ()) else (segment, number)

    def _remove(self, segment, number):
        first, rows = segment.records.document(number)[8:]
        if rows:
            self._dead.setdefault(segment.number, set()).update(range(first, first + rows))
        else:
            self._gone.setdefault(segment.number, set()).add(number)

    def add(self, chunks, vectors=None):
        """Chunks, of new documents or more of old ones."""
        chunks = [Chunk.of(chunk) for chunk in chunks]
        for doc_id in dict.fromkeys(chunk.doc_id for chunk in chunks):
            if (old := self._take(doc_id)) is None:
                self.report["inserted"] += doc_id not in self._staging.documents
                continue
            rows = self._staging.carry(*old)
            if (stored := old[0].vectors()) is not None:
                self._staging.carry_vectors(stored[rows.start : rows.stop])
            self._remove(*old)
            self.report["updated"] += 1
        self._staging.add_chunks(chunks)
        self._add_vectors(chunks, vectors)

    def add_documents(self, documents, vectors=None):
        """New documents; an id that lives already is refused."""
        for document in documents:
            document = Document.of(document)
            if self._take(document.id) is not None:
                raise ValueError(f"document {document.id!r} is in the file already: use upsert")
            super().add_documents([document], vectors)
            self.report["inserted"] += 1

    def upsert(self, documents):
        """New documents, and new versions of old ones. Only chunks whose text is new are embedded."""
        for document in documents:
            document = Document.of(document)
            old = self._take(document.id)
            if old is None:
                self.add_documents([document])
                continue
            chunks = split(document, self.policy)
            if self._is_same(old, document, chunks):
                self.report["unchanged"] += 1
                continue
            vectors = self._vectors_for(old, chunks)
            self._remove(*old)
            super().add_document(document, chunks, vectors)
            self.report["updated"] += 1

    def _old_chunks(self, old):
        segment, number = old
        first, rows = segment.records.document(number)[8:]
        return [self._archive.chunk(segment.base + row) for row in range(first, first + rows)]

    def _is_same(self, old, document, chunks):
        there = self._archive._document(*old)
        if (there.text, there.source, there.metadata) != (document.text, document.source, document.metadata):
            return False
        if tuple(there.tags) != tuple(document.tags):
            return False
        cut = [(c.chunk_index, c.start, c.end, {**document.metadata, **c.metadata}, tuple(c.tags)) for c in chunks]
        return cut == [(c.chunk_index, c.start, c.end, c.metadata, tuple(c.tags)) for c in self._old_chunks(old)]

    def _vectors_for(self, old, chunks):
        """Stored vectors where the text stayed, new ones for the rest; None without an embedder or vectors."""
        stored = old[0].vectors()
        if stored is None or self.embedder is None:
            return None
        first = old[0].records.document(old[1])[8]
        known = {c.content: stored[first + i] for i, c in enumerate(self._old_chunks(old))}
        new = [c.content for c in chunks if c.content not in known]
        made = iter(self.embedder.embed(new, role="document") if new else ())
        return np.array([known[c.content] if c.content in known else next(made) for c in chunks], dtype=np.float32)

    def delete(self, ids):
        """Deletes documents. Returns the ids that were there."""
        found = []
        for doc_id in ids:
            if doc_id in self._staging.documents:
                raise ValueError(f"document {doc_id!r} was added by this same edit")
            if (old := self._take(doc_id)) is not None:
                self._remove(*old)
                found.append(doc_id)
        self.report["deleted"] += len(found)
        return found

    def close(self):
        """Commits, or does nothing when nothing changed."""
        try:
            if self._staging.documents or self._dead or self._gone or self._extra:
                self._write_segment()
                self._write_tombs()
                self._write_rest()
                if self._archive.section("rag.origin", 0) is not None:
                    self._file.drop(
                        "rag.origin"
                    )  # it describes what the file was converted from, which this is no more
                self._file.commit(self.created, self.message)
        finally:
            self.discard()

    def _write_tombs(self):
        for segment in self._archive._segments:
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
        return any(n not in gone and not segment.records.document(n)[9] for n in segment.live_documents())

    def _drop_segment(self, segment):
        for entry in self._archive.entries:
            if entry["segment"] == segment.number:
                self._file.drop(entry["name"], segment.number)
        self._file.forget(segment.number)

    def _write_dead_rows(self, segment, dead):
        bits = np.zeros((segment.rows + 63) // 64 * 64, dtype=bool)
        bits[: segment.rows] = ~segment.live_mask()
        bits[list(dead)] = True
        self._file.add("rag.tombs", np.packbits(bits, bitorder="little"), segment.number, items=int(bits.sum()))
        self._file.rows(segment.number, segment.rows, segment.rows - int(bits.sum()))

    def _write_gone(self, segment):
        bits = np.zeros(segment.records.documents, dtype=bool)
        bits[
            [n for n in range(len(bits)) if not segment.records.document(n)[9] and not segment.document_is_live(n)]
        ] = True
        bits[list(self._gone[segment.number])] = True
        self._file.add("rag.gone", np.packbits(bits, bitorder="little"), segment.number, items=int(bits.sum()))


class Compactor(Writer):
    """The live documents of a file as a file of their own."""

    def __init__(self, editor, archive, created):
        record = dict(archive.config)
        dim = record.pop("dim", None)
        self._archive = archive
        analysis = recorded_analysis(archive)
        self._begin(editor.replacement(), {"precision": 32, "metric": "cosine", **record}, dim, None, analysis, created)

    def carry_all(self):
        for segment in self._archive._segments:
            stored = segment.vectors()
            for number in segment.live_documents():
                rows = self._staging.carry(segment, number)
                if stored is not None and len(rows):
                    self._staging.carry_vectors(stored[rows.start : rows.stop])
        for entry in self._archive.entries:
            name, number = entry["name"], entry["segment"]
            known = (name.startswith("rag.") or name in ("vector", "keyword")) and name != "rag.origin"
            if not known and number == 0:
                section = self._archive.section(name, 0)
                section.check()
                self._extra.append((name, bytes(section), entry["items"], entry["flags"]))
            elif not known:
                raise ValueError(f"section {name} belongs to a segment, and nothing here knows how to compact it")


def recorded_analysis(archive):
    """The lexical choices of a file, the defaults for one without rows, None for one that is not to have BM25."""
    if not archive.config.get("bm25", True):
        return None
    return next((s.lexicon.analysis for s in archive._segments if s.section("rag.terms") is not None), DEFAULT)


def _recorded_policy(record):
    recorded = record.get("chunking") or {}
    return {name: recorded[name] for name in ("kind", "size", "overlap") if name in recorded}


def edit(path, **options):
    """The next commit: `with ragfile.edit(path) as w: w.upsert(…); w.delete([…])`.

    A file whose newest commit is damaged is refused, for the edit would go on from the one before: accept_loss=True does so.
    """
    return Editor(path, **options)


def compact(path, *, created=None, accept_loss=False):
    """Writes the live documents as a new first generation and puts it in the file's place. Deleted bytes are gone then."""
    editor = _core.Writer.edit(path)
    try:
        with Archive(path, strict=not accept_loss) as archive, Compactor(editor, archive, created) as fresh:
            fresh.carry_all()
    finally:
        editor.close()
