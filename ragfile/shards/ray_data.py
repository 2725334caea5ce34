"""Datasets in Ray Data: a source of chunks and vectors, a sink of them, and questions in batches over actors.

Memory is stated for whatever holds shards, because Ray Data counts that of a function as 0 and would start too many.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from ragfile.ground.extras import optional
from ragfile.records import Chunk
from ragfile.shards import new_generation
from ragfile.shards.builder import (
    Built,
    assignment_of,
    first_manifest,
    published,
    refuse_to_replace,
)
from ragfile.shards.executors.ray_cluster import MEMORY, environment
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.shards import opened
from ragfile.shards.stores import place
from ragfile.types import Assigning, StrPath
from ragfile.write.builder import BuildReport
from ragfile.write.writer import create

BATCH = 256  # questions
ROWS = 4096  # of a block


class BatchSearcher:
    """An actor of Ray Data that keeps a dataset open and answers batches of questions."""

    def __init__(
        self, path: str, k: int, texts: bool, options: dict[str, Any], opening: dict[str, Any]
    ) -> None:
        self._rf, self._k, self._texts = Dataset(path, **opening), k, texts
        self._options = options

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        asked = [str(text) for text in batch["question"]]
        return {**batch, **(self._hits(asked) if self._texts else self._ids(asked))}

    def _ids(self, asked):
        """Who was found, without a look at what the passages say."""
        found = self._rf.search_batch(asked, self._k, threads=1, columns=True, **self._options)
        ids, scores = np.empty(len(asked), object), np.empty(len(asked), object)
        ids[:] = found.ids
        scores[:] = [row[: len(of)] for row, of in zip(found.scores, found.ids, strict=True)]
        return {"ids": ids, "scores": scores}

    def _hits(self, asked):
        found = self._rf.search_batch(asked, self._k, threads=1, **self._options)
        answers = np.empty(len(asked), dtype=object)
        answers[:] = [
            [
                {
                    "id": hit.id, "score": hit.score, "text": hit.text, "source": hit.source,
                    "doc_id": hit.doc_id, "chunk_index": hit.chunk_index,
                } for hit in hits
            ] for hits in found
        ]  # fmt: skip
        return {"hits": answers}


def ask(
    questions: Any, path: StrPath, *, k: int = 12, batch: int = BATCH, workers: int | None = None,
    memory: int = MEMORY, texts: bool = True, opening: dict[str, Any] | None = None, **options: Any,
) -> Any:  # fmt: skip
    """A Ray Dataset with a column `question`, with a column `hits` more: a list of passages for each question.

    With texts=False there are columns `ids` and `scores` in its place, and no passage is read. options are those of
    search_batch, opening those of ragfile.open.
    """
    return questions.map_batches(
        BatchSearcher, fn_constructor_args=(os.fspath(path), k, texts, options, opening or {}), batch_size=batch,
        batch_format="numpy", concurrency=workers or 1, num_cpus=1, memory=memory,
        runtime_env={"env_vars": environment()},
    )  # fmt: skip


def map_batches(
    path: StrPath, questions: Iterable[str], *, k: int = 12, batch: int = BATCH, **options: Any
) -> list[list[dict[str, Any]]]:
    """The passages for each of many questions, in their order, over actors of Ray that keep the dataset open.

    For questions that are a Ray Dataset already there is `ask`.
    """
    data = optional("ray.data", "map_batches")
    items = [{"number": number, "question": text} for number, text in enumerate(questions)]
    found = ask(data.from_items(items), path, k=k, batch=batch, **options)
    rows = sorted(found.take_all(), key=lambda row: row["number"])
    return [list(row["hits"]) for row in rows]


def read_ragfile(path: StrPath, *, vectors: bool = True, cache: str | None = None) -> Any:
    """The chunks of a dataset as a Ray Dataset: node_id, text, metadata_, embedding, doc_id; a read task a shard."""
    data = optional("ray.data", "read_ragfile")
    store = place(path)
    manifest = new_generation.read(store)
    urls = [(store.url(shard.path), shard.bytes, shard.live) for shard in manifest.shards]
    return data.read_datasource(_source(urls, vectors, cache))


def _source(urls, vectors, cache):
    """A Ray Data source over shards."""
    source = optional("ray.data", "read_ragfile").datasource
    blocks = optional("ray.data.block", "read_ragfile")

    class Shards(source.Datasource):
        def estimate_inmemory_data_size(self) -> int:
            return sum(size for _, size, _ in urls)

        def get_read_tasks(self, parallelism: int, *more: Any, **other: Any) -> list[Any]:
            return [
                source.ReadTask(
                    lambda url=url: _tables(url, vectors, cache),
                    blocks.BlockMetadata(
                        num_rows=rows, size_bytes=size, input_files=[url], exec_stats=None
                    ),
                )
                for url, size, rows in urls
            ]

    return Shards()


def _tables(url, vectors, cache):
    """The chunks of a shard as Arrow tables."""
    table = opened(url, cache).rows.to_arrow()
    if not vectors and "embedding" in table.column_names:
        table = table.drop_columns(["embedding"])
    for first in range(0, max(len(table), 1), ROWS):
        yield table.slice(first, ROWS)


def write_ragfile(
    rows: Any, path: StrPath, *, shards: int = 12, by: Assigning = "range", embedder: Any = None,
    created: int | None = None, message: str = "", memory: int = MEMORY, **options: Any,
) -> BuildReport:  # fmt: skip
    """Writes a Ray Dataset of chunks, with the columns of read_ragfile, as a dataset; a task writes a shard.

    `embedding` may be missing: then embedder makes vectors, or there are none; a null in it is a chunk without one. options are those of ragfile.create. The
    chunks of a document share a shard.
    """
    store = place(path)
    refuse_to_replace(store)
    ids = sorted(rows.unique("doc_id"))
    assignment, slot = assignment_of([(doc_id, 1) for doc_id in ids], shards, by)
    options |= {"embedder": embedder, "created": created}

    def placed(batch: dict[str, Any]) -> dict[str, Any]:
        return {**batch, "shard": np.array([slot(str(name)) or 0 for name in batch["doc_id"]])}

    def written(batch: dict[str, Any]) -> dict[str, Any]:
        return {"built": np.array([pickle.dumps(_written(store, batch, options))], dtype=object)}

    parts = rows.map_batches(placed, batch_format="numpy").groupby("shard").map_groups(
        written, batch_format="numpy", memory=memory, runtime_env={"env_vars": environment()}
    )  # fmt: skip
    done = sorted((pickle.loads(row["built"]) for row in parts.iter_rows()), key=_first_id)
    first = first_manifest(store, done, assignment, created, message)
    if not new_generation.publish(store, first):
        raise FileExistsError(f"{store.root}: somebody else built a dataset here meanwhile")
    return BuildReport(store.root, documents=len(ids), chunks=first.live)


def _first_id(built):
    return built.record.first


def _written(store, batch, options) -> Built:
    """A shard of the chunks in a batch."""
    names = [str(name).rpartition("#") for name in batch["node_id"]]
    said = [json.loads(str(raw)) for raw in batch["metadata_"]]
    chunks = [
        Chunk(doc_id, int(number), str(text), tuple(metadata.pop("tags", ())), metadata)
        for (doc_id, _, number), text, metadata in zip(names, batch["text"], said, strict=True)
    ]
    vectors = list(batch["embedding"]) if "embedding" in batch else None
    if vectors is not None and all(vector is None for vector in vectors):
        vectors = None  # of the whole shard
    with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
        path = os.path.join(folder, "shard.ragfile")
        with create(path, **options) as writer:
            writer.add(chunks, vectors)
        return published(
            store, path, folder, BuildReport(path, documents=len(set(batch["doc_id"])))
        )
