"""Making a file follow its sources: a plan first, then one commit.

    sync   the file equals the sources: new files come in, changed ones are replaced, those that are gone are removed
    add    as sync, but nothing is removed

What a source is, its bytes decide: a file whose checksum the documents already carry is not read again, whatever its times say.
A document belongs to the source whose id it has (or whose id comes before its "#"); documents that carry no checksum did not come
from files and are left alone. A source that is there and cannot be read keeps the documents that it gave before.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ragfile.embedding.protocol import Embedder
from ragfile.ground.urls import refuse_remote
from ragfile.ingest.chunker import Policy
from ragfile.ingest.document_loader import Limits, Loading, SourceFailure
from ragfile.ingest.source_files import Selection, Skipped, expanded, find
from ragfile.search.file_rows import rows_of
from ragfile.types import Errors, Fields, Metadata, Progress, Sources, StrPath, Tags
from ragfile.write.editor import Editor
from ragfile.write.history import stale_in

PENDING = 256  # documents that wait to be embedded together


@dataclass
class SyncReport:
    """What a sync did, or with dry_run what it would do. Sources by the id of their documents."""

    path: str
    dry_run: bool = False
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)  # (old id, new id)
    recut: list[str] = field(
        default_factory=list
    )  # same bytes, cut by another policy than the file's
    removed: list[str] = field(default_factory=list)  # ids of documents
    duplicates: list[tuple[str, str]] = field(
        default_factory=list
    )  # (left out, what has its bytes)
    unchanged: int = 0
    embedded: int = 0
    deletions: list[dict[str, Any]] = field(default_factory=list)
    failures: list[SourceFailure] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    encodings: dict[str, str] = field(default_factory=dict)  # of files that are not UTF-8
    generation: int = 0
    seconds: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed, or would change."""
        return not (self.added or self.changed or self.moved or self.recut or self.removed)


def sync(
    path: StrPath, sources: Sources, *, dry_run: bool = False,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None, tags: Tags = (),
    metadata: Metadata | None = None, message: str = "", limits: Limits | None = None, errors: Errors = "strict",
    progress: Progress | None = None, created: int | None = None, embedding_cache: StrPath | bool | None = None,
    encoding: str | None = None, dedupe: bool = False, include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None, ignore: bool | None = None,
) -> SyncReport:  # fmt: skip
    """Makes the documents of a file those of some folders, globs and files. Returns a SyncReport.

    Only chunks whose text is new are embedded; a file that moved keeps its vectors. Options: embedder, chunking, tags and metadata
    for every document that is read (those of the build unless given), include, exclude and ignore (those of the build), message, limits, errors, encoding, progress, created, embedding_cache.
    dedupe leaves out new sources with the bytes of a document that stays, or of a source before them.
    """
    return _run(
        path, sources, dry_run, True, embedder=embedder, chunking=chunking, tags=tags, metadata=metadata, message=message,
        limits=limits, errors=errors, progress=progress, created=created, embedding_cache=embedding_cache,
        encoding=encoding, dedupe=dedupe, include=include, exclude=exclude, ignore=ignore,
    )  # fmt: skip


def add(
    path: StrPath, sources: Sources, *, dry_run: bool = False,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None, tags: Tags = (),
    metadata: Metadata | None = None, message: str = "", limits: Limits | None = None, errors: Errors = "strict",
    progress: Progress | None = None, created: int | None = None, embedding_cache: StrPath | bool | None = None,
    encoding: str | None = None, dedupe: bool = False, include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None, ignore: bool | None = None,
) -> SyncReport:  # fmt: skip
    """As sync, but documents whose sources are not named stay."""
    return _run(
        path, sources, dry_run, False, embedder=embedder, chunking=chunking, tags=tags, metadata=metadata, message=message,
        limits=limits, errors=errors, progress=progress, created=created, embedding_cache=embedding_cache,
        encoding=encoding, dedupe=dedupe, include=include, exclude=exclude, ignore=ignore,
    )  # fmt: skip


