"""Synchronize a file with its sources: plan first, then make one commit.

    sync   make the file equal to the sources: add new files, replace changed ones, remove missing ones
    add    add new files; remove nothing, and replace changed files only on request

Files are compared by their bytes, not their times: a file whose checksum is stored in the documents is not parsed again.
A document belongs to the source with its id, or with the part of its id before "#". Documents without a checksum did not come
from files, nor did uploads to a server. They are left alone, even if a source with their id appears: the report lists it as
kept. If a source exists but cannot be read, or disappears while the folder is read, its documents stay.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragfile.embedding.protocol import Embedder
from ragfile.ground.urls import local_file
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.document_loader import Loading, SourceFailure
from ragfile.ingest.loaders.contract import Limits
from ragfile.ingest.source_files import (
    Root,
    Selection,
    Skipped,
    UnreadPath,
    checked_prefix,
    find,
    labelled_roots,
)
from ragfile.records import Document
from ragfile.search.file_rows import rows_of
from ragfile.types import Errors, Fields, Metadata, Progress, Sources, StrPath, Table, Tags
from ragfile.write.editor import Editor, is_same
from ragfile.write.given_documents import documents_of, refuse_file_options
from ragfile.write.history import stale_in
from ragfile.write.read_worker import with_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragfile.file.row_segment import StoredDocument
    from ragfile.ingest.source_files import SourceFile
    from ragfile.records import Chunk
    from ragfile.search.file_rows import FileRows

PENDING = 256  # documents that are embedded together


@dataclass
class SyncReport:
    """The changes of a `sync()` or `add()`, or with `dry_run` those it would make.

    Sources are named by the id of their documents.

    Attributes:
        path: The file.
        dry_run: Whether nothing was written.
        added: New sources.
        changed: Sources whose bytes changed.
        moved: Sources with a new name and the same bytes, as (old id, new id).
        recut: Sources with the same bytes that were split by an outdated chunk policy.
        removed: Ids of the removed documents.
        duplicates: Sources left out by `dedupe`, as (source, id with the same bytes).
        kept: Ids that a source has, and a document that was written by hand or uploaded. The document
            stays, and the source is left out; delete the document to take the source.
        unchanged: Number of unchanged sources.
        embedded: Number of chunks that were embedded.
        deletions: A record of each deleted document; see `Editor`.
        failures: Sources that could not be read, with the reason.
        skipped: Sources that no loader reads.
        encodings: The encoding of each source that is not UTF-8, by path.
        generation: The newest generation of the file.
        seconds: Duration of the sync.
    """

    path: str
    dry_run: bool = False
    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    moved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    recut: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    duplicates: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    kept: list[str] = field(default_factory=list[str])
    unchanged: int = 0
    embedded: int = 0
    deletions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failures: list[SourceFailure] = field(default_factory=list[SourceFailure])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    encodings: dict[str, str] = field(default_factory=dict[str, str])
    generation: int = 0
    seconds: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether there are no changes."""
        return not (self.added or self.changed or self.moved or self.recut or self.removed)


