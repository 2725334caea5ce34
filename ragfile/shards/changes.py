"""Datasets that change: add, sync, delete, compact. Each is one commit, made again on top of another one that was faster.

    what changes → which shards → each shard's copy is edited and rewritten (any executor) → statistics → manifest

Only shards that hold a changed document are touched. A shard is written anew, with the bytes that a fresh build of its
documents has: what was deleted is not in it, and no shard ever has deleted rows.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragfile.ingest.document_loader import Limits, Loading
from ragfile.records import Document
from ragfile.search.file_rows import rows_of
from ragfile.shards import new_generation
from ragfile.shards.builder import Built, assignment_of, published, with_statistics
from ragfile.shards.executors import executor_of
from ragfile.shards.manifest import Manifest, ShardRecord
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.shard_assignment import slot_of
from ragfile.shards.stores import place
from ragfile.types import Assigning, Errors, Fields, Metadata, Progress, StrPath, Tags, Where
from ragfile.write.builder import BuildReport
from ragfile.write.compaction import compact as compact_file
from ragfile.write.compaction import rewrite
from ragfile.write.draft import creation_time
from ragfile.write.editor import edit
from ragfile.write.source_sync import SourcePlan, SyncReport, selected
from ragfile.write.stale_documents import entries_of


@dataclass
class DatasetChange:
    """What is to change in a shard, or to begin from it: ids to delete, documents to put in, and sources with the ids
    of the documents that they gave before."""

    root: str
    record: ShardRecord
    is_new: bool = False
    deleted: list[str] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    sources: list[tuple[Any, tuple[str, ...]]] = field(default_factory=list)
    loading: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Changed:
    """The shard that came of a change, and how it went. `unread` are sources that could not be read."""

    built: Built
    deletions: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Any] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    embedded: int = 0


def change_shard(change: DatasetChange) -> Changed:
    """Carries out a change on a copy of a shard, and puts the new shard in its place."""
    store = place(change.root)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
        path = os.path.join(folder, "shard.ragfile")
        store.fetch(change.record.path, path)
        done = _edited(change, path)
        compact_file(path, created=0, renumber=True)
        with rows_of(path) as shard:
            documents = len(shard.document_ids())
        if documents:
            report = BuildReport(path, documents=documents)
            done.built = published(store, path, folder, report)
    return done


def _edited(change, path) -> Changed:
    """The edit of the copy; a shard that is to be new begins as the copy of another one without its documents."""
    with edit(path, created=0, **change.options) as editor:
        if change.is_new:
            editor.delete(editor.archive.document_ids())
            editor.deletions.clear()
        editor.delete(change.deleted)
        done = Changed(Built(None))
        editor.upsert(list(change.documents))
        editor.upsert_cut(list(_loaded(change, editor, done)))
        done.deletions, done.embedded = list(editor.deletions), editor.embedded
    return done


def _loaded(change, editor, done):
    """The documents of the sources, with their chunks. What a source gave before and gives no more is deleted, unless it cannot be read."""
    loading = Loading([], **change.loading)
    for source, before in change.sources:
        failures, came = len(loading.failures), set()
        for document in loading.file(source):
            document.tags = tuple(dict.fromkeys([*document.tags, *change.tags]))
            document.metadata = {**document.metadata, **change.metadata}
            if (chunks := loading.cut(document, editor.policy)) is None:
                continue
            came.add(document.id)
            yield document, chunks
        if len(loading.failures) == failures:
            editor.delete([doc_id for doc_id in before if doc_id not in came])
        elif not came:
            done.unread.append(source.id)
    done.failures = loading.failures


# -------------------------------------------------------------------------------------- planning


class Dealing:
    """The changes of a commit, by the shard that they touch."""

    def __init__(self, rf: Dataset, **shared: Any) -> None:
        self.rf, self.shared = rf, shared
        self.changes: dict[Any, DatasetChange] = {}
        self.touched: set[str] = set()
        slots = [(slot_of(rf.manifest.assignment, s.first), s) for s in rf.manifest.shards]
        self._homes = {slot: shard for slot, shard in slots if slot is not None}

    def delete(self, doc_id: str) -> bool:
        """Whether there is such a document; it goes."""
        record = self.rf.shard_of(doc_id)
        if record is not None:
            self._of(record).deleted.append(doc_id)
            self.touched.add(doc_id)
        return record is not None

    def put(self, document: Document) -> None:
        """A document that is new, or takes the place of the one with its id."""
        self._home(document.id, [document.id]).documents.append(document)
        self.touched.add(document.id)

    def load(self, source: Any, before: Sequence[str]) -> None:
        """A source whose documents take the place of those that it gave before."""
        self._home(source.id, before).sources.append((source, tuple(before)))
        self.touched.update([source.id, *before])

    def _home(self, doc_id, before) -> DatasetChange:
        """The change of the shard in which a document lies, or belongs."""
        there = (self.rf.shard_of(known) for known in before)
        record = next((record for record in there if record is not None), None)
        if record is not None:
            return self._of(record)
        slot = slot_of(self.rf.manifest.assignment, doc_id)
        if slot is None:
            return self._of(min(self.rf.manifest.shards, key=lambda s: (s.rows, s.sha256)))
        if slot in self._homes:
            return self._of(self._homes[slot])
        if slot not in self.changes:
            smallest = min(self.rf.manifest.shards, key=lambda s: (s.bytes, s.sha256))
            self.changes[slot] = DatasetChange(self.rf.path, smallest, is_new=True, **self.shared)
        return self.changes[slot]

    def _of(self, record) -> DatasetChange:
        known = self.changes.get(record.sha256)
        if known is None:
            known = DatasetChange(self.rf.path, record, **self.shared)
            self.changes[record.sha256] = known
        return known

    def ordered(self) -> list[DatasetChange]:
        return [self.changes[name] for name in sorted(self.changes, key=str)]


Planned = tuple[list[DatasetChange], set[str], Any]


def _commit(
    path: StrPath, planned: Callable[[Dataset], Planned], finished: Callable[[Any, list[Changed]], Any],
    *, executor: Any, workers: int | None, message: str, created: int | None = None,
) -> Any:  # fmt: skip
    """Plans on the newest generation, carries out, commits, and begins again where somebody was faster."""
    store = place(path)

    def change(manifest: Manifest) -> Any:
        with Dataset(store.root, generation=manifest.generation, embedder="none") as rf:
            if not rf.manifest.shards:
                raise ValueError(f"{store.root} is empty: build a new dataset")
            changes, ids, report = planned(rf)
        if not changes:
            return None, report
        done = [found for _, found in sorted(engine.map(change_shard, changes), key=_number)]
        following = replace(
            manifest, **new_generation.following(manifest), message=message,
            created=moment(created), touched=new_generation.touched(ids),
        )  # fmt: skip
        gone = [change.record for change in changes if not change.is_new]
        made = [one.built for one in done if one.built.record is not None]
        whole = with_statistics(store, following, manifest.statistics, made, gone)
        return whole, finished(report, done)

    with contextlib.closing(executor_of(executor, workers)) as engine:
        return new_generation.commit(store, change)


def _number(found):
    return found[0]


def moment(created: int | None) -> int:
    """When a commit is made, unless the caller says so."""
    return (creation_time() or time.time_ns()) if created is None else created


# ----------------------------------------------------------------------------------- the changes


def add(path: StrPath, sources: Any = (), **options: Any) -> SyncReport:
    """Adds folders, globs and files, and Document objects (documents=). Documents of changed files are replaced, none is removed.

    Options are those of sync.
    """
    return _follow(path, sources, False, **options)


def sync(path: StrPath, sources: Any, **options: Any) -> SyncReport:
    """Makes the documents of a dataset those of some folders, globs and files. Returns a SyncReport.

    Only shards with a changed document are touched. Options: dry_run, embedder, embedding_cache, tags and metadata for every
    document that is read (those of the build unless given), documents to put in as well, limits, errors, encoding, message,
    created, dedupe, include, exclude, ignore, progress, executor and workers. A commit that somebody else was faster with is made again; it is a ConflictError
    if both touched a document.
    """
    return _follow(path, sources, True, **options)


def _follow(
    path: StrPath, sources: Any, removes: bool, *, dry_run: bool = False,
    documents: Iterable[Document | Fields] = (), tags: Tags = (), metadata: Metadata | None = None,
    limits: Limits | None = None, errors: Errors = "strict", encoding: str | None = None,
    message: str = "", created: int | None = None, progress: Progress | None = None,
    executor: Any = None, workers: int | None = None, embedder: Any = None,
    embedding_cache: Any = None, chunking: Any = None, dedupe: bool = False,
    include: Iterable[str] | None = None, exclude: Iterable[str] | None = None,
    ignore: bool | None = None,
) -> SyncReport:  # fmt: skip
    began, given = time.perf_counter(), [Document.of(document) for document in documents]
    reading = {"limits": limits or Limits(), "errors": errors, "encoding": encoding}
    if chunking is not None:
        raise ValueError("a dataset has one chunk policy: build another one for another policy")

    def planned(rf: Dataset) -> Planned:
        report = SyncReport(rf.path, dry_run)
        labels = rf.file.config.get("labels", {})
        dealing = Dealing(
            rf, loading=reading, options={"embedder": embedder, "embedding_cache": embedding_cache},
            tags=tuple(tags or labels.get("tags", ())), metadata=metadata or labels.get("metadata", {}),
        )  # fmt: skip
        loading = Loading(sources, **reading)
        loading.selection = selected(rf.rows, include, exclude, ignore)
        _deal_sources(rf, dealing, loading, report, removes, dedupe)
        for document in given:
            (report.added if rf.shard_of(document.id) is None else report.changed).append(
                document.id
            )
            dealing.put(document)
        report.generation = rf.generation
        return ([] if dry_run else dealing.ordered()), dealing.touched, report

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


def _deal_sources(rf, dealing, loading, report, removes, dedupe):
    """Sources against documents, as a file's sync compares them."""
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
    executor: Any = None, workers: int | None = None,
) -> list[str]:  # fmt: skip
    """Deletes documents by id, by the checksum of their source, or by a filter. Returns the ids that were there.

    The new generation does not hold them. Older ones do, until vacuum removes them.
    """
    if isinstance(where, Mapping) and not where:
        raise ValueError("an empty filter deletes no document: name a condition")
    wanted = [ids] if isinstance(ids, str) else list(ids)

    def planned(rf: Dataset) -> Planned:
        named = dict.fromkeys(wanted)
        for condition in ([where] if where is not None else []) + [
            {"checksum": checksum} for checksum in checksums
        ]:
            named.update(dict.fromkeys(rf.documents_passing(condition)))
        dealing = Dealing(rf)
        found = [doc_id for doc_id in named if dealing.delete(doc_id)]
        return dealing.ordered(), dealing.touched, found

    return _commit(
        path, planned, lambda found, _: found, executor=executor, workers=workers, message=message,
        created=created,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ re-sharding


@dataclass
class Merging:
    """A shard to make of documents that lie in others, or in files that are at hand."""

    root: str
    pieces: list[tuple[str, list[str]]]  # the path of a shard, ids in it
    is_here: bool = False  # the path of a file


def merge_shards(job: Merging) -> Built:
    """Writes a shard of stored documents, as they are."""
    store = place(job.root)
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
        path, shards = os.path.join(folder, "shard.ragfile"), []
        for number, (name, _) in enumerate(job.pieces):
            local = name if job.is_here else os.path.join(folder, f"{number}.old")
            if not job.is_here:
                store.fetch(name, local)
            shards.append(rows_of(local))
        documents = [
            there
            for shard, (_, ids) in zip(shards, job.pieces, strict=True)
            for doc_id in ids
            if (there := shard.find(doc_id)) is not None
        ]
        ids = {doc_id for _, listed in job.pieces for doc_id in listed}
        rewrite(path, shards[0], documents, entries_of(_stale(shards), ids))
        for shard in shards:
            shard.close()
        return published(store, path, folder, BuildReport(path, documents=len(documents)))


def _stale(shards):
    return [entry for shard in shards for entry in shard.file.stale_records]


def compact(
    path: StrPath, *, shards: int | None = None, by: Assigning | None = None, message: str = "",
    created: int | None = None, executor: Any = None, workers: int | None = None,
) -> int:  # fmt: skip
    """Deals the documents out again, into as many shards as there are or as are named. Returns the generation.

    Answers stay the same, to the bit. by is "range", "hash" or a function, and "range" unless given.
    """
    if shards is not None and shards < 1:
        raise ValueError(f"a dataset has at least one shard, not {shards}")
    store = place(path)

    def change(manifest: Manifest) -> Any:
        with Dataset(store.root, generation=manifest.generation, embedder="none") as rf:
            sizes, homes = _document_sizes(rf)
        count = shards or max(1, len(manifest.shards))
        assignment, slot = assignment_of(sorted(sizes.items()), count, by or "range")
        jobs = [
            Merging(store.root, _pieces(ids, homes))
            for _, ids in sorted(_by_slot(sizes, slot).items())
        ]
        made = [built for _, built in sorted(engine.map(merge_shards, jobs), key=_number)]
        following = replace(
            manifest, **new_generation.following(manifest), message=message, assignment=assignment,
            created=moment(created), touched=new_generation.touched([]),
        )  # fmt: skip
        whole = with_statistics(store, following, manifest.statistics, made, list(manifest.shards))
        return whole, whole.generation

    with contextlib.closing(executor_of(executor, workers)) as engine:
        return new_generation.commit(store, change)


def _document_sizes(rf) -> tuple[dict[str, int], dict[str, str]]:
    """({id: bytes of its text}, {id: the path of its shard}) of all documents."""
    sizes, homes = {}, {}
    for number, shard in enumerate(rf.manifest.shards):
        for segment in rf.rows.snapshot.segments_of(number):
            for there in segment.live_documents():
                sizes[there.id], homes[there.id] = there.record.text_size + 1, shard.path
    return sizes, homes


def _by_slot(ids, slot) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for doc_id in sorted(ids):
        found.setdefault(slot(doc_id) or 0, []).append(doc_id)
    return found


def _pieces(ids, homes):
    found: dict[str, list[str]] = {}
    for doc_id in ids:
        found.setdefault(homes[doc_id], []).append(doc_id)
    return list(found.items())
