"""An open dataset, with the surface of one file: many shards, asked as one (shards/dataset_rows.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragfile.knowledge_base import KnowledgeBase
from ragfile.search.current import Current, Embedding
from ragfile.search.opener import key_texts
from ragfile.shards import manifest as manifests
from ragfile.shards.dataset_rows import DatasetRows
from ragfile.shards.executors import executor_of
from ragfile.shards.snapshot import DatasetSnapshot
from ragfile.shards.stores import place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.embedding.protocol import Embedder
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.shards.manifest import Manifest, ShardRecord
    from ragfile.types import StrPath, Where


class Dataset(KnowledgeBase):
    """A dataset opened for asking; see the package's open()."""

    def __init__(
        self, path: StrPath, *, embedder: str | Embedder | None = None, generation: int = 0,
        strict: bool = False, embedding_cache: StrPath | bool | None = None, offline: bool = False,
        cache: StrPath | None = None, executor: Any = None, allow_partial: bool = False,
        workers: int | None = None, trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        opener = DatasetOpener(
            path, generation=generation, cache=None if cache is None else str(cache),
            executor=executor, allow_partial=allow_partial, workers=workers, trusted=key_texts(trusted),
        )  # fmt: skip
        self.__setstate__(Current(opener, Embedding(embedder, embedding_cache, offline)))

    @property
    def manifest(self) -> Manifest:
        """The manifest of the generation that is open."""
        return self._open.rows.snapshot.manifest

    def shard_of(self, doc_id: str) -> ShardRecord | None:
        """The record of the shard of a live document."""
        return self._open.rows.shard_of(doc_id)

    def documents_passing(self, where: Where) -> list[str]:
        """The ids of the documents with a chunk that passes a filter."""
        return self._open.rows.documents_passing(where)


class DatasetOpener:
    """Opens the generations of a dataset."""

    def __init__(
        self, path: StrPath, *, generation: int = 0, cache: str | None = None, executor: Any = None,
        allow_partial: bool = False, workers: int | None = None,
        trusted: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.store = place(path)
        self.path = self.store.root
        self.executor = executor_of(executor, workers)
        self._options: dict[str, Any] = {
            "generation": generation, "cache": cache, "allow_partial": allow_partial, "trusted": trusted,
        }  # fmt: skip
        self._engine = {"executor": executor, "workers": workers}

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
