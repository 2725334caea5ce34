"""An open dataset, with the interface of a file (its rows are in shards/dataset_rows.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ragfile.knowledge_base import KnowledgeBase
from ragfile.search.current import Current, Embedding
from ragfile.search.opener import key_texts
from ragfile.shards import manifest as manifests
from ragfile.shards.dataset_rows import DatasetRows
from ragfile.shards.executors import ExecutorChoice, executor_of
from ragfile.shards.snapshot import DatasetSnapshot
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.shards.manifest import Manifest, ShardRecord
    from ragfile.types import StrPath, Where


class Dataset(KnowledgeBase):
    """A dataset that is open for questions, as ragfile.open() returns it.

    Args:
        path: A folder or a bucket's URL.
        embedder: Embeds questions; by default, the embedder that the dataset was built with.
        generation: The generation to open; 0 for the newest.
        embedding_cache: A file that caches embeddings.
        offline: Refuse to use the network.
        cache: A folder that caches blocks of remote shards.
        executor: Runs tasks: None (this process), "process", "ray", "dask" or an Executor.
        allow_partial: Answer without shards that fail, and list them in `missing_shards`.
        workers: Number of workers of the executor.
        trusted: Public keys; one of them must have signed the generation.

    Raises:
        FormatError: The path is not a dataset.
        SignatureError: No trusted key signed the generation.
    """

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        cache: StrPath | None = None, executor: ExecutorChoice = None, allow_partial: bool = False,
        workers: int | None = None, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        opener = DatasetOpener(
            path, generation=generation, cache=None if cache is None else str(cache),
            executor=executor, allow_partial=allow_partial, workers=workers, trusted=key_texts(trusted),
        )  # fmt: skip
        self.__setstate__(Current(opener, Embedding(embedder, embedding_cache, offline)))

    @property
    def manifest(self) -> Manifest:
        """The manifest of the open generation."""
        return cast("DatasetRows", self._open.rows).snapshot.manifest

    def shard_of(self, doc_id: str) -> ShardRecord | None:
        """Return the record of the shard of a live document, or None."""
        return cast("DatasetRows", self._open.rows).shard_of(doc_id)

    def documents_passing(self, where: Where) -> list[str]:
        """Return the ids of the documents with a chunk that passes a filter."""
        return cast("DatasetRows", self._open.rows).documents_passing(where)


class DatasetOpener:
    """Opens the generations of a dataset."""

    def __init__(
        self, path: StrPath, *, generation: int = 0, cache: str | None = None, executor: ExecutorChoice = None,
        allow_partial: bool = False, workers: int | None = None,
        trusted: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.store = place(path)
        self.path = self.store.root
        self.executor = executor_of(executor, workers)
        self._options: dict[str, Any] = {
            "generation": generation, "cache": cache, "allow_partial": allow_partial, "trusted": trusted,
        }  # fmt: skip
        self._engine: dict[str, Any] = {"executor": executor, "workers": workers}

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self.path, {**self._options, **self._engine})

    def open(self) -> DatasetRows:
        return DatasetRows(DatasetSnapshot(self.store, **self._options), self.executor)

    def seen(self, rows: DatasetRows) -> object:
        return rows.generation

    def has_newer(self, rows: DatasetRows, seen: object) -> bool:
        if self._options["generation"]:
            return False
        name = self.store.newest(manifests.FOLDER)
        return (manifests.generation_of(name or "") or 0) > rows.generation

    def is_same(self, rows: DatasetRows, fresh: DatasetRows) -> bool:
        return rows.generation == fresh.generation

    def close(self, rows: DatasetRows) -> None:
        self.executor.close()


def _reopened(path: str, options: dict[str, Any]) -> DatasetOpener:
    return DatasetOpener(path, **options)
