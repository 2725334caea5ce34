"""A dataset as one file, and one file as a dataset. Documents are carried over as they are stored.

    dataset ─ all documents ─ one file         the bytes that a build of the same sources has
    file ─ deal out ─ a job a shard ─ statistics ─ manifest

Any other store takes the way over a file of its own.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from typing import Any

from ragfile.exchange import conversion
from ragfile.file import sections
from ragfile.ground.urls import is_dataset, is_remote
from ragfile.search.file_rows import rows_of
from ragfile.shards import new_generation
from ragfile.shards.builder import assignment_of, first_manifest, refuse_to_replace
from ragfile.shards.changes import Merging, merge_shards
from ragfile.shards.executors import executor_of
from ragfile.shards.shards import Shard
from ragfile.shards.stores import place
from ragfile.types import Assigning, StrPath
from ragfile.write.builder import BuildReport
from ragfile.write.compaction import rewrite
from ragfile.write.stale_documents import entries_of


def is_one_of(src: Any, dst: Any, shards: int | None = None, to: str | None = None) -> bool:
    """Whether one of two ends is a dataset: one that is there, or one to make unless another format is named."""
    is_wanted = _is_to_be(dst, shards) and (to is None or shards is not None)
    return not isinstance(src, tuple) and (is_dataset(src) or is_wanted)


def _is_to_be(dst, shards):
    return not isinstance(dst, tuple) and (shards is not None or os.fspath(dst).endswith("/"))


def convert(
    src: StrPath, dst: StrPath, *, shards: int | None = None, by: Assigning = "range",
    executor: Any = None, workers: int | None = None, created: int | None = None,
    message: str = "", **options: Any,
) -> BuildReport:  # fmt: skip
    """Makes one file of a dataset, or a dataset of one file; nothing is chunked or embedded again.

    dst is a dataset when it ends with "/", or with shards. Either end that is neither can be whatever ragfile.convert reads
    and writes, and options are its own. executor and workers say who writes the shards.
    """
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
        if is_dataset(src):
            if _is_to_be(dst, shards):
                raise ValueError(
                    f"{src} is a dataset already: compact deals it out into other shards"
                )
            report = _joined(src, dst, folder, options)
        elif not _is_to_be(dst, shards):
            raise ValueError(f'neither {src} nor {dst} is a dataset: end its name with "/"')
        else:
            report = _dealt_out(src, dst, folder, shards or 12, by, executor, workers, options,
                                created, message)  # fmt: skip
    report.seconds = time.perf_counter() - began
    return report


def _joined(src, dst, folder, options) -> BuildReport:
    """One file of all shards."""
    is_file = options.get("to") in (None, "ragfile") and os.fspath(dst).endswith(".ragfile")
    path = os.fspath(dst) if is_file else os.path.join(folder, "one.ragfile")
    store, count = place(src), 0
    manifest = new_generation.read(store)
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


def _here(store, stored, folder):
    """The path of an object on this machine."""
    if not is_remote(store.root):
        return store.url(stored.path)
    path = os.path.join(folder, stored.sha256)
    store.fetch(stored.path, path)
    return path


def _dealt_out(
    src, dst, folder, shards, by, executor, workers, options, created, message
) -> BuildReport:
    """The shards of one file."""
    store = place(dst)
    refuse_to_replace(store)
    path = os.path.abspath(os.fspath(src))
    if conversion.format_of(src) != "ragfile":
        path = os.path.join(folder, "one.ragfile")
        conversion.convert(src, path, **options)
    with rows_of(path) as file:
        sizes = {
            there.id: there.record.text_size + 1
            for segment in file.segments
            for there in segment.live_documents()
        }
        _tell_what_is_left(file)
    if not sizes:
        raise ValueError(f"{src} has no document")
    assignment, slot = assignment_of(sorted(sizes.items()), shards, by)
    groups: dict[int, list[str]] = {}
    for doc_id in sorted(sizes):
        groups.setdefault(slot(doc_id) or 0, []).append(doc_id)
    jobs = [Merging(store.root, [(path, ids)], is_here=True) for _, ids in sorted(groups.items())]
    with contextlib.closing(executor_of(executor, workers)) as engine:
        made = [built for _, built in sorted(engine.map(merge_shards, jobs), key=_number)]
    first = first_manifest(store, made, assignment, created, message)
    if not new_generation.publish(store, first):
        raise FileExistsError(f"{store.root}: somebody else built a dataset here meanwhile")
    return BuildReport(
        store.root, documents=len(sizes), chunks=first.live, reused=first.live,
        file_bytes=sum(shard.bytes for shard in first.shards),
    )  # fmt: skip


def _number(found):
    return found[0]


def _tell_what_is_left(file):
    """Sections of a whole file that are not about documents have no place in shards."""
    left = [
        n for n in file.file.strategies if n != "rag.stale" and sections.compaction(n) == "kept"
    ]
    if left:
        said = f"{file.path}: a dataset does not hold its sections {', '.join(left)}"
        warnings.warn(said, UserWarning, stacklevel=4)