def sync(
    path: StrPath, sources: Sources, *, dry_run: bool = False,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None, tags: Tags = (),
    metadata: Metadata | None = None, message: str = "", limits: Limits | None = None, errors: Errors = "strict",
    progress: Progress | None = None, created: int | None = None, embedding_cache: StrPath | bool | None = None,
    encoding: str | None = None, dedupe: bool = False, include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None, ignore: bool | None = None, wait: float | None = None,
) -> SyncReport:  # fmt: skip
    """Make a file match its source folders, globs and files.

    Only new text is embedded, and a renamed file keeps its vectors. All changes are one commit.

    Args:
        path: The file to update.
        sources: Paths of folders, globs or files.
        dry_run: Report the changes without writing them.
        embedder: The embedder for new chunks. Defaults to the file's own.
        chunking: A chunk policy, recorded as the file's new policy. Defaults to the file's own.
        tags: Tags for every document that is read. Default to those of the build.
        metadata: Metadata for every document that is read. Default to those of the build.
        message: A message for the log.
        limits: Limits on the size and number of sources.
        errors: `"replace"` reads text that is not valid UTF-8 with replacement characters;
            `"strict"` reports the file as a failure.
        progress: Called with the sources done, the chunks done, and the share that is done.
        created: Time of the commit in ns since 1970. Defaults to `SOURCE_DATE_EPOCH`, else the clock.
        embedding_cache: A folder that keeps vectors between runs; True chooses the default folder.
        encoding: Encoding of text without a byte order mark that is not UTF-8, such as `"cp1252"`.
        dedupe: Leave out new sources with the bytes of a remaining document or of an earlier source.
        include: Globs of the files to read from folders. Default to those of the build.
        exclude: Globs of the files to leave out. Default to those of the build.
        ignore: Respect `.gitignore` files. Defaults to the choice of the build.
        wait: Seconds to wait for other writers. Defaults to `RAGFILE_WAIT`, else 30.

    Returns:
        A report of the changes.

    Raises:
        ValueError: The sources contain no file, so that every document would be removed.
        LockedError: Another writer still holds the file, or this thread does.
    """
    return _run(
        path, sources, dry_run, True, replaces=True, prefix="", embedder=embedder, chunking=chunking, tags=tags, metadata=metadata, message=message,
        limits=limits, errors=errors, progress=progress, created=created, embedding_cache=embedding_cache,
        encoding=encoding, dedupe=dedupe, include=include, exclude=exclude, ignore=ignore,
        wait=wait,
    )  # fmt: skip


def add(
    path: StrPath, sources: Sources | Table | Iterable[Document | Fields], *, dry_run: bool = False,
    embedder: str | Embedder | None = None, chunking: Policy | str | Fields | None = None, tags: Tags = (),
    metadata: Metadata | None = None, message: str = "", limits: Limits | None = None, errors: Errors = "strict",
    progress: Progress | None = None, created: int | None = None, embedding_cache: StrPath | bool | None = None,
    encoding: str | None = None, dedupe: bool = False, include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None, ignore: bool | None = None, wait: float | None = None,
    replace: bool = False, prefix: str = "",
) -> SyncReport:  # fmt: skip
    """Add new source files to a file, without removing any document.

    Args:
        path: The file to update.
        sources: Paths of folders, globs or files; or documents, mappings, a data frame or a table, as for
            `build()`.
        replace: Replace the documents whose ids the sources have with other bytes.
        prefix: A folder's name that begins the ids of the sources, so that those of another folder
            stay apart: `prefix="manuals"` adds `keys.md` as `manuals/keys.md`.

    The other arguments are those of `sync()`.

    Returns:
        A report of the changes, as from `sync()`.

    Raises:
        ValueError: A source has the id of a document with other bytes, and `replace` is false.
            Nothing was written.
        LockedError: Another writer still holds the file, or this thread does.
    """
    files, documents = documents_of(sources)
    if documents is not None:
        refuse_file_options(dedupe, include, exclude, encoding, ignore is False)
        return _add_documents(
            path, documents, dry_run, replaces=replace, prefix=checked_prefix(prefix), embedder=embedder,
            chunking=chunking, tags=tags, metadata=metadata, message=message, progress=progress,
            created=created, embedding_cache=embedding_cache, wait=wait,
        )  # fmt: skip
    return _run(
        path, files, dry_run, False, replaces=replace, prefix=prefix, embedder=embedder, chunking=chunking, tags=tags, metadata=metadata, message=message,
        limits=limits, errors=errors, progress=progress, created=created, embedding_cache=embedding_cache,
        encoding=encoding, dedupe=dedupe, include=include, exclude=exclude, ignore=ignore,
        wait=wait,
    )  # fmt: skip