def _run(path, sources, dry_run, removes, *, embedder=None, chunking=None, tags=(), metadata=None, message="", limits=None,
         errors: Errors = "strict", progress=None, created=None, embedding_cache=None, encoding=None, dedupe=False, include=None,
         exclude=None, ignore=None):  # fmt: skip
    refuse_remote(path)
    began = time.perf_counter()
    loading = Loading(sources, limits=limits or Limits(), errors=errors, encoding=encoding)
    report = SyncReport(os.fspath(path), dry_run)
    if dry_run:
        with rows_of(path) as archive:
            loading.selection = selected(archive, include, exclude, ignore)
            SourcePlan(archive, loading, report, removes, set(stale_in(archive, chunking)), dedupe)
            report.generation = archive.generation
    else:
        options = {
            "chunking": chunking,
            "message": message,
            "created": created,
            "embedding_cache": embedding_cache,
        }
        with Editor(path, embedder=embedder, **options) as writer:
            loading.selection = selected(writer.archive, include, exclude, ignore)
            outdated = set(stale_in(writer.archive, chunking))
            plan = SourcePlan(writer.archive, loading, report, removes, outdated, dedupe)
            labels = writer.archive.config.get("labels", {})
            tags, metadata = tags or labels.get("tags", ()), metadata or labels.get("metadata", {})
            _SyncWork(writer, loading, plan, tuple(tags), metadata, progress).carry_out()
        with rows_of(path) as archive:
            report.generation = archive.generation
    report.skipped, report.encodings = loading.skipped, loading.encodings
    report.failures += loading.failures
    report.seconds = time.perf_counter() - began
    return report


def selected(archive, include, exclude, ignore):
    """Which files of folders are read: as the file records it, but for what is said."""
    recorded = Selection.recorded(archive.config.get("selection", {}))
    return Selection(
        recorded.include if include is None else tuple(include),
        recorded.exclude if exclude is None else tuple(exclude),
        recorded.ignore if ignore is None else ignore,
    )


