"""Datasets in Ray Data: a source of chunks and vectors, a sink for them, and batches of questions over actors.

Memory is declared for every task that holds shards: Ray Data assumes 0 and would start too many.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np

from ragfile.embedding.protocol import Embedder
from ragfile.file.arrow import noted_model
from ragfile.ground import system
from ragfile.ground.extras import optional
from ragfile.ground.tagged_metadata import with_own_tags
from ragfile.records import Chunk
from ragfile.shards import dataset_commit
from ragfile.shards.builder import (
    FIRST,
    Built,
    assignment_of,
    first_manifest,
    published,
    refuse_to_replace,
)
from ragfile.shards.executors.ray_cluster import MEMORY, environment
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.shards import opened
from ragfile.shards.stores import Store, place
from ragfile.types import Assigning, Metadata, StrPath
from ragfile.write.builder import BuildReport
from ragfile.write.writer import create

if TYPE_CHECKING:
    from ray.data import Datasource

    from ragfile.records import Hits


BATCH = 256  # questions
ROWS = 4096  # of a block


class RayDataset(Protocol):
    """The methods of ray.data.Dataset that are used here."""

    @property
    def map_batches(self) -> Callable[..., Self]: ...
    @property
    def groupby(self) -> Callable[..., Any]: ...
    @property
    def unique(self) -> Callable[..., list[Any]]: ...
    @property
    def take_all(self) -> Callable[..., list[Any]]: ...
    @property
    def schema(self) -> Callable[[], Any]: ...


Asked = TypeVar("Asked", bound=RayDataset)


class ShardSize(NamedTuple):
    """A shard to read: its URL, bytes and live rows."""

    url: str
    size: int
    rows: int


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

    def _ids(self, asked: list[str]) -> dict[str, Any]:
        """Return ids and scores without reading the passages."""
        found = self._rf.search_batch(asked, self._k, threads=1, columns=True, **self._options)
        ids, scores = np.empty(len(asked), object), np.empty(len(asked), object)
        ids[:] = found.ids
        scores[:] = [row[: len(of)] for row, of in zip(found.scores, found.ids, strict=True)]
        return {"ids": ids, "scores": scores}

    def _hits(self, asked: list[str]) -> dict[str, Any]:
        found = cast(
            "list[Hits]", self._rf.search_batch(asked, self._k, threads=1, **self._options)
        )
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
    questions: Asked,
    path: StrPath, *, k: int = 12, batch: int = BATCH, workers: int | None = None,
    memory: int = MEMORY, texts: bool = True, opening: dict[str, Any] | None = None,
    **options: object,
) -> Asked:  # fmt: skip
    """Search for the column `question` of a Ray Dataset, and add a column `hits`: a list of passages for each question.

    Args:
        questions: A Ray Dataset with a column `question`.
        path: A folder or a bucket's URL of a dataset.
        k: Number of passages for each question.
        batch: Number of questions in a batch.
        workers: Number of actors, 1 by default.
        memory: Bytes that Ray reserves for each actor.
        texts: Add columns `ids` and `scores` instead of `hits` if False; no passage is read.
        opening: Options of ragfile.open.
        options: Options of search_batch.

    Returns:
        The Ray Dataset with the new columns.
    """
    return questions.map_batches(
        BatchSearcher, fn_constructor_args=(os.fspath(path), k, texts, options, opening or {}), batch_size=batch,
        batch_format="numpy", concurrency=workers or 1, num_cpus=1, memory=memory,
        runtime_env={"env_vars": environment()},
    )  # fmt: skip


def map_batches(
    path: StrPath,
    questions: Iterable[str],
    *,
    k: int = 12,
    batch: int = BATCH,
    **options: Any,  # Any: options of ask
) -> list[list[dict[str, Any]]]:
    """Search for many questions, over Ray actors that keep the dataset open. For a Ray Dataset of questions, use `ask`.

    Args:
        path: A folder or a bucket's URL of a dataset.
        questions: The questions.
        k: Number of passages for each question.
        batch: Number of questions in a batch.
        options: Options of `ask`.

    Returns:
        A list of passages for each question, in their order.
    """
    data = optional("ray.data", "map_batches")
    items = [{"number": number, "question": text} for number, text in enumerate(questions)]
    found = ask(data.from_items(items), path, k=k, batch=batch, **options)
    rows = sorted(found.take_all(), key=itemgetter("number"))
    return [list(row["hits"]) for row in rows]


def read_ragfile(
    path: StrPath, *, vectors: bool = True, cache: str | None = None
) -> Any:  # Any: a ray.data.Dataset
    """Read the chunks of a dataset as a Ray Dataset, with one read task for each shard.

    Args:
        path: A folder or a bucket's URL of a dataset.
        vectors: Read the column `embedding`.
        cache: A folder that caches blocks of remote shards.

    Returns:
        A Ray Dataset with columns node_id, text, metadata_, embedding and doc_id.
    """
    data = optional("ray.data", "read_ragfile")
    store = place(path)
    manifest = dataset_commit.read(store)
    parts = [ShardSize(store.url(shard.path), shard.bytes, shard.live) for shard in manifest.shards]
    return data.read_datasource(_source(parts, vectors, cache))


def _source(parts: list[ShardSize], vectors: bool, cache: str | None) -> Datasource:
    """Return a Ray Data source over shards."""
    source = optional("ray.data", "read_ragfile").datasource
    blocks = optional("ray.data.block", "read_ragfile")

    class Shards(source.Datasource):  # type: ignore[name-defined]  # a module that is imported on use
        def estimate_inmemory_data_size(self) -> int:
            return sum(part.size for part in parts)

        def get_read_tasks(self, parallelism: int, *more: object, **other: object) -> list[Any]:
            return [
                source.ReadTask(
                    lambda url=url: _tables(url, vectors, cache),
                    blocks.BlockMetadata(
                        num_rows=rows, size_bytes=size, input_files=[url], exec_stats=None
                    ),
                )
                for url, size, rows in parts
            ]

    return Shards()


def _tables(url: str, vectors: bool, cache: str | None) -> Iterator[Any]:
    """Yield the chunks of a shard as Arrow tables."""
    table = opened(url, cache).rows.to_arrow()
    if not vectors and "embedding" in table.column_names:
        table = table.drop_columns(["embedding"])
    for first in range(0, max(len(table), 1), ROWS):
        yield table.slice(first, ROWS)


def write_ragfile(
    rows: RayDataset,
    path: StrPath, *, shards: int = 12, by: Assigning = "range", embedder: str | Embedder | None = None,
    created: int | None = None, message: str = "", memory: int = MEMORY,
    **options: object,
) -> BuildReport:  # fmt: skip
    """Write a Ray Dataset of chunks as a dataset, with one task for each shard.

    Args:
        rows: A Ray Dataset with the columns of read_ragfile. `embedding` may be missing; a null in it is a chunk without vector.
            The model of the vectors is taken from the dataset of read_ragfile.
        path: An empty folder or s3:// URL.
        shards: Number of shards. The chunks of a document share a shard.
        by: Assignment of documents to shards: "range", "hash" or a function from an id to a number.
        embedder: Embeds the chunks if there is no column `embedding`.
        created: Time of the generation, in nanoseconds since 1970; by default, now.
        message: Message of the generation.
        memory: Bytes that Ray reserves for each task.
        options: Options of ragfile.create.

    Returns:
        A report with the number of documents and chunks.

    Raises:
        FileExistsError: The path is not empty.
    """
    store = place(path)
    refuse_to_replace(store)
    ids = sorted(rows.unique("doc_id"))
    assignment, slot = assignment_of([(doc_id, 1) for doc_id in ids], shards, by)
    options |= {"embedder": embedder, "created": created}
    schema = rows.schema()
    if embedder is None and schema is not None and "embedding" in schema.names:
        noted = noted_model(schema.base_schema) or {}
        options["config"] = {**noted, **cast("Metadata", options.get("config") or {})}

    def placed(batch: dict[str, Any]) -> dict[str, Any]:
        return {**batch, "shard": np.array([slot(str(name)) or 0 for name in batch["doc_id"]])}

    def written(batch: dict[str, Any]) -> dict[str, Any]:
        return {"built": np.array([pickle.dumps(_written(store, batch, options))], dtype=object)}

    parts = rows.map_batches(placed, batch_format="numpy").groupby("shard").map_groups(
        written, batch_format="numpy", memory=memory, runtime_env={"env_vars": environment()}
    )  # fmt: skip
    done = sorted((pickle.loads(row["built"]) for row in parts.iter_rows()), key=_first_id)
    first = first_manifest(store, done, assignment, created, message)
    if not dataset_commit.publish(store, first):
        raise FileExistsError(f"{store.root}: another job has built a dataset here in the meantime")
    return BuildReport(store.root, documents=len(ids), chunks=first.live)


def _first_id(built: Built) -> str:
    return "" if built.record is None else built.record.first


def _written(store: Store, batch: dict[str, Any], options: dict[str, Any]) -> Built:
    """Write the chunks in a batch as a shard."""
    names = [str(name).rpartition("#") for name in batch["node_id"]]
    metadata_of = [json.loads(str(raw)) for raw in batch["metadata_"]]
    chunks = [
        Chunk(
            doc_id, int(number), str(text), tuple(metadata.get("tags", ())), with_own_tags(metadata)
        )
        for (doc_id, _, number), text, metadata in zip(
            names, batch["text"], metadata_of, strict=True
        )
    ]
    vectors = list(batch["embedding"]) if "embedding" in batch else None
    if vectors is not None and all(vector is None for vector in vectors):
        vectors = None  # no chunk of the shard has one
    with system.temporary_folder() as folder:
        path = os.path.join(folder, "shard.ragfile")
        with create(path, **options) as writer:
            writer.add(chunks, vectors)
        return published(
            store, path, folder, BuildReport(path, documents=len(set(batch["doc_id"]))), FIRST
        )
