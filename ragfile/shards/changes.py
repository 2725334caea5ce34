"""Changes of datasets: add, sync, delete, compact. Each is one commit, repeated on top of another writer's if that was first.

    changes → their shards → each shard's copy is edited and rewritten (any executor) → statistics → manifest

Only shards with a changed document are touched. A shard is rewritten with the bytes of a fresh build of its documents: it
has no deleted rows.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack

from ragfile.embedding.protocol import Embedder
from ragfile.ground import system
from ragfile.ingest.document_loader import Loading, SourceFailure
from ragfile.ingest.loaders.contract import Limits
from ragfile.ingest.source_files import SourceFile
from ragfile.records import Chunk, Document
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import dataset_commit
from ragfile.shards.builder import Built, assignment_of, published, with_statistics
from ragfile.shards.executors import ExecutorChoice, executor_of
from ragfile.shards.manifest import Manifest, ShardRecord
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.shard_assignment import slot_of
from ragfile.shards.snapshot import DatasetSnapshot
from ragfile.shards.stores import place
from ragfile.types import (
    Assigning,
    Errors,
    Fields,
    Metadata,
    Progress,
    Sources,
    StrPath,
    Tags,
    Where,
)
from ragfile.write.builder import BuildReport
from ragfile.write.compaction import compact as compact_file
from ragfile.write.compaction import rewrite
from ragfile.write.draft import creation_time
from ragfile.write.editor import Editor
from ragfile.write.source_sync import SourcePlan, SyncReport, check_replaced, selected
from ragfile.write.stale_documents import entries_of

Report = TypeVar("Report")


class SourceChange(NamedTuple):
    """A source to load, and the ids of the documents that it gave before."""

    source: SourceFile
    before: tuple[str, ...]


@dataclass
class DatasetChange:
    """A job: change a shard, or start a new one from a copy of it. Deletes ids, adds documents, and loads sources."""

    root: str
    record: ShardRecord
    generation: int
    is_new: bool = False
    deleted: list[str] = field(default_factory=list[str])
    documents: list[Document] = field(default_factory=list[Document])
    sources: list[SourceChange] = field(default_factory=list[SourceChange])
    loading: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Changed:
    """The result of a change: the new shard and a report. `unread` lists sources that could not be read."""

    built: Built
    deletions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failures: list[SourceFailure] = field(default_factory=list[SourceFailure])
    unread: list[str] = field(default_factory=list[str])
    embedded: int = 0


def change_shard(change: DatasetChange) -> Changed:
    """Change a copy of a shard, and store the new shard."""
    store = place(change.root)
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "shard.ragfile")
        store.fetch(change.record.path, path)
        done = _edited(change, path)
        compact_file(path, created=0, renumber=True)
        with rows_of(path) as shard:
            documents = len(shard.document_ids())
        if documents:
            report = BuildReport(path, documents=documents)
            done.built = published(store, path, folder, report, change.generation)
    return done


def _edited(change: DatasetChange, path: str) -> Changed:
    """Edit the copy. A new shard starts as a copy of another one without its documents."""
    with Editor(path, created=0, **change.options) as editor:
        if change.is_new:
            editor.delete(editor.archive.document_ids())
            editor.deletions.clear()
        editor.delete(change.deleted)
        done = Changed(Built(None))
        editor.upsert(list(change.documents))
        editor.upsert_cut(list(_loaded(change, editor, done)))
        done.deletions, done.embedded = list(editor.deletions), editor.embedded
    return done


def _loaded(
    change: DatasetChange, editor: Editor, done: Changed
) -> Iterator[tuple[Document, list[Chunk]]]:
    """Yield the documents of the sources, with their chunks. Earlier documents of a readable source are deleted."""
    loading = Loading([], **change.loading)
    for source, before in change.sources:
        failures = len(loading.failures)
        came: set[str] = set()
        for document in loading.file(source):
            document.tags = tuple(dict.fromkeys([*document.tags, *change.tags]))
            document.metadata = {**document.metadata, **change.metadata}
            if (chunks := loading.cut(document, editor.policy)) is None:
                continue
            came.add(document.id)
            editor.keep_given_links(document.id, document.id)
            yield document, chunks
        if len(loading.failures) == failures:
            editor.delete([doc_id for doc_id in before if doc_id not in came])
        elif not came:
            done.unread.append(source.id)
    done.failures = loading.failures


# -------------------------------------------------------------------------------------- planning


class SharedFields(TypedDict, total=False):
    """The fields of DatasetChange that all changes of a commit share."""

    loading: dict[str, Any]
    options: dict[str, Any]
    tags: tuple[str, ...]
    metadata: dict[str, Any]


class Dealing:
    """The changes of a commit, grouped by shard."""

    def __init__(self, rf: Dataset, **shared: Unpack[SharedFields]) -> None:
        self.rf, self.shared = rf, shared
        self.changes: dict[str | int, DatasetChange] = {}
        self.touched: set[str] = set()
        slots = [(slot_of(rf.manifest.assignment, s.first), s) for s in rf.manifest.shards]
        self._homes = {slot: shard for slot, shard in slots if slot is not None}

    def delete(self, doc_id: str) -> bool:
        """Delete a document. Return whether it existed."""
        record = self.rf.shard_of(doc_id)
        if record is not None:
            self._of(record).deleted.append(doc_id)
            self.touched.add(doc_id)
        return record is not None

    def put(self, document: Document) -> None:
        """Add a document, or replace the one with its id."""
        self._home(document.id, [document.id]).documents.append(document)
        self.touched.add(document.id)

    def load(self, source: SourceFile, before: Sequence[str]) -> None:
        """Load a source; its documents replace those that it gave before."""
        self._home(source.id, before).sources.append(SourceChange(source, tuple(before)))
        self.touched.update([source.id, *before])

    def _home(self, doc_id: str, before: Sequence[str]) -> DatasetChange:
        """Return the change of the shard that has a document, or to which it is assigned."""
        found = (self.rf.shard_of(known) for known in before)
        record = next((record for record in found if record is not None), None)
        if record is not None:
            return self._of(record)
        slot = slot_of(self.rf.manifest.assignment, doc_id)
        if slot is None:
            return self._of(min(self.rf.manifest.shards, key=lambda s: (s.rows, s.sha256)))
        if slot in self._homes:
            return self._of(self._homes[slot])
        if slot not in self.changes:
            smallest = min(self.rf.manifest.shards, key=lambda s: (s.bytes, s.sha256))
            self.changes[slot] = self._new(smallest, is_new=True)
        return self.changes[slot]

    def _of(self, record: ShardRecord) -> DatasetChange:
        known = self.changes.get(record.sha256)
        if known is None:
            known = self._new(record)
            self.changes[record.sha256] = known
        return known

    def _new(self, record: ShardRecord, *, is_new: bool = False) -> DatasetChange:
        following = self.rf.manifest.generation + 1
        return DatasetChange(self.rf.path, record, following, is_new, **self.shared)

    def ordered(self) -> list[DatasetChange]:
        """Return all changes, in an order that depends on nothing else."""
        return [self.changes[name] for name in sorted(self.changes, key=str)]


class Planned(NamedTuple, Generic[Report]):
    """The changes of a commit, the ids of the touched documents, and the report so far."""

    changes: list[DatasetChange]
    ids: set[str]
    report: Report


def _commit(
    path: StrPath, planned: Callable[[Dataset], Planned[Report]],
    finished: Callable[[Report, list[Changed]], Report], *, executor: ExecutorChoice,
    workers: int | None, message: str, created: int | None = None,
) -> Report:  # fmt: skip
    """Plan on the newest generation, run the changes and commit; repeat if another writer was first."""
    store = place(path)

    def change(manifest: Manifest) -> tuple[Manifest | None, Report]:
        with Dataset(store.root, generation=manifest.generation, embedder="none") as rf:
            if not rf.manifest.shards:
                raise ValueError(f"{store.root} is empty: build a new dataset")
            changes, ids, report = planned(rf)
        if not changes:
            return None, report
        done = [found for _, found in sorted(engine.map(change_shard, changes), key=itemgetter(0))]
        following = replace(
            manifest, **dataset_commit.following(manifest), message=message,
            created=moment(created), touched=dataset_commit.touched(ids),
        )  # fmt: skip
        gone = [change.record for change in changes if not change.is_new]
        made = [one.built for one in done if one.built.record is not None]
        whole = with_statistics(store, following, manifest.statistics, made, gone)
        return whole, finished(report, done)

    with contextlib.closing(executor_of(executor, workers)) as engine:
        return dataset_commit.commit(store, change)


def moment(created: int | None) -> int:
    """Return the time of a commit in nanoseconds since 1970: the given one, SOURCE_DATE_EPOCH or now."""
    return (creation_time() or time.time_ns()) if created is None else created


# ----------------------------------------------------------------------------------- the changes


class SyncOptions(TypedDict, total=False):
    """Options of add and sync."""

    dry_run: bool
    documents: Iterable[Document | Fields]
    tags: Tags
    metadata: Metadata | None
    limits: Limits | None
    errors: Errors
    encoding: str | None
    message: str
    created: int | None
    progress: Progress | None
    executor: ExecutorChoice
    workers: int | None
    embedder: str | Embedder | None
    embedding_cache: StrPath | bool | None
    chunking: object
    dedupe: bool
    include: Iterable[str] | None
    exclude: Iterable[str] | None
    ignore: bool | None


class AddOptions(SyncOptions, total=False):
    """Options of add alone."""

    replace: bool
    prefix: str


def add(
    path: StrPath,
    sources: Sources = (),
    **options: Unpack[AddOptions],
) -> SyncReport:
    """Add folders, globs and files to a dataset; no document is removed.

    Args:
        path: A folder or a bucket's URL of a dataset.
        sources: Folders, globs and files.
        options: Options of sync, such as documents=, which replaces documents of the same ids; replace and prefix as in
            ragfile.add.

    Returns:
        A report of added and changed documents.

    Raises:
        ValueError: A source has the id of a document with other bytes, and `replace` is false.
    """
    return _follow(path, sources, False, **options)


def sync(
    path: StrPath,
    sources: Sources,
    **options: Unpack[SyncOptions],
) -> SyncReport:
    """Make a dataset match its source folders, globs and files.

    Only shards with a changed document are touched. If another writer commits first, the change is repeated on top.

    Args:
        path: A folder or a bucket's URL of a dataset.
        sources: Folders, globs and files.
        options: dry_run (only report), documents (Document objects to add), tags and metadata for every document that is
            read (by default, those of the build), embedder, embedding_cache, limits, errors, encoding, message, created,
            dedupe, include, exclude, ignore and progress as in ragfile.sync; executor and workers as in build.

    Returns:
        A report of added, changed, moved and removed documents.

    Raises:
        ConflictError: Another writer changed one of the same documents.
    """
    return _follow(path, sources, True, replace=True, **options)


def _follow(
    path: StrPath, sources: Sources, removes: bool, *, dry_run: bool = False,
    documents: Iterable[Document | Fields] = (), tags: Tags = (), metadata: Metadata | None = None,
    limits: Limits | None = None, errors: Errors = "strict", encoding: str | None = None,
    message: str = "", created: int | None = None, progress: Progress | None = None,
    executor: ExecutorChoice = None, workers: int | None = None,
    embedder: str | Embedder | None = None, embedding_cache: StrPath | bool | None = None,
    chunking: object = None, dedupe: bool = False,
    include: Iterable[str] | None = None, exclude: Iterable[str] | None = None,
    ignore: bool | None = None, replace: bool = False, prefix: str = "",
) -> SyncReport:  # fmt: skip
    """Add the sources to a dataset; with `removes`, delete the documents of sources that are gone."""
    began, given = time.perf_counter(), [Document.of(document) for document in documents]
    reading: dict[str, Any] = {"limits": limits or Limits(), "errors": errors, "encoding": encoding}
    if chunking is not None:
        raise ValueError("a dataset has one chunk policy: reindex changes it")

    def planned(rf: Dataset) -> Planned[SyncReport]:
        report = SyncReport(rf.path, dry_run)
        labels = rf.file.config.get("labels", {})
        chosen = selected(rf.rows, include, exclude, ignore)
        dealing = Dealing(
            rf, loading={**reading, "selection": chosen},
            options={"embedder": embedder, "embedding_cache": embedding_cache},
            tags=tuple(tags or labels.get("tags", ())), metadata=metadata or labels.get("metadata", {}),
        )  # fmt: skip
        loading = Loading(sources, **reading, prefix=prefix, selection=chosen)
        _deal_sources(rf, dealing, loading, report, removes, dedupe)
        check_replaced(report, replace)
        for document in given:
            (report.added if rf.shard_of(document.id) is None else report.changed).append(
                document.id
            )
            dealing.put(document)
        report.generation = rf.generation
        return Planned([] if dry_run else dealing.ordered(), dealing.touched, report)

    def finished(report: SyncReport, done: list[Changed]) -> SyncReport:
        unread = {name for one in done for name in one.unread}
        for listed in (report.added, report.changed):
            listed[:] = [name for name in listed if name not in unread]
        for one in done:
            report.failures += one.failures
            report.deletions += one.deletions
            report.embedded += one.embedded
        report.generation += 1
        if progress is not None:
            progress(len(report.added) + len(report.changed), report.embedded, 1.0)
        return report

    report = _commit(
        path, planned, finished, executor=executor, workers=workers, message=message, created=created
    )  # fmt: skip
    report.seconds = time.perf_counter() - began
    return report


def _deal_sources(
    rf: Dataset, dealing: Dealing, loading: Loading, report: SyncReport, removes: bool, dedupe: bool
) -> None:
    """Compare sources with documents, as a file's sync does."""
    if not removes and not loading.sources:
        return
    plan = SourcePlan(rf.rows, loading, report, removes, set(), dedupe)
    for doc_id in report.removed:
        dealing.delete(doc_id)
    for old, new in report.moved:
        for doc_id in plan.documents[old]:
            dealing.delete(doc_id)
        dealing.load(plan.sources[new], ())
    for name in [*report.changed, *report.added]:
        dealing.load(plan.sources[name], plan.documents.get(name, ()))
    report.skipped = loading.skipped