def _run(
    path: StrPath, sources: Sources, dry_run: bool, removes: bool, *, replaces: bool, prefix: str,
    embedder: str | Embedder | None, chunking: Policy | str | Fields | None, tags: Tags, metadata: Metadata | None, message: str,
    limits: Limits | None, errors: Errors, progress: Progress | None, created: int | None,
    embedding_cache: StrPath | bool | None, encoding: str | None, dedupe: bool,
    include: Iterable[str] | None, exclude: Iterable[str] | None, ignore: bool | None,
    wait: float | None,
) -> SyncReport:  # fmt: skip
    path = local_file(path)
    began = time.perf_counter()
    loading = Loading(
        sources, limits=limits or Limits(), errors=errors, encoding=encoding, prefix=prefix
    )
    report = SyncReport(os.fspath(path), dry_run)
    if dry_run:
        with rows_of(path) as archive:
            loading.selection = selected(archive, include, exclude, ignore)
            SourcePlan(archive, loading, report, removes, set(stale_in(archive, chunking)), dedupe)
            check_replaced(report, replaces)
            report.generation = archive.generation
    else:
        with Editor(
            path, embedder=embedder, chunking=chunking, message=message, created=created,
            embedding_cache=embedding_cache, wait=wait,
        ) as writer:  # fmt: skip
            loading.selection = selected(writer.archive, include, exclude, ignore)
            outdated = set(stale_in(writer.archive, chunking))
            plan = SourcePlan(writer.archive, loading, report, removes, outdated, dedupe)
            check_replaced(report, replaces)
            labels = writer.archive.config.get("labels", {})
            tags = tuple(tags or labels.get("tags", ()))
            fields: Metadata = metadata or labels.get("metadata", {})
            _SyncWork(writer, loading, plan, tags, fields, progress).carry_out()
        with rows_of(path) as archive:
            report.generation = archive.generation
    report.skipped = [one for one in loading.skipped if not isinstance(one, UnreadPath)]
    report.encodings = loading.encodings
    report.failures += [*loading.unread(), *loading.failures]
    report.seconds = time.perf_counter() - began
    return report


def _add_documents(
    path: StrPath, documents: Iterable[Document], dry_run: bool, *, replaces: bool, prefix: str,
    tags: Tags, metadata: Metadata | None, progress: Progress | None, embedder: str | Embedder | None,
    chunking: Policy | str | Fields | None, message: str, created: int | None,
    embedding_cache: StrPath | bool | None, wait: float | None,
) -> SyncReport:  # fmt: skip
    """Add documents in one commit; those that the file has already are counted as unchanged."""
    path = local_file(path)
    began = time.perf_counter()
    report = SyncReport(os.fspath(path), dry_run)
    writer = Editor(
        path, embedder=embedder, chunking=chunking, message=message, created=created,
        embedding_cache=embedding_cache, wait=wait,
    )  # fmt: skip
    try:
        recorded = writer.archive.config.get("labels", {})
        fields: Metadata = metadata or recorded.get("metadata", {})
        tags = tags or recorded.get("tags", ())
        pending: list[tuple[Document, list[Chunk]]] = []
        for given in documents:
            document = with_labels(given, tags, fields)
            document.id = prefix + document.id
            chunks = split(document, writer.policy)
            _note(report, writer.take(document.id), document, chunks)
            pending.append((document, chunks))
            if len(pending) >= PENDING and not dry_run:
                _add_pending(writer, pending, progress)
        check_replaced(report, replaces)
        if not dry_run:
            _add_pending(writer, pending, progress)
    except BaseException:
        writer.discard()
        raise
    writer.discard() if dry_run else writer.close()
    report.embedded = writer.embedded
    with rows_of(path) as archive:
        report.generation = archive.generation
    report.seconds = time.perf_counter() - began
    return report


def _note(
    report: SyncReport, old: StoredDocument | None, document: Document, chunks: list[Chunk]
) -> None:
    """Count a document as added, changed or unchanged."""
    if old is not None and is_same(old, document, chunks):
        report.unchanged += 1
    else:
        (report.added if old is None else report.changed).append(document.id)


def _add_pending(
    writer: Editor, pending: list[tuple[Document, list[Chunk]]], progress: Progress | None
) -> None:
    writer.upsert_cut(pending)
    pending.clear()
    if progress is not None:
        progress(len(writer.draft.staging.documents), len(writer), None)


def check_replaced(report: SyncReport, replaces: bool) -> None:
    """Refuse to replace documents unasked: another folder may have files of the same names."""
    if replaces or not report.changed:
        return
    few = ", ".join(report.changed[:3]) + (", …" if len(report.changed) > 3 else "")
    raise ValueError(
        f"{report.path} has other content under {len(report.changed)} of these ids ({few}): pass "
        "replace=True if these files are newer, or prefix='NAME' to keep both, with new ids NAME/…"
    )


