"""Edit a file: one writer, one commit, all or nothing.

Each document is stored whole, in one segment. A changed document is written again into the commit's new
segment and its old rows are marked as deleted. Chunks with unchanged text keep their vectors.

A file has one model and one chunk policy. After an edit with another policy, `rag.stale` lists the
documents that the edit did not split again. Another model makes vectors that cannot be compared with
the stored ones; only reindex() changes the model.
"""

from __future__ import annotations

import hashlib
import operator
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ragfile import _core
from ragfile.embedding.cache import Forgetting
from ragfile.embedding.protocol import Embedder
from ragfile.errors import CorruptError, VersionError
from ragfile.file.row_segment import RowSegment, StoredDocument
from ragfile.file.section_table import DROPPED_BY_EDITS
from ragfile.ground.encryption_keys import current_key, using_key
from ragfile.ingest.analysis import Analysis
from ragfile.ingest.chunker import VERSION as CHUNK_VERSION
from ragfile.ingest.chunker import Policy, split
from ragfile.layers.agreement import Layer
from ragfile.records import Chunk, Document
from ragfile.search.file_rows import FileRows, rows_over
from ragfile.types import Fields, Metadata, Rows, SomeVectors, StrPath, Table, Tags, Vector, Where
from ragfile.write import old_generations
from ragfile.write.analysis_record import noted_analysis
from ragfile.write.chunk_upsert import are_chunks, upsert
from ragfile.write.deletions import Removals
from ragfile.write.draft import Draft, Transaction, batches, creation_time, numbered
from ragfile.write.edit_vectors import FileVectors
from ragfile.write.file_to_edit import file_to_edit
from ragfile.write.link_sections import given_links
from ragfile.write.metadata_fields import own_fields, plain_metadata, to_utf8
from ragfile.write.segment_merges import SegmentMerge
from ragfile.write.stale_documents import StaleDocuments
from ragfile.write.writer import parity_record

BATCH = 512
PARITY, MERGED = ("rag.parity", "rag.parity.step"), "rag.merged"
LISTED_FROM = 4  # segments; see Editor._is_listed
NUMBER = 2  # the kind of number keys in a column


@dataclass(slots=True)
class Upsert:
    """One document of an upsert, compared with the version in the file."""

    document: Document
    chunks: list[Chunk]
    old: StoredDocument | None
    is_same: bool
    new_keys: list[Hashable]  # of the vectors to make


