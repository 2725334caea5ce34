"""Builds of datasets. Sources are listed once and assigned to shards, which are built by jobs on any executor.

    sources ─ list ─ deal out ─┬─ load ─ chunk ─ embed ─ write ─ describe ─┬─ statistics ─ manifest
                               └─ …  (one job a shard, any executor)      ─┘

A job depends on its sources and the options alone, so the same input gives the same dataset, byte for byte, on any number of
workers. A finished job leaves a note of its shard, from which a build that was killed continues.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypedDict, Unpack

from ragfile.ground import offline as network
from ragfile.ground import system
from ragfile.ingest.bundles import is_bundle
from ragfile.ingest.chunker import Policy
from ragfile.ingest.document_loader import Duplicate, Loading, SourceFailure
from ragfile.ingest.loaders.contract import Limits
from ragfile.ingest.source_files import Selection, Skipped, SourceFile, find
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import dataset_commit, shard_assignment, statistics
from ragfile.shards.executors import Executor, ExecutorChoice, executor_of
from ragfile.shards.manifest import (
    SHARDS,
    STATISTICS,
    Manifest,
    ShardRecord,
    Stored,
    object_name,
    shard_record,
)
from ragfile.shards.shard_description import file_sha256, record_of
from ragfile.shards.shards import opened
from ragfile.shards.stores import Store, place
from ragfile.types import Assigning, Errors, Metadata, Progress, Sources, StrPath, Tags
from ragfile.write.builder import BuildReport, build_from, cut, labels_record
from ragfile.write.draft import creation_time
from ragfile.write.writer import parity_record

if TYPE_CHECKING:
    from ragfile.embedding.protocol import Embedder
    from ragfile.ingest.analysis import Analysis
    from ragfile.types import Fields, Precision

FIRST = 1  # the generation of a build
NOTES = "building/"
LATER = ("first_generation", "analysis")  # in the configuration of a file, not of a dataset


@dataclass
class Job:
    """A job: build one shard of some sources."""

    root: str
    sources: list[SourceFile]
    loading: dict[str, Any]
    options: dict[str, Any]
    tags: Tags | None = None
    metadata: Metadata | None = None
    resume: bool = True
    selection: Selection = field(default_factory=Selection)


class Assigned(NamedTuple):
    """An assignment of ids to shards: the manifest's field, and a function from an id to a number."""

    field: dict[str, Any]
    slot: Callable[[str], int | None]


@dataclass
class Built:
    """A stored shard, the statistics that it adds, and a report."""

    record: ShardRecord | None
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    analysis: str | None = None
    statistics: bytes = b""
    report: BuildReport = field(default_factory=lambda: BuildReport(""))
    is_reused: bool = False


class FileBuildOptions(TypedDict, total=False):
    """The options of ragfile.build that a build of a dataset passes on to its shards."""

    embedder: str | Embedder | None
    chunking: Policy | str | Fields | None
    analysis: Analysis | None
    precision: Precision
    portable: bool
    embedding_cache: StrPath | bool | None
    parity: int