def delete(
    path: StrPath, ids: str | Iterable[str] = (), *, checksums: Iterable[str] = (),
    where: Where | None = None, message: str = "", created: int | None = None,
    executor: ExecutorChoice = None, workers: int | None = None,
) -> list[str]:  # fmt: skip
    """Delete documents by id, by the checksum of their source, or by a filter.

    Older generations still hold them, until vacuum removes those.

    Args:
        path: A folder or a bucket's URL of a dataset.
        ids: An id, or several.
        checksums: SHA-256 checksums of sources.
        where: A filter on metadata.
        message: Message of the generation.
        created: Time of the generation, in nanoseconds since 1970; by default, now.
        executor: Rewrites shards: None (this process), "process", "ray", "dask" or an Executor.
        workers: Number of workers of the executor.

    Returns:
        The ids that were deleted.

    Raises:
        ValueError: The filter is empty.
        ConflictError: Another writer changed one of the same documents.
    """
    if isinstance(where, Mapping) and not where:
        raise ValueError("an empty filter deletes no document: name a condition")
    wanted = [ids] if isinstance(ids, str) else list(ids)

    def planned(rf: Dataset) -> Planned[list[str]]:
        named = dict.fromkeys(wanted)
        for condition in ([where] if where is not None else []) + [
            {"checksum": checksum} for checksum in checksums
        ]:
            named.update(dict.fromkeys(rf.documents_passing(condition)))
        dealing = Dealing(rf)
        found = [doc_id for doc_id in named if dealing.delete(doc_id)]
        return Planned(dealing.ordered(), dealing.touched, found)

    return _commit(
        path, planned, lambda found, _: found, executor=executor, workers=workers, message=message,
        created=created,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ re-sharding


@dataclass
class Merging:
    """A job: write a shard of documents that other shards or local files hold."""

    root: str
    generation: int
    pieces: list[tuple[str, list[str]]]  # (path of a shard, ids in it)
    is_here: bool = False  # the path is of a local file


def merge_shards(job: Merging) -> Built:
    """Write a shard of stored documents, unchanged."""
    store = place(job.root)
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "shard.ragfile")
        shards: list[FileRows] = []
        for number, (name, _) in enumerate(job.pieces):
            local = name if job.is_here else os.path.join(folder, f"{number}.old")
            if not job.is_here:
                store.fetch(name, local)
            shards.append(rows_of(local))
        documents = [
            document
            for shard, (_, ids) in zip(shards, job.pieces, strict=True)
            for doc_id in ids
            if (document := shard.find(doc_id)) is not None
        ]
        ids = {doc_id for _, listed in job.pieces for doc_id in listed}
        rewrite(path, shards[0], documents, entries_of(_stale(shards), ids))
        for shard in shards:
            shard.close()
        report = BuildReport(path, documents=len(documents))
        return published(store, path, folder, report, job.generation)