class Editor(Transaction):
    """The next commit of a file, as `edit()` returns it.

    Use it in a `with` block, which commits, or discards the edit after an exception.

    Attributes:
        archive: The file before the edit.
        view: The rows before the edit as a reader sees them: those of the file and of layers below.
        policy: The chunk policy for added documents.
        report: Number of documents that were `"inserted"`, `"updated"`, `"unchanged"` and `"deleted"`.
        deletions: For each deleted document its `"id"`, `"source"`, `"chunks"`, `"checksum"` and
            the `"sha256"` of its text.
    """

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None,
        chunking: Policy | str | Fields | None = None, created: int | None = None,
        message: str = "", accept_loss: bool = False,
        embedding_cache: StrPath | bool | None = None, wait: float | None = None,
        parity: int | None = None, keep: int | str | None = None, below: Sequence[Layer] = (),
        before: FileRows | None = None,
    ) -> None:  # fmt: skip
        """Start an edit; `edit()` describes the options.

        `below` are layers below the file. `before` are the rows of an earlier edit, whose segments
        are not read again if they are still there.
        """
        wanted: dict[str, Any] = {} if parity is None else {"parity": None, **parity_record(parity)}
        wanted |= {} if keep is None else {"keep": old_generations.checked_keep(keep)}
        self._key = current_key()
        file = file_to_edit(path, wait)
        try:
            embedding_cache = _cache_beside(file, embedding_cache)
            reader = file.take_reader()
            self.archive = rows_over(reader, path, strict=not accept_loss, before=before)
            self.policy = Policy.of(
                _recorded_policy(self.archive) if chunking is None else chunking
            )
            self.view, self.removals = _layered(self.archive, below)
            self.vectors = FileVectors(self.view, embedder, embedding_cache)
            record: dict[str, Any] = {"precision": 32, "metric": "cosine", **self.archive.config}
            if chunking is not None:
                record["chunking"] = self.policy.record()
            record = {name: v for name, v in (record | wanted).items() if name != "parity" or v}
            dim, analysis = record.pop("dim", None), recorded_analysis(self.archive)
            self._forgetting = Forgetting(embedding_cache)
        except BaseException:
            file.close()
            raise
        created = (creation_time() or time.time_ns()) if created is None else created
        self.draft = Draft(
            file, record, dim=dim, analysis=analysis, created=created, embed=self.vectors.embed
        )
        self.draft.staging.is_dim_free = self._is_dim_free
        self.draft.is_lean, self.draft.stored_config = True, self._stored_config()
        self.draft.is_parity_new = record.get("parity") != self.archive.config.get("parity")
        self.message = message
        self.stale = StaleDocuments(self.archive, record.get("chunking"))
        self.report = {"inserted": 0, "updated": 0, "unchanged": 0, "deleted": 0}
        self.deletions: list[dict[str, Any]] = []

    @property
    def embedder(self) -> Embedder | None:
        """The embedder for new chunks, None without one."""
        return self.vectors.embedder

    @property
    def embedded(self) -> int:
        """Number of chunks embedded so far."""
        return self.vectors.embedded

    @property
    def embedding_calls(self) -> int:
        """Number of calls to the embedder so far."""
        return self.vectors.calls

    @property
    def generation(self) -> int:
        """The generation that the file will have, judged by the changes so far."""
        return self.view.generation + bool(self.draft.staging.documents)

    def take(self, doc_id: str) -> StoredDocument | None:
        """Return a visible document, or None if it is absent or changed by this edit."""
        if doc_id in self.draft.staging.documents:
            return None
        old = self.archive.find(doc_id) or self.removals.below(doc_id)
        return None if old is None or old in self.removals else old

    # ------------------------------------------------------------------------------------ adding --

    def add(
        self,
        chunks: Iterable[Chunk | Fields] | Table,
        vectors: SomeVectors | Iterable[Vector | None] | None = None,
        *,
        order: str | None = None,
    ) -> None:
        """Add chunks to new or stored documents; `Writer.add` describes the arguments."""
        batched = batches(chunks, vectors)
        if order is not None:
            batched = numbered(batched, order, self._next(order) + len(self))
        for batch, given in batched:
            self._add_batch(batch, given)

    def _next(self, order: str) -> int:
        """Return the first number above those of the file's chunks."""
        keys = self.view.columns.column(order).keys
        return 1 + max((int(key[1]) for key in keys if key[0] == NUMBER), default=-1)

    def _add_batch(self, chunks: Sequence[Chunk], vectors: SomeVectors | None) -> None:
        for doc_id in dict.fromkeys(chunk.doc_id for chunk in chunks):
            if (old := self.take(doc_id)) is None:
                self.report["inserted"] += doc_id not in self.draft.staging.documents
            else:
                self._reopen(old)
        self.draft.add_chunks(chunks, vectors)
        self.vectors.check(self.draft.staging)

    def _reopen(self, old: StoredDocument) -> None:
        """Carry a stored document over so that more chunks can follow."""
        number = self.carry(old)
        self.draft.staging.say_tags(number, old.fields.get("tags", ()))
        self.report["updated"] += 1

    def carry(self, old: StoredDocument, with_vectors: bool = True) -> int:
        """Move a document unchanged into the new segment, and return its number there."""
        number = self.draft.carry(old, with_vectors)
        self.removals.add(old)
        self.stale.carried.add(old.id)
        return number

    def add_document(
        self, document: Document | Fields, chunks: Sequence[Chunk], vectors: SomeVectors | None = None,
        *, has_text: bool = True,
    ) -> None:  # fmt: skip
        """Add a document that is already split; `Writer.add_document` describes the arguments."""
        self.draft.add_document(Document.of(document), chunks, vectors, has_text)
        self.vectors.check(self.draft.staging)

    def add_documents(
        self, documents: Iterable[Document | Fields], vectors: SomeVectors | None = None
    ) -> None:  # fmt: skip
        """Split new documents into chunks, and add them.

        Args:
            documents: `Document` objects, or mappings with their fields.
            vectors: One vector for each chunk of each document. Made by the embedder if omitted.

        Raises:
            ValueError: The file already has a document with this id.
        """
        for document in map(Document.of, documents):
            if self.take(document.id) is not None:
                raise ValueError(f"document {document.id!r} is in the file already: use upsert")
            self.add_document(document, split(document, self.policy), vectors)
            self.report["inserted"] += 1

    # --------------------------------------------------------------------------------- replacing --

    def upsert(
        self, items: Iterable[Document | Chunk | Fields] | Table,
        vectors: SomeVectors | Iterable[Vector | None] | None = None,
    ) -> None:  # fmt: skip
        """Insert documents or chunks, replacing those that the file already has.

        A document replaces the one with its id as a whole. A chunk replaces the one with its document
        id and index; other chunks stay. Only new text is embedded, in batches across documents.

        Args:
            items: Documents, chunks, mappings with the fields of either, or a table of chunks.
            vectors: One vector a chunk, None for a chunk without one. Only with chunks.

        Raises:
            TypeError: `vectors` was given with documents.
            ValueError: This edit wrote one of the documents before.
            ModelError: New chunks need vectors, and there is no embedder.
        """
        if are_chunks(items):
            for chunks, given in batches(items, vectors):
                upsert(self, chunks, given)
            return
        if vectors is not None:
            raise TypeError("vectors belong to a list of chunks: documents are cut first")
        documents = map(Document.of, cast("Iterable[Document | Fields]", items))
        self.upsert_cut((document, split(document, self.policy)) for document in documents)

    def upsert_cut(self, pairs: Iterable[tuple[Document, list[Chunk]]]) -> None:
        """Upsert documents that are already split into chunks."""
        for batch in _batches(pairs):
            plans = [self._planned(document, chunks) for document, chunks in batch]
            self.vectors.embed_ahead(key for plan in plans for key in plan.new_keys)
            for plan in plans:
                self._carry_out(plan)
            self.vectors.made = {}

    def _refuse_changed(self, doc_id: str) -> None:
        """Raise ValueError for a document that this edit has written: an edit writes it once."""
        if doc_id in self.draft.staging.documents:
            raise ValueError(
                f"document {doc_id!r} was written before by this same edit: end its `with` block, "
                "and change the document in the next one"
            )

    def _planned(self, document: Document, chunks: list[Chunk]) -> Upsert:
        if (old := self.take(document.id)) is None:
            keys = self.vectors.keys_of(document, chunks)
            return Upsert(document, chunks, None, False, keys)
        if is_same(old, document, chunks):
            return Upsert(document, chunks, old, True, [])
        known = self.vectors.rows_of(old, self.vectors.keys_of(document, chunks))
        new = [key for key, row in known.items() if row is None]
        return Upsert(document, chunks, old, False, new)

    def _carry_out(self, plan: Upsert) -> None:
        self._refuse_changed(plan.document.id)
        if plan.old is None:
            self.add_document(plan.document, plan.chunks)
            self.report["inserted"] += 1
        elif plan.is_same:
            self.stale.current.add(plan.document.id)
            self.report["unchanged"] += 1
        else:
            self._replace(plan.old, plan.document, plan.chunks)

    def replace(
        self, old_id: str, document: Document | Fields, chunks: list[Chunk] | None = None
    ) -> None:
        """Replace a document by another, which may have a different id.

        Chunks with the same text keep their vectors.

        Args:
            old_id: The document to replace.
            document: Its replacement.
            chunks: The chunks of the replacement. Split by the file's policy if omitted.

        Raises:
            KeyError: The file has no document `old_id`.
            ValueError: The file already has a document with the new id, or this edit wrote one of them before.
        """
        document = Document.of(document)
        self._refuse_changed(old_id)
        self._refuse_changed(document.id)
        old = self.take(old_id)
        if old is None:
            raise KeyError(old_id)
        if document.id != old_id and self.take(document.id) is not None:
            raise ValueError(f"document {document.id!r} is in the file already")
        self._replace(old, document, split(document, self.policy) if chunks is None else chunks)

    def _replace(self, old: StoredDocument, document: Document, chunks: list[Chunk]) -> None:
        self.rewrite(old, document, chunks, self.vectors.reused(old, document, chunks))
        kept = self.vectors.keys_of(document, chunks)
        self._forgetting.note(lambda: set(self.vectors.keys(old)).difference(kept))

    def keep_given_links(self, old_id: str, new_id: str) -> None:
        """Let the replacement of a document keep the links, sets and features that it was given."""
        old = self.take(old_id)
        if old is not None and (links := given_links(old)) is not None:
            self.draft.staging.brought[new_id] = links

    def rewrite(
        self, old: StoredDocument, document: Document, chunks: Sequence[Chunk], vectors: SomeVectors | None,
        has_text: bool = True,
    ) -> None:  # fmt: skip
        """Replace a stored document by a new version, with vectors for its chunks."""
        self.removals.add(old)
        self.add_document(document, _weighed(old, chunks), vectors, has_text=has_text)
        self.report["updated"] += 1

    def update(
        self, doc_id: str, *, metadata: Metadata | None = None, tags: Tags | None = None,
        source: str | None = None,
    ) -> None:  # fmt: skip
        """Change the metadata, tags or source of a document or chunk; text and vectors stay.

        Args:
            doc_id: The id of a document, or of a chunk (`"document#index"`).
            metadata: The new metadata. Unchanged if omitted.
            tags: The new tags. Unchanged if omitted.
            source: The new source of a document. Unchanged if omitted.

        Raises:
            KeyError: The file has no such document or chunk.
            ValueError: `source` was given for a chunk, or this edit wrote the document before.
        """
        self._refuse_changed(doc_id)
        if (old := self.take(doc_id)) is None:
            self._update_chunk(doc_id, metadata, tags, source)
            return
        document, before = old.read(), old.read()
        document.metadata = before.metadata if metadata is None else metadata
        document.tags = before.tags if tags is None else tuple(tags)
        document.source = before.source if source is None else source
        chunks = [own_fields(before, chunk) for chunk in self.chunks(old)]
        for chunk in chunks:
            chunk.tags = document.tags if tuple(chunk.tags) == before.tags else chunk.tags
        vectors = self.vectors.reused(old, document, chunks)
        self.rewrite(old, document, chunks, vectors, has_text=old.record.has_text)

    def _update_chunk(
        self, chunk_id: str, metadata: Metadata | None, tags: Tags | None, source: str | None
    ) -> None:
        doc_id, _, index = chunk_id.rpartition("#")
        self._refuse_changed(doc_id)
        if (old := self.take(doc_id)) is None:
            raise KeyError(chunk_id)
        document = old.read()
        chunks = [own_fields(document, chunk) for chunk in self.chunks(old)]
        changed = next((chunk for chunk in chunks if str(chunk.chunk_index) == index), None)
        if changed is None:
            raise KeyError(chunk_id)
        if source is not None:
            raise ValueError(f"a source is that of the document {doc_id!r}, not of {chunk_id!r}")
        changed.metadata = changed.metadata if metadata is None else metadata
        changed.tags = changed.tags if tags is None else tuple(tags)
        vectors = self.vectors.reused(old, document, chunks)
        self.rewrite(old, document, chunks, vectors, has_text=old.record.has_text)

    def delete_chunks(self, ids: Iterable[str]) -> list[str]:
        """Delete chunks by id, and return the ids that existed.

        The document keeps its text and its other chunks.

        Args:
            ids: Chunk ids (`"document#index"`), or one of them.
        """
        wanted: dict[str, set[str]] = {}
        for chunk_id in [ids] if isinstance(ids, str) else ids:
            wanted.setdefault(chunk_id.rpartition("#")[0], set()).add(chunk_id)
        return [name for doc_id, some in wanted.items() for name in self._without(doc_id, some)]

    def _without(self, doc_id: str, ids: set[str]) -> list[str]:
        self._refuse_changed(doc_id)
        if (old := self.take(doc_id)) is None:
            return []
        document = old.read()
        named = {f"{doc_id}#{chunk.chunk_index}": chunk for chunk in self.chunks(old)}
        found = sorted(ids & named.keys())
        kept = [own_fields(document, c) for name, c in named.items() if name not in ids]
        if found:
            vectors = self.vectors.reused(old, document, kept)
            self.rewrite(old, document, kept, vectors, has_text=old.record.has_text)
            stay = self.vectors.keys_of(document, kept)
            self._forgetting.note(lambda: set(self.vectors.keys(old)).difference(stay))
        return found

    def chunks(self, old: StoredDocument) -> list[Chunk]:
        """Return the chunks of a stored document, each with the document's metadata merged in."""
        found, text = list(self.archive.chunks_of(old)), old.read().text
        for chunk in found if text else ():
            if chunk.start >= 0 and text[chunk.start : chunk.end] != chunk.content:
                what = f"chunk {chunk.chunk_index} of {old.id!r} is not its stretch of the text"
                raise CorruptError(what, section="rag.chunks")
        return found

    # ---------------------------------------------------------------------------------- deleting --

    def delete(
        self, ids: str | Iterable[str] = (), *, checksums: str | Iterable[str] = (),
        where: Where | Rows | None = None,
    ) -> list[str]:  # fmt: skip
        """Delete documents by id, by checksum, or by a filter, and return the ids that existed.

        Args:
            ids: Document ids, or one of them.
            checksums: Values of the `checksum` field in the documents' metadata, or one of them.
            where: A filter, or rows. A document is deleted if any of its chunks matches.

        Raises:
            ValueError: The filter is empty, or this edit wrote one of the documents before.
        """
        if isinstance(where, Mapping) and not where:
            raise ValueError("an empty filter deletes no document: name a condition")
        wanted = dict.fromkeys([ids] if isinstance(ids, str) else ids)
        wanted.update(dict.fromkeys(self._with_checksum(checksums) if checksums else ()))
        wanted.update(dict.fromkeys(self._passing(where) if where is not None else ()))
        for doc_id in wanted:
            self._refuse_changed(doc_id)
        found = [doc_id for doc_id in wanted if self._delete(self.take(doc_id))]
        self.report["deleted"] += len(found)
        return found

    def _delete(self, old: StoredDocument | None) -> bool:
        if old is None:
            return False
        document = old.read()
        self.deletions.append(
            {
                "id": document.id, "source": document.source, "chunks": len(old.rows),
                "checksum": document.metadata.get("checksum"),
                "sha256": hashlib.sha256(to_utf8(document.text)).hexdigest(),
            }
        )  # fmt: skip
        self._forgetting.note(lambda: self.vectors.keys(old))
        self.removals.add(old)
        return True

    def _with_checksum(self, checksums: str | Iterable[str]) -> Iterator[str]:
        wanted = {checksums} if isinstance(checksums, str) else set(checksums)
        for segment in self.view.segments:
            for old in segment.live_documents():
                checksum = old.fields.get("metadata", {}).get("checksum")
                if isinstance(checksum, str) and checksum in wanted:
                    yield old.id

    def _passing(self, where: Where | Rows) -> Iterator[str]:
        mask = self.view.mask(where)
        for row in () if mask is None else np.flatnonzero(mask).tolist():
            segment, local = self.view.place(row)
            if segment.is_live(local):
                yield segment.document(segment.records.chunk(local).document).id

    # -------------------------------------------------------------------------------- the commit --

    def close(self) -> None:
        """Commit the changes. Writes nothing if there are none."""
        if self.draft.is_over:
            return
        is_committed = False
        try:
            self.removals.note_hidden(self.draft)
            stale = self.stale.remaining(self.take, self.draft.staging.documents)
            if self._is_changed or stale != self.archive.file.stale_records:
                self._write(stale)
                self.draft.commit(self.message)
                is_committed = True
                self._forgetting.carry_out()
        finally:
            self.discard()
        if is_committed:
            keep = old_generations.keep_of(
                self.draft.record, self.archive.snapshot.commit["generation"]
            )
            with using_key(self._key):
                old_generations.bound(self.archive.path, self.archive.snapshot.bytes.size, keep)

    @property
    def _is_changed(self) -> bool:
        record = {**self.draft.record, "dim": self.archive.config.get("dim")}
        recorded = {"precision": 32, "metric": "cosine", "dim": None, **self.archive.config}
        return not self.draft.is_empty or bool(self.removals) or record != recorded

    def _write(self, stale: list[dict[str, Any]]) -> None:
        self.draft.others_have_vectors = self.removals.leave_vectors()
        if not self.draft.staging.vector_rows and self._is_dim_free():
            self.draft.staging.dim = None
        self._note_past()
        signed = self.draft.record.get("signed", 0)
        SegmentMerge(self.archive, self.removals, signed).carry_out(self.draft)
        self.draft.is_listed = self._is_listed()
        self.draft.write_segment()
        self.removals.write(self.draft.file)
        self.draft.others_have_terms = any(
            segment.has("rag.terms") and segment.number not in self.removals.left_out
            for segment in self.archive.segments
        )
        if self.draft.others_have_vectors or self.draft.staging.vector_rows:
            self.removals.mark_bare(self.draft.file)
        self.draft.write_rest()
        self.stale.write(self.draft.file, stale)
        is_protected = "parity" in self.draft.record
        for name in (*DROPPED_BY_EDITS, *(() if is_protected else PARITY)):
            if self.archive.file.reader.has(name):
                self.draft.file.drop(name)
        if self.removals.merged:
            self.draft.file.add(MERGED, b"", items=sum(self.removals.merged.values()))

    def _is_listed(self) -> bool:
        """Return whether the table should have one entry for the new segment.

        Versions without `rag.sections` refuse such a file, so files of few segments have none.
        """
        segments = self.archive.segments
        return len(segments) >= LISTED_FROM or any(
            segment.has("rag.sections") for segment in segments
        )

    def _note_past(self) -> None:
        """Record which old generations the file keeps, and whether the one before was signed."""
        reader, record = self.archive.file.reader, self.draft.record
        if reader.has("rag.signatures"):
            record["signed"] = reader.commit["generation"]
        if reader.commit["generation"] == 1:
            record.setdefault("keep", old_generations.NEWEST)

    def _stored_config(self) -> tuple[bytes, int]:
        """Return rag.config and its offset in the file."""
        section = self.archive.file.section("rag.config", 0)
        if section is None:
            return b"", 0
        return bytes(section), self.archive.file.reader.entry("rag.config", 0)["at"]

    def _is_dim_free(self) -> bool:
        """Return whether the dimension is open: no remaining vector, model or `dim=` fixes it."""
        model: Metadata = self.draft.record.get("model") or {}
        is_new = self.archive.file.reader.commit["generation"] == 1 and not self.archive.count
        return not (model.get("dims") or is_new or self.removals.leave_vectors())

    def discard(self) -> None:
        """Discard uncommitted changes, and release the file."""
        self.draft.discard()
        self.archive.close()