def build(
    sources: Sources, out: StrPath, *, shards: int = 12, executor: ExecutorChoice = None,
    by: Assigning = "range", workers: int | None = None, progress: Progress | None = None,
    limits: Limits | None = None, dedupe: bool = False, errors: Errors = "strict",
    encoding: str | None = None, tags: Tags | None = None, metadata: Metadata | None = None,
    resume: bool = True, offline: bool = False, created: int | None = None, message: str = "",
    include: Iterable[str] = (), exclude: Iterable[str] = (), ignore: bool = True,
    keep_originals: bool = False, **options: Unpack[FileBuildOptions],
) -> BuildReport:  # fmt: skip
    """Build a dataset from folders, globs and files.

    A build that was killed continues when you repeat the call.

    Args:
        sources: Folders, globs and files.
        out: An empty folder or s3:// URL.
        shards: Approximate number of shards.
        executor: Builds shards: None (this process), "process", "ray", "dask" or an Executor.
        by: Assignment of documents to shards: "range" (of ids: neighbours stay together), "hash", or a function from an id
            to a number.
        workers: Number of workers of the executor.
        message: Message of the generation.
        keep_originals: Also store the bytes of each file whose text does not give them back, as `ragfile.build` does.
        options: Options of ragfile.build; the parameters that are not listed here are also its own.

    Returns:
        A report with the number of files, documents, chunks and bytes, and the files that could not be read.

    Raises:
        ValueError: An option is wrong, or the sources have no document.
        FileExistsError: The target is not empty.
    """
    if shards < 1:
        raise ValueError(f"a dataset has at least one shard, not {shards}")
    began, store = time.perf_counter(), place(out)
    skipped: list[Skipped] = []
    refuse_to_replace(store)
    listing = Loading(sources, limits=limits or Limits(), errors=errors, encoding=encoding)
    bundle = is_bundle(sources)
    selection = Selection(tuple(include), tuple(exclude), ignore, keep_originals or bundle, bundle)
    found, duplicates = _deduped(list(find(sources, skipped, selection=selection)), dedupe)
    weights = sorted((source.id, _size(source.path)) for source in found)
    assignment, slot = assignment_of(weights, shards, by)
    reading = {"limits": listing.limits, "errors": errors, "encoding": encoding}
    jobs = [
        Job(
            store.root,
            group,
            reading,
            {**options, "created": created},
            tags,
            metadata,
            resume,
            selection,
        )
        for _, group in sorted(shard_assignment.grouped(found, slot).items())
    ]
    with network.offline(offline), contextlib.closing(executor_of(executor, workers)) as engine:
        done = carried_out(engine, jobs, progress)
    report = _summed(done, store.root)
    report.skipped, report.duplicates = [*skipped, *report.skipped], duplicates
    if not report.documents:
        raise ValueError(_why_nothing(report))
    first = first_manifest(store, done, assignment, created, message)
    if not dataset_commit.publish(store, first):
        raise FileExistsError(f"{store.root}: another job has built a dataset here in the meantime")
    for note in list(store.names(NOTES)):
        store.delete(note.name)
    store.drop_folder(NOTES)
    report.seconds = time.perf_counter() - began
    return report


def refuse_to_replace(store: Store) -> None:
    """Raise FileExistsError unless the store is empty, or has only the leftovers of a killed build."""
    if dataset_commit.find(store) is not None:
        raise FileExistsError(
            f"{store.root} is a dataset already: add to it or sync it, or choose another place"
        )
    own = (SHARDS, STATISTICS, NOTES)
    other = next((found.name for found in store.names() if not found.name.startswith(own)), None)
    if other is not None:
        raise FileExistsError(f"{store.root} holds {other}: choose an empty place")


def _deduped(
    sources: list[SourceFile], is_wanted: bool
) -> tuple[list[SourceFile], list[Duplicate]]:
    """Return (sources with different bytes, duplicates); all sources unless that is wanted."""
    kept: list[SourceFile] = []
    left_out: list[Duplicate] = []
    seen: dict[str, SourceFile] = {}
    if not is_wanted:
        return sources, left_out
    for source in sources:
        first = seen.setdefault(_checksum(source.path), source)
        if first is source:
            kept.append(source)
        else:
            left_out.append(Duplicate(source.path, first.path))
    return kept, left_out