def _stale(shards: Sequence[FileRows]) -> list[dict[str, Any]]:
    return [entry for shard in shards for entry in shard.file.stale_records]


def compact(
    path: StrPath, *, shards: int | None = None, by: Assigning | None = None, message: str = "",
    created: int | None = None, executor: ExecutorChoice = None, workers: int | None = None,
) -> int:  # fmt: skip
    """Assign the documents to shards again. Answers stay the same, to the bit.

    Args:
        path: A folder or a bucket's URL of a dataset.
        shards: Number of shards; by default, the present one.
        by: Assignment: "range" (the default), "hash" or a function from an id to a number.
        message: Message of the generation.
        created: Time of the generation, in nanoseconds since 1970; by default, now.
        executor: Writes shards: None (this process), "process", "ray", "dask" or an Executor.
        workers: Number of workers of the executor.

    Returns:
        The new generation.

    Raises:
        ValueError: shards is less than 1.
    """
    if shards is not None and shards < 1:
        raise ValueError(f"a dataset has at least one shard, not {shards}")
    store = place(path)

    def change(manifest: Manifest) -> tuple[Manifest, int]:
        sizes, homes = _document_sizes(DatasetSnapshot(store, generation=manifest.generation))
        count = shards or max(1, len(manifest.shards))
        assignment, slot = assignment_of(sorted(sizes.items()), count, by or "range")
        jobs = [
            Merging(store.root, manifest.generation + 1, _pieces(ids, homes))
            for _, ids in sorted(_by_slot(sizes, slot).items())
        ]
        made = [built for _, built in sorted(engine.map(merge_shards, jobs), key=itemgetter(0))]
        following = replace(
            manifest, **dataset_commit.following(manifest), message=message, assignment=assignment,
            created=moment(created), touched=dataset_commit.touched([]),
        )  # fmt: skip
        whole = with_statistics(store, following, manifest.statistics, made, list(manifest.shards))
        return whole, whole.generation

    with contextlib.closing(executor_of(executor, workers)) as engine:
        return dataset_commit.commit(store, change)


def _document_sizes(snapshot: DatasetSnapshot) -> tuple[dict[str, int], dict[str, str]]:
    """Return ({id: bytes of the text}, {id: path of the shard}) of all documents."""
    sizes: dict[str, int] = {}
    homes: dict[str, str] = {}
    for number, shard in enumerate(snapshot.manifest.shards):
        for segment in snapshot.segments_of(number):
            for document in segment.live_documents():
                sizes[document.id] = document.record.text_size + 1
                homes[document.id] = shard.path
    return sizes, homes


def _by_slot(ids: Iterable[str], slot: Callable[[str], int | None]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for doc_id in sorted(ids):
        found.setdefault(slot(doc_id) or 0, []).append(doc_id)
    return found


def _pieces(ids: Iterable[str], homes: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for doc_id in ids:
        found.setdefault(homes[doc_id], []).append(doc_id)
    return list(found.items())