def selected(
    archive: FileRows, include: Iterable[str] | None, exclude: Iterable[str] | None,
    ignore: bool | None,
) -> Selection:  # fmt: skip
    """Return the recorded selection of files, with the given parts replaced."""
    recorded = Selection.recorded(archive.config.get("selection", {}))
    return Selection(
        recorded.include if include is None else tuple(include),
        recorded.exclude if exclude is None else tuple(exclude),
        recorded.ignore if ignore is None else ignore,
        recorded.originals,
        recorded.bundle,
    )


class SourcePlan:
    """The differences between sources and documents, found by reading each source once for its checksum."""

    def __init__(
        self, archive: FileRows, loading: Loading, report: SyncReport, removes: bool,
        outdated: set[str], dedupe: bool,
    ) -> None:  # fmt: skip
        self.report, self.loading, self.removes = report, loading, removes
        self.sources: dict[str, SourceFile] = {
            source.id: source
            for source in find(
                loading.sources, loading.skipped, selection=loading.selection, prefix=loading.prefix
            )
        }
        self.foreign: set[str] = set()  # ids of documents that did not come from these sources
        self.places: dict[str, str] = {}  # the path that each source was read from
        self.documents, checksums = self._owned(archive)
        self._refuse_to_empty(archive)
        taken = self._taken()
        self.checksums = {name: self._checksum(source) for name, source in self.sources.items()}
        new: list[str] = []
        for name, checksum in self.checksums.items():
            ids = self.documents.get(name)
            if checksum is None:
                continue
            if ids is None and name in taken:
                report.kept.append(name)
            elif ids is None:
                new.append(name)
            elif any(checksums[doc_id] != checksum for doc_id in ids):
                report.changed.append(name)
            elif outdated.intersection(ids):
                report.recut.append(name)
            else:
                report.unchanged += 1
        gone = [name for name in self.documents if name not in self.sources] if removes else []
        closed = self._closed() if gone else []
        gone = [name for name in gone if not any(self._is_below(name, path) for path in closed)]
        self._match_moves(new, gone, self.checksums, checksums)
        if dedupe:
            self._leave_out_duplicates(self.checksums, checksums)

    def _leave_out_duplicates(
        self, sums: Mapping[str, str | None], checksums: Mapping[str, str]
    ) -> None:
        """Add the first of several sources with equal bytes, and none that a remaining document has."""
        gone, report = set(self.report.removed), self.report
        first: dict[str | None, str] = {
            checksum: doc_id for doc_id, checksum in checksums.items() if doc_id not in gone
        }
        for name in report.added[:]:
            if first.setdefault(sums[name], name) != name:
                report.added.remove(name)
                report.duplicates.append((name, first[sums[name]]))

    def _closed(self) -> list[str]:
        """Return the paths that could not be read or have just disappeared; their documents stay."""
        return [one.path for one in self.loading.unread()]

    def _is_below(self, name: str, path: str) -> bool:
        """Return whether a source was read from a path or from below it."""
        place, roots = self.places.get(name, ""), labelled_roots(self.loading.sources)
        if any(_is_under(one, path) for root in roots for one in (place, _path(place, root))):
            return True
        if not os.path.isabs(place):
            return False
        # an older file has the whole path, perhaps spelled in another way: the names decide
        below = (
            os.path.relpath(path, root.path).replace(os.sep, "/")
            for root in roots
            if _is_under(path, root.path)
        )
        return any(one in (".", name) or name.startswith(one + "/") for one in below)

    def _owned(self, archive: FileRows) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Return the ids of each source's documents, and the checksum of each document that came from a file."""
        owned: dict[str, list[str]] = {}
        checksums: dict[str, str] = {}
        for segment in archive.segments:
            for old in segment.live_documents():
                metadata, doc_id = old.fields.get("metadata", {}), old.id
                checksum = metadata.get("checksum")
                if isinstance(checksum, str):
                    checksums[doc_id] = checksum
                if not isinstance(checksum, str) or "upload" in metadata:
                    self.foreign.add(doc_id)
                    continue
                name = self._owner(doc_id, metadata.get("path"))
                owned.setdefault(name, []).append(doc_id)
                self.places[name] = str(old.fields.get("source", ""))
        return owned, checksums

    def _taken(self) -> set[str]:
        """Return the names of sources that would replace a document that did not come from them."""
        ends = ((doc_id, end) for doc_id in self.foreign for end in _ends(doc_id))
        return {doc_id[:end] for doc_id, end in ends if doc_id[:end] in self.sources}

    def _owner(self, doc_id: str, path: object) -> str:
        """Return the source of a document: its recorded path, else the longest source that starts its id."""
        if isinstance(path, str) and (doc_id == path or doc_id.startswith(path + "#")):
            return path
        end = len(doc_id)
        while end >= 0:
            if doc_id[:end] in self.sources:
                return doc_id[:end]
            end = doc_id.rfind("#", 0, end)
        return doc_id

    def _refuse_to_empty(self, archive: FileRows) -> None:
        """Refuse empty sources: an empty folder is most often an unmounted one."""
        if not self.removes or not self.documents:
            return
        if not self.sources:
            raise ValueError(
                f"no file in the sources: sync would remove all {len(self.documents)} documents of {archive.path}; delete them by id if so"
            )
        paths = [source.path for source in self.sources.values()]
        for root in labelled_roots(self.loading.sources):
            lost = [
                place for place in self.places.values() if _is_under(_path(place, root), root.path)
            ]
            is_empty = not any(_is_under(path, root.path) for path in paths)
            if lost and is_empty and os.path.isdir(root.path):
                raise ValueError(
                    f"no file in {root.path}: sync would remove all {len(lost)} documents that came from it; "
                    "leave it out of the sources if so"
                )

    def _checksum(self, source: SourceFile) -> str | None:
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

    def _match_moves(
        self, new: list[str], gone: list[str], sums: Mapping[str, str | None],
        checksums: Mapping[str, str],
    ) -> None:  # fmt: skip
        """Pair each missing source with a new one of the same bytes: it was renamed."""
        by_sum: dict[str | None, list[str]] = {}
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