class SourcePlan:
    """Sources against documents. Every source is read once for its checksum; nothing is parsed."""

    def __init__(self, archive, loading, report, removes, outdated, dedupe):
        self.report, self.loading, self.removes = report, loading, removes
        self.sources = {
            source.id: source
            for source in find(loading.sources, loading.skipped, selection=loading.selection)
        }
        self.documents, checksums = self._owned(archive)
        self._refuse_to_empty(archive)
        sums = {name: self._checksum(source) for name, source in self.sources.items()}
        new = []
        for name, checksum in sums.items():
            ids = self.documents.get(name)
            if checksum is None:
                continue
            if ids is None:
                new.append(name)
            elif any(checksums[doc_id] != checksum for doc_id in ids):
                report.changed.append(name)
            elif outdated.intersection(ids):
                report.recut.append(name)
            else:
                report.unchanged += 1
        gone = [name for name in self.documents if name not in self.sources] if removes else []
        closed = self._closed_folders() if gone else []
        gone = [name for name in gone if not any(name.startswith(folder) for folder in closed)]
        self._match_moves(new, gone, sums, checksums)
        if dedupe:
            self._leave_out_duplicates(sums, checksums)

    def _leave_out_duplicates(self, sums, checksums):
        """Of sources with the same bytes the first is added, and none where a document that stays
        has them.
        """
        gone, report = set(self.report.removed), self.report
        first = {checksum: doc_id for doc_id, checksum in checksums.items() if doc_id not in gone}
        for name in report.added[:]:
            if first.setdefault(sums[name], name) != name:
                report.added.remove(name)
                report.duplicates.append((name, first[sums[name]]))

    def _closed_folders(self):
        """What ids begin with below folders that are there and cannot be listed: nobody knows what is gone of those."""
        found = []
        for path in [skipped.path for skipped in self.loading.skipped]:
            if not os.path.isdir(path) or os.path.islink(path):
                continue
            try:
                os.listdir(path)
            except OSError as error:
                self.report.failures.append(
                    SourceFailure(path, error.strerror or str(error), type(error).__name__)
                )
                below = [
                    os.path.relpath(path, root)
                    for root, _ in expanded(self.loading.sources)
                    if os.path.isdir(root)
                ]
                found += [
                    "" if name == "." else name + "/"
                    for name in below
                    if name.split(os.sep)[0] != os.pardir
                ]
        return found

    def _owned(self, archive):
        """({source id: its documents' ids}, {document id: checksum}) of the documents that came from files."""
        owned, checksums = {}, {}
        for segment in archive.segments:
            for there in segment.live_documents():
                metadata = there.fields.get("metadata", {})
                if isinstance(checksum := metadata.get("checksum"), str):
                    doc_id = there.id
                    checksums[doc_id] = checksum
                    if "upload" in metadata:  # it was sent to a server, and no folder has it
                        continue
                    owned.setdefault(self._owner(doc_id, metadata.get("path")), []).append(doc_id)
        return owned, checksums

    def _owner(self, doc_id, path):
        """The source that a document is of: the path that it records, else the longest source that its id names."""
        if isinstance(path, str) and (doc_id == path or doc_id.startswith(path + "#")):
            return path
        end = len(doc_id)
        while end >= 0:
            if doc_id[:end] in self.sources:
                return doc_id[:end]
            end = doc_id.rfind("#", 0, end)
        return doc_id

    def _refuse_to_empty(self, archive):
        """A folder that is empty is most often one that is not mounted."""
        if self.removes and not self.sources and self.documents:
            raise ValueError(
                f"no file in the sources: sync would remove all {len(self.documents)} documents of {archive.path}; delete them by id if so"
            )

    def _checksum(self, source):
        try:
            if os.path.getsize(source.path) > self.loading.limits.max_bytes:
                raise OSError(f"over the limit of {self.loading.limits.max_bytes} bytes")
            with open(source.path, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            self.report.failures.append(
                SourceFailure(source.path, error.strerror or str(error), type(error).__name__)
            )
            return None

    def _match_moves(self, new, gone, sums, checksums):
        """A source that is gone and one that is new with its bytes are one that moved."""
        by_sum = {}
        for name in gone:
            by_sum.setdefault(checksums[self.documents[name][0]], []).append(name)
        for name in new:
            if before := by_sum.get(sums[name]):
                self.report.moved.append((before.pop(0), name))
            else:
                self.report.added.append(name)
        moved = {old for old, _ in self.report.moved}
        self.report.removed = [
            doc_id for name in gone if name not in moved for doc_id in self.documents[name]
        ]


class _SyncWork:
    """A plan carried out through an Editor."""

    def __init__(self, writer, loading, plan, tags, metadata, progress):
        self.writer, self.loading, self.plan, self.tags, self.metadata = (
            writer,
            loading,
            plan,
            tags,
            metadata,
        )
        self.progress, self.done, self.pending, self.unread = progress, 0, [], set()
        report = plan.report
        self.total = sum(map(len, (report.moved, report.changed, report.recut, report.added)))

    def carry_out(self):
        report, writer = self.plan.report, self.writer
        writer.delete(report.removed)
        for old, new in report.moved:
            self._take(
                new,
                lambda doc_id, old=old, new=new: old + doc_id.removeprefix(new),
                self.plan.documents[old],
            )
        for name in [*report.changed, *report.recut, *report.added]:
            self._take(name, lambda doc_id: doc_id, self.plan.documents.get(name, ()))
        self._flush()
        for listed in (report.added, report.changed, report.recut):
            listed[:] = [
                name for name in listed if name not in self.unread
            ]  # they are among the failures
        report.deletions, report.embedded = writer.deletions, writer.embedded

    def _take(self, name, old_id, before):
        """A source's documents in the place of those that it gave before; what fails to load changes nothing."""
        failures, came = len(self.loading.failures), set()
        for document in self.loading.file(self.plan.sources[name]):
            document.tags = tuple(dict.fromkeys([*document.tags, *self.tags]))
            document.metadata = {**document.metadata, **self.metadata}
            if (chunks := self.loading.cut(document, self.writer.policy)) is None:
                continue
            known = old_id(document.id)
            if known in before and known != document.id:
                self.writer.replace(known, document, chunks)
            else:
                self.pending.append((document, chunks))
            came.add(known)
        if len(self.loading.failures) == failures:
            self.writer.delete([doc_id for doc_id in before if doc_id not in came])
        elif not came:
            self.unread.add(name)
        if len(self.pending) >= PENDING:
            self._flush()
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, len(self.writer), self.done / self.total)

    def _flush(self):
        self.writer.upsert_cut(self.pending)
        self.pending = []
