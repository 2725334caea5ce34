"""Conversion between a dataset and one file. Stored documents are copied as they are.

    dataset ─ all documents ─ one file         the bytes that a build of the same sources has
    file ─ deal out ─ a job a shard ─ statistics ─ manifest

Other stores are converted through a temporary file.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ragfile.exchange import conversion
from ragfile.file import sections
from ragfile.ground import system
from ragfile.ground.call_site import stack_level
from ragfile.ground.urls import is_dataset, is_remote
from ragfile.search.file_rows import FileRows, rows_of
from ragfile.shards import dataset_commit
from ragfile.shards.builder import FIRST, assignment_of, first_manifest, refuse_to_replace
from ragfile.shards.changes import Merging, merge_shards
from ragfile.shards.executors import ExecutorChoice, executor_of
from ragfile.shards.manifest import Stored
from ragfile.shards.shards import Shard
from ragfile.shards.stores import Store, place
from ragfile.types import Assigning, ByteOrder, Padding, PairPrecision, StrPath
from ragfile.write.builder import BuildReport
from ragfile.write.compaction import rewrite
from ragfile.write.stale_documents import entries_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragfile.types import Format

End = StrPath | tuple[Any, ...]  # a path, or a pair as ragfile.convert takes it


class JoinOptions(TypedDict, total=False):
    """Options of ragfile.convert."""

    to: Format | None
    allow_large: bool | None
    trust_pickle: bool | None
    name: str | None
    dim: int | None
    padding: Padding | None
    precision: PairPrecision | None
    byteorder: ByteOrder | None
    columns: Mapping[str, str] | None
    embedder: str | None


def is_one_of(src: End, dst: End, shards: int | None = None, to: str | None = None) -> bool:
    """Return whether the source is a dataset, or the target is to become one."""
    is_wanted = _is_to_be(dst, shards) and (to is None or shards is not None)
    return not isinstance(src, tuple) and (is_dataset(src) or is_wanted)


def _is_to_be(dst: End, shards: int | None) -> bool:
    return not isinstance(dst, tuple) and (shards is not None or os.fspath(dst).endswith("/"))


def convert(
    src: StrPath, dst: StrPath, *, shards: int | None = None, by: Assigning = "range",
    executor: ExecutorChoice = None, workers: int | None = None, created: int | None = None,
    message: str = "",
    **options: Unpack[JoinOptions],
) -> BuildReport:  # fmt: skip
    """Convert a dataset to one file, or one file to a dataset. Nothing is chunked or embedded again.

    Args:
        src: A dataset, or a store that ragfile.convert reads.
        dst: A dataset if it ends with "/" or shards is given, else a store that ragfile.convert writes.
        shards: Number of shards, 12 by default.
        by: Assignment of documents to shards: "range", "hash" or a function from an id to a number.
        executor: Writes the shards: None (this process), "process", "ray", "dask" or an Executor.
        workers: Number of workers of the executor.
        created: Time of the generation, in nanoseconds since 1970; by default, now.
        message: Message of the generation.
        options: Options of ragfile.convert.

    Returns:
        A report with the number of documents, chunks and bytes.

    Raises:
        ValueError: Both ends are datasets, or neither, or the source is empty.
        FileExistsError: The target is not empty.
    """
    began = time.perf_counter()
    with system.temporary_folder() as folder:
        if is_dataset(src):
            if _is_to_be(dst, shards):
                raise ValueError(f"{src} is a dataset already: use compact to change its shards")
            report = _joined(src, dst, folder, options)
        elif not _is_to_be(dst, shards):
            raise ValueError(f'neither {src} nor {dst} is a dataset: end its name with "/"')
        else:
            report = _dealt_out(src, dst, folder, shards or 12, by, executor, workers, options,
                                created, message)  # fmt: skip
    report.seconds = time.perf_counter() - began
    return report


def _joined(src: StrPath, dst: StrPath, folder: str, options: JoinOptions) -> BuildReport:
    """Write all shards to one file."""
    is_file = options.get("to") in (None, "ragfile") and os.fspath(dst).endswith(".ragfile")
    path = os.fspath(dst) if is_file else os.path.join(folder, "one.ragfile")
    store, count = place(src), 0
    manifest = dataset_commit.read(store)
    if not manifest.shards:
        raise ValueError(f"{store.root} is empty")
    shards = [Shard(_here(store, record, folder)) for record in manifest.shards]
    for shard, record in zip(shards, manifest.shards, strict=True):
        shard.check_identity(record.identity, record.rows)
    files = [shard.rows for shard in shards]
    documents = (d for file in files for s in file.segments for d in s.live_documents())
    stale = entries_of([entry for file in files for entry in file.file.stale_records])
    rewrite(path, files[0], documents, stale)
    count = sum(shard.documents for shard in manifest.shards)
    if not is_file:
        conversion.convert(path, dst, **options)
    return BuildReport(
        os.fspath(dst), documents=count, chunks=manifest.live, reused=manifest.live,
        file_bytes=os.path.getsize(path),
    )  # fmt: skip


def _here(store: Store, stored: Stored, folder: str) -> str:
    """Return a local path of an object."""
    if not is_remote(store.root):
        return store.url(stored.path)
    path = os.path.join(folder, stored.sha256)
    store.fetch(stored.path, path)
    return path


def _dealt_out(
    src: StrPath, dst: StrPath, folder: str, shards: int, by: Assigning, executor: ExecutorChoice,
    workers: int | None, options: JoinOptions, created: int | None, message: str,
) -> BuildReport:  # fmt: skip
    """Write the documents of one file to shards."""
    store = place(dst)
    refuse_to_replace(store)
    given: str = os.fspath(src)
    path = os.path.abspath(given)
    if conversion.format_of(src) != "ragfile":
        path = os.path.join(folder, "one.ragfile")
        conversion.convert(src, path, **options)
    with rows_of(path) as file:
        sizes = {
            document.id: document.record.text_size + 1
            for segment in file.segments
            for document in segment.live_documents()
        }
        _warn_of_left_sections(file)
    if not sizes:
        raise ValueError(f"{src} has no document")
    assignment, slot = assignment_of(sorted(sizes.items()), shards, by)
    groups: dict[int, list[str]] = {}
    for doc_id in sorted(sizes):
        groups.setdefault(slot(doc_id) or 0, []).append(doc_id)
    jobs = [
        Merging(store.root, FIRST, [(path, ids)], is_here=True) for _, ids in sorted(groups.items())
    ]
    with contextlib.closing(executor_of(executor, workers)) as engine:
        made = [built for _, built in sorted(engine.map(merge_shards, jobs), key=itemgetter(0))]
    first = first_manifest(store, made, assignment, created, message)
    if not dataset_commit.publish(store, first):
        raise FileExistsError(f"{store.root}: another job has built a dataset here in the meantime")
    return BuildReport(
        store.root, documents=len(sizes), chunks=first.live, reused=first.live,
        file_bytes=sum(shard.bytes for shard in first.shards),
    )  # fmt: skip


def _warn_of_left_sections(file: FileRows) -> None:
    """Warn of sections that shards do not take over: those that are not about documents."""
    left = [
        n for n in file.file.strategies if n != "rag.stale" and sections.compaction(n) == "kept"
    ]
    if left:
        message = f"{file.path}: a dataset does not hold its sections {', '.join(left)}"
        warnings.warn(message, UserWarning, stacklevel=stack_level())