def _path(place: str, root: Root) -> str:
    """Return the path of a recorded source if it came from a root; older files record whole paths."""
    if root.label and not place.startswith(root.label + "/"):
        return place
    return os.path.join(root.folder, place.removeprefix(root.label + "/" if root.label else ""))


def _is_under(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def _ends(doc_id: str) -> Iterator[int]:
    """Yield the ends of the parts of an id that a source can have: before each "#", and the whole id."""
    yield from (at for at, character in enumerate(doc_id) if character == "#")
    yield len(doc_id)


class _SyncWork:
    """Carries out a plan through an Editor."""

    def __init__(
        self, writer: Editor, loading: Loading, plan: SourcePlan, tags: tuple[str, ...],
        metadata: Metadata, progress: Progress | None,
    ) -> None:  # fmt: skip
        self.writer, self.loading, self.plan = writer, loading, plan
        self.tags, self.metadata, self.progress, self.done = tags, metadata, progress, 0
        self.pending: list[tuple[Document, list[Chunk]]] = []
        self.unread: set[str] = set()
        report = plan.report
        self.total = len([*report.moved, *report.changed, *report.recut, *report.added])

    def carry_out(self) -> None:
        """Make the changes, and complete the report."""
        report, writer = self.plan.report, self.writer
        writer.delete(report.removed)
        for old, new in report.moved:
            self._take(new, self.plan.documents[old], old)
        for name in [*report.changed, *report.recut, *report.added]:
            self._take(name, self.plan.documents.get(name, ()), name)
        self._flush()
        for listed in (report.added, report.changed, report.recut):
            listed[:] = [
                name for name in listed if name not in self.unread
            ]  # they are among the failures
        report.deletions, report.embedded = writer.deletions, writer.embedded

    def _take(self, name: str, before: Sequence[str], old_name: str) -> None:
        """Replace the documents of a source, renamed or not; one that fails to load changes nothing."""
        failures = len(self.loading.failures)
        came: set[str] = set()
        for document in self.loading.file(self.plan.sources[name]):
            document.tags = tuple(dict.fromkeys([*document.tags, *self.tags]))
            document.metadata = {**document.metadata, **self.metadata}
            if (chunks := self.loading.cut(document, self.writer.policy)) is None:
                continue
            if document.id in self.plan.foreign:
                self.plan.report.kept.append(document.id)
                continue
            known = document.id if old_name == name else old_name + document.id.removeprefix(name)
            self.writer.keep_given_links(known, document.id)
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

    def _flush(self) -> None:
        self.writer.upsert_cut(self.pending)
        self.pending = []
