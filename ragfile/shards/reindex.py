"""Reindexing of a dataset: each shard is chunked or embedded again from its stored texts.

All shards change in one commit, since a dataset has one model and one policy.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from typing import Any

from ragfile.embedding.protocol import Embedder
from ragfile.ground import system
from ragfile.ingest.chunker import Policy
from ragfile.search.file_rows import rows_of
from ragfile.shards import dataset_commit
from ragfile.shards.builder import Built, published, with_statistics
from ragfile.shards.changes import moment
from ragfile.shards.executors import ExecutorChoice, executor_of
from ragfile.shards.manifest import Manifest
from ragfile.shards.stores import place
from ragfile.types import Fields, StrPath
from ragfile.write.builder import BuildReport
from ragfile.write.compaction import compact as compact_file
from ragfile.write.reindex import reindex as reindex_file


@dataclass
class Reindexing:
    """A job: reindex a shard."""

    root: str
    path: str
    generation: int
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def reindex_shard(job: Reindexing) -> tuple[Built, dict[str, int]]:
    """Reindex a copy of a shard, and store the new shard."""
    store = place(job.root)
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "shard.ragfile")
        store.fetch(job.path, path)
        counts = reindex_file(path, created=0, **job.options)
        compact_file(path, created=0, renumber=True)
        with rows_of(path) as shard:
            report = BuildReport(path, documents=len(shard.document_ids()))
        return published(store, path, folder, report, job.generation), counts


def reindex(
    path: StrPath, *, chunking: Policy | str | Fields | None = None,
    embedder: str | Embedder | None = None, message: str = "", created: int | None = None,
    embedding_cache: StrPath | bool | None = None, executor: ExecutorChoice = None,
    workers: int | None = None,
) -> dict[str, int]:  # fmt: skip
    """Chunk or embed a dataset again, with another policy or model, in one commit that touches all documents.

    Args:
        path: A folder or a bucket's URL.
        chunking: The new chunk policy; by default, the dataset's.
        embedder: The new embedder; by default, the dataset's.
        message: Message of the generation.
        created: Time of the generation, in nanoseconds since 1970; by default, now.
        embedding_cache: A file that caches embeddings.
        executor: Reindexes shards: None (this process), "process", "ray", "dask" or an Executor.
        workers: Number of workers of the executor.

    Returns:
        {"recut": number of documents, "embedded": number of chunks}.

    Raises:
        ConflictError: Another writer changed the dataset in the meantime.
    """
    options = {"chunking": chunking, "embedder": embedder, "embedding_cache": embedding_cache}
    store = place(path)

    def change(manifest: Manifest) -> tuple[Manifest | None, dict[str, int]]:
        generation = manifest.generation + 1
        jobs = [
            Reindexing(store.root, shard.path, generation, options) for shard in manifest.shards
        ]
        done = dict(engine.map(reindex_shard, jobs))
        made = [done[number][0] for number in range(len(jobs))]
        counts = [done[number][1] for number in range(len(jobs))]
        total = {name: sum(one[name] for one in counts) for name in ("recut", "embedded")}
        if not any(total.values()):
            return None, total
        following = replace(
            manifest, **dataset_commit.following(manifest), message=message, created=moment(created),
            config=made[0].config, analysis=made[0].analysis,
            touched=dataset_commit.ALL, shards=(),
        )  # fmt: skip
        return with_statistics(store, following, None, made, []), total

    with contextlib.closing(executor_of(executor, workers)) as engine:
        return dataset_commit.commit(store, change)