def _checksum(path: str) -> str:
    """Return the SHA-256 of a file; a text of its own for an unreadable one."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return f"unread {path}"


def assignment_of(weights: Sequence[tuple[str, int]], shards: int, by: Assigning) -> Assigned:
    """Assign ids to shards, given (id, weight) pairs in order of id."""
    if callable(by):
        return Assigned({"by": "given"}, by)
    if by not in ("range", "hash"):
        raise ValueError(f"by is 'range', 'hash' or a function, not {by!r}")
    is_hash = by == "hash"
    found = (
        shard_assignment.by_hash(shards) if is_hash else shard_assignment.by_range(weights, shards)
    )

    def slot_of(doc_id: str) -> int | None:
        return shard_assignment.slot_of(found, doc_id)

    return Assigned(found, slot_of)


def _size(path: str) -> int:
    """Return a weight: the bytes of a file, plus 1."""
    try:
        return os.path.getsize(path) + 1
    except OSError:
        return 1


def carried_out(engine: Executor, jobs: list[Job], progress: Progress | None) -> list[Built]:
    """Run all jobs. Return their results in order."""
    found: dict[int, Built] = {}
    documents = chunks = 0
    for number, built in engine.map(build_shard, jobs):
        found[number] = built
        documents, chunks = documents + built.report.documents, chunks + built.report.chunks
        if progress is not None:
            progress(documents, chunks, len(found) / len(jobs))
    return [found[number] for number in range(len(jobs))]


# --------------------------------------------------------------------------------------- a job


def build_shard(job: Job) -> Built:
    """Build one shard and store it, unless an earlier build did."""
    store = place(job.root)
    name = f"{NOTES}{_digest(job)}"
    if job.resume and (known := _noted(store, name)) is not None:
        return known
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "shard.ragfile")
        report = _write(job, path)
        if not report.documents:
            return Built(None, report=report)
        built = published(store, path, folder, report, FIRST)
    if job.resume and built.record is not None:
        store.put_new(f"{name}.ragfile", built.statistics)
        store.put_new(f"{name}.json", _note_of(built, built.record))
    return built


def _write(job: Job, path: str) -> BuildReport:
    """Write the documents of a job to a file; the report of a job without documents has none."""
    loading = Loading([], selection=job.selection, **job.loading)
    documents = (document for source in job.sources for document in loading.file(source))
    report = BuildReport(path)
    options = dict(job.options)
    labels = labels_record(job.tags, job.metadata, job.selection) or {}
    config = {**labels, **parity_record(options.pop("parity", 0))}
    with contextlib.suppress(_Nothing):
        report = build_from(
            cut(loading, documents, job.tags, job.metadata, Policy.of(job.options.get("chunking"))), path,
            config=config, why=_nothing, **options,
        )  # fmt: skip
    report.files, report.source_bytes = loading.files, loading.bytes
    report.failures, report.duplicates = loading.failures, loading.duplicates
    report.skipped, report.encodings = loading.skipped, loading.encodings
    return report


class _Nothing(Exception):
    """No source of a job has a document."""


def _nothing() -> NoReturn:
    raise _Nothing


def published(store: Store, path: str, folder: str, report: BuildReport, generation: int) -> Built:
    """Store a finished file as a shard that a generation adds."""
    with rows_of(path) as shard:
        record = record_of(shard, path, generation)
        config = {n: value for n, value in shard.config.items() if n not in LATER}
        lexicons = [s.lexicon for s in shard.segments if s.has("rag.terms")]
        own = statistics.written(
            folder, None, [shard], [], record.live, record.total_length, config
        )
    store.put(record.path, path)
    with open(own, "rb") as file:
        raw = file.read()
    return Built(record, config, lexicons[0].config if lexicons else None, raw, report)


# --------------------------------------------------------------------------------------- notes


def _digest(job: Job) -> str:
    """Return the name of a job: a hash of its options and the content of its sources."""
    options = [job.loading, job.options, job.tags, job.metadata, job.selection]
    digest = hashlib.sha256(repr(options).encode("utf-8", "surrogatepass"))
    for source in job.sources:
        name = f"\0{source.id}\0{source.path}\0{_checksum(source.path)}\0{_modified(source.path)}"
        digest.update(name.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _modified(path: str) -> int:
    """Return the time of a file, as a document's metadata have it."""
    try:
        return int(os.path.getmtime(path))
    except OSError:
        return 0


def _note_of(built: Built, record: ShardRecord) -> bytes:
    note = {"config": built.config, "analysis": built.analysis, "shard": record.as_json()}
    return json.dumps(note, sort_keys=True).encode("ascii")