def _weighed(old: StoredDocument, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return the chunks of a new version with the stored weights of terms of unchanged texts."""
    if not old.segment.has("rag.sparse"):
        return chunks
    stored = map(old.segment.chunk, old.rows)
    known = {chunk.content: chunk.sparse for chunk in stored if chunk.sparse}
    return [
        replace(chunk, sparse=known.get(chunk.content)) if chunk.sparse is None else chunk
        for chunk in chunks
    ]


def _layered(archive: FileRows, below: Sequence[Layer]) -> tuple[FileRows, Removals]:
    """Return the rows that a reader of all layers sees, and the deletions of an edit."""
    if not below:
        return archive, Removals(archive)
    from ragfile.layers.layered_rows import rows_of_layers
    from ragfile.write.layer_changes import LayerRemovals

    return rows_of_layers([*below, archive]), LayerRemovals(archive, rows_of_layers(below))


def _recorded_policy(archive: FileRows) -> dict[str, Any]:
    recorded: Metadata = archive.config.get("chunking") or {}
    parts = ("kind", "size", "overlap", "max_chars", "max_unit_tokens")
    named = {name: recorded[name] for name in parts if name in recorded}
    if (version := recorded.get("version", 1)) > CHUNK_VERSION:
        raise VersionError(
            f"{archive.path}: its documents are cut by chunk version {version}, and this ragfile knows"
            f" {CHUNK_VERSION}; update ragfile, or name another policy with chunking="
        )
    return {**named, "version": version} if recorded else {}


def recorded_analysis(archive: FileRows) -> Analysis | None:
    """Return the analysis of a file's BM25 index, None for a file without BM25."""
    if not archive.config.get("bm25", True):
        return None
    # All segments record the same rules. The smallest one is checked fastest.
    smallest = min((s for s in archive.segments if s.has("rag.terms")), key=_rows, default=None)
    return noted_analysis(archive.config) if smallest is None else smallest.lexicon.analysis


def _rows(segment: RowSegment) -> int:
    return segment.rows


def is_same(old: StoredDocument, document: Document, chunks: Sequence[Chunk]) -> bool:
    """Return whether a stored document equals this one and has the same chunks."""
    stored = old.read()
    if len(old.rows) != len(chunks) or _fields(stored) != _fields(document):
        return False
    shared = plain_metadata(document.metadata)
    cut = (
        (c.chunk_index, c.start, c.end, {**shared, **plain_metadata(c.metadata)}, tuple(c.tags))
        for c in chunks
    )
    return all(map(operator.eq, cut, _stored_cut(old, stored)))


def _fields(document: Document) -> tuple[object, ...]:
    return (
        document.text, document.source, plain_metadata(document.metadata), tuple(document.tags),
        list(document.edits), document.body,
    )  # fmt: skip


def _stored_cut(old: StoredDocument, stored: Document) -> Iterator[tuple[object, ...]]:
    """Yield the fields of each stored chunk that is_same compares; the span stands for the text."""
    for row in old.rows:
        chunk = old.segment.records.chunk(row)
        own = old.segment.fields(chunk.meta_at, chunk.meta_size)
        metadata = {**stored.metadata, **own.get("metadata", {})}
        yield chunk.index, *chunk.span, metadata, tuple(own.get("tags", stored.tags))


def _batches(
    pairs: Iterable[tuple[Document, list[Chunk]]],
) -> Iterator[list[tuple[Document, list[Chunk]]]]:
    """Group documents into lists of about BATCH chunks."""
    batch: list[tuple[Document, list[Chunk]]] = []
    count = 0
    for document, chunks in pairs:
        batch.append((document, chunks))
        count += len(chunks) or 1
        if count >= BATCH:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def _cache_beside(
    file: _core.FileWriter, embedding_cache: StrPath | bool | None
) -> StrPath | bool | None:
    """Return the cache of vectors of an edit: none, also by the environment, beside an encrypted file."""
    if file.keys is None:
        return embedding_cache
    if embedding_cache:
        raise ValueError(
            f"{file.path}: an embedding cache is not encrypted: leave out embedding_cache="
        )
    return False