def _noted(store: Store, name: str) -> Built | None:
    """Return the shard that an earlier build made, if the store still has it."""
    try:
        note = json.loads(store.read(f"{name}.json"))
        raw = store.read(f"{name}.ragfile")
        record = shard_record(note["shard"], name, FIRST)
    except (OSError, ValueError, KeyError):
        return None
    if store.size(record.path) != record.bytes:
        return None
    report = BuildReport("", documents=record.documents, chunks=record.live, reused=record.live)
    return Built(record, note["config"], note["analysis"], raw, report, True)


# ------------------------------------------------------------------------------------- the whole


def first_manifest(
    store: Store, done: list[Built], assignment: dict[str, Any], created: int | None, message: str
) -> Manifest:
    """Return the first generation, with its statistics stored."""
    made = [built for built in done if built.record is not None]
    empty = Manifest(
        generation=FIRST, created=creation_time() if created is None else created, message=message,
        config=made[0].config, analysis=made[0].analysis, assignment=assignment,
    )  # fmt: skip
    return with_statistics(store, empty, None, made, [])


def with_statistics(
    store: Store, manifest: Manifest, before: Stored | None, made: list[Built],
    gone: list[ShardRecord],
) -> Manifest:  # fmt: skip
    """Return the manifest with added and without removed shards, with its statistics stored."""
    names = {record.sha256 for record in gone}
    records = {shard.sha256: shard for shard in manifest.shards if shard.sha256 not in names}
    known = {shard.sha256: shard for shard in manifest.shards}
    added = [built.record for built in made if built.record is not None]
    records |= {record.sha256: known.get(record.sha256, record) for record in added}
    found = _with_code(manifest, made).with_shards(list(records.values()))
    rows, length = found.live, sum(shard.total_length for shard in found.shards)
    stored = _stored_statistics(store, found, before, made, gone, rows, length) if rows else None
    return replace(found, rows=rows, total_length=length, statistics=stored)


def _with_code(manifest: Manifest, made: list[Built]) -> Manifest:
    """Return the manifest with the ranking of source code that an added shard records."""
    found = next((b.config["code"] for b in made if b.record and "code" in b.config), None)
    return (
        manifest if found is None else replace(manifest, config={**manifest.config, "code": found})
    )


def _stored_statistics(
    store: Store, manifest: Manifest, before: Stored | None, made: list[Built],
    gone: list[ShardRecord], rows: int, length: int,
) -> Stored:  # fmt: skip
    """Write the statistics of a generation, from those before if possible."""
    with system.temporary_folder() as folder:
        parts: list[FileRows] = []
        for number, built in enumerate(made):
            path = os.path.join(folder, f"{number}.part")
            with open(path, "wb") as file:
                file.write(built.statistics)
            parts.append(rows_of(path))
        removed = [opened(store.url(record.path)).rows for record in gone]
        old = None if before is None else opened(store.url(before.path)).rows
        try:
            path = statistics.written(folder, old, parts, removed, rows, length, manifest.config)
        except statistics.Unlisted:
            shards = [opened(store.url(record.path)).rows for record in manifest.shards]
            path = statistics.written(folder, None, shards, [], rows, length, manifest.config)
        digest = file_sha256(path)
        if before is not None and before.sha256 == digest:
            return before
        name = object_name(STATISTICS, digest, manifest.generation)
        stored = Stored(name, os.path.getsize(path), digest)
        store.put(name, path)
        for part in parts:
            part.close()
    return stored


def _summed(done: list[Built], path: str) -> BuildReport:
    report = BuildReport(path)
    for built in done:
        one = built.report
        for name in ("files", "documents", "chunks", "source_bytes", "embedded", "reused"):
            setattr(report, name, getattr(report, name) + getattr(one, name))
        report.file_bytes += 0 if built.record is None else built.record.bytes
        report.failures += one.failures
        report.skipped += one.skipped
        report.encodings |= one.encodings
    return report


def _why_nothing(report: BuildReport) -> str:
    reasons: list[SourceFailure | Skipped] = [*report.failures, *report.skipped]
    found = "no document in the sources"
    return f"{found}: {reasons[0].path}: {reasons[0].reason}" if reasons else found
