"""Exact search over a .ragfile, for the harnesses ann-benchmarks and big-ann-benchmarks.

Both harnesses call an algorithm by its methods, so neither is imported. In ann-benchmarks, add a folder with
a Dockerfile that installs ragfile, and a config.yml that names this module and class:

    float:
      any:
      - base_args: ['@metric']
        constructor: Ragfile
        disabled: false
        docker_tag: ann-benchmarks-ragfile
        module: ragfile.adapters.ann_benchmarks
        name: ragfile
        run_groups:
          f32: {args: [32]}
          f16: {args: [16]}

`Ragfile` answers `query` and `batch_query`. `RagfileFiltered` is for the filtered track of big-ann-benchmarks, where
results must have all tags of a query.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ragfile.ground import system
from ragfile.opener import open as open_file
from ragfile.write.writer import create

if TYPE_CHECKING:
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import Floats, Int64s, Metric, Precision

METRICS: dict[str, Metric] = {"angular": "cosine", "euclidean": "l2", "ip": "ip"}
BATCH = 65_536  # rows per call


class _Tags(Protocol):
    """A sparse matrix, like those of scipy."""

    indices: Int64s
    indptr: Int64s

    def tocsc(self) -> _Tags: ...


class _Dataset(Protocol):
    """A data set of big-ann-benchmarks."""

    def get_dataset(self) -> Floats: ...
    def get_dataset_metadata(self) -> _Tags: ...


class _Built:
    """A temporary file of vectors, with the row numbers of the data set."""

    def __init__(self, metric: str, precision: int = 32) -> None:
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {sorted(METRICS)}, not {metric!r}")
        if precision not in (16, 32):
            raise ValueError(f"precision must be 16 or 32, not {precision!r}")
        self._metric: Metric = METRICS[metric]
        self._precision: Precision = 16 if precision == 16 else 32
        self._folder = system.temporary_folder()
        self._opened: KnowledgeBase | None = None
        self.name = f"ragfile(f{precision}, exact)"

    @property
    def _file(self) -> KnowledgeBase:
        if self._opened is None:
            raise ValueError("call fit() first")
        return self._opened

    def _build(self, vectors: Floats) -> None:
        path, count = os.path.join(self._folder.name, "vectors.ragfile"), len(vectors)
        with create(
            path, dim=vectors.shape[1], metric=self._metric, precision=self._precision
        ) as writer:
            for at in range(0, count, BATCH):
                rows = np.asarray(vectors[at : at + BATCH], dtype=np.float32)
                # ids have equal width, so that the order by id is the order of vectors
                chunks = [
                    {"doc_id": f"{n:012d}", "chunk_index": 0, "content": "-"}
                    for n in range(at, at + len(rows))
                ]
                writer.add(chunks, rows)
        self._opened = open_file(path)
        self._file.nearest(np.zeros((1, vectors.shape[1]), np.float32), 1)  # finish lazy opening

    def get_memory_usage(self) -> float:
        """Return the size of the mapped file in KiB; 0 before `fit`, when harnesses ask first."""
        path = os.path.join(self._folder.name, "vectors.ragfile")
        return os.path.getsize(path) / 1024 if os.path.exists(path) else 0.0

    def done(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._folder.cleanup()

    def get_additional(self) -> dict[str, object]:
        return {}

    def __str__(self) -> str:
        return self.name


class Ragfile(_Built):
    """ann-benchmarks' interface (BaseANN). It has no parameters: every answer is exact."""

    def fit(self, vectors: Floats) -> None:
        self._build(np.asarray(vectors))

    def set_query_arguments(self, *arguments: object) -> None:
        """Accept and ignore the arguments of a configuration."""

    def query(self, vector: Floats, n: int) -> Int64s:
        rows, _ = self._file.nearest(np.asarray(vector, np.float32)[None], n, threads=1)
        nearest: Int64s = rows[0]
        return nearest

    def batch_query(self, vectors: Floats, n: int) -> None:
        self._found = self._file.nearest(np.asarray(vectors, np.float32), n)[0]

    def get_batch_results(self) -> Int64s:
        return self._found


class RagfileFiltered(_Built):
    """big-ann-benchmarks' interface for its filtered track (BaseFilterANN)."""

    def __init__(self, metric: str, index_params: dict[str, Any] | None = None) -> None:
        super().__init__(metric, (index_params or {}).get("precision", 32))

    def fit(self, dataset: str | _Dataset) -> None:
        """Build the file from a data set, or the name of one in the harness."""
        data: _Dataset = (
            import_module("benchmark.datasets").DATASETS[dataset]()
            if isinstance(dataset, str)
            else dataset
        )
        self._build(data.get_dataset())
        by_tag = data.get_dataset_metadata().tocsc()

        def rows_of(tag: int) -> Int64s:
            rows: Int64s = by_tag.indices[by_tag.indptr[tag] : by_tag.indptr[tag + 1]]
            return rows

        self._rows_of = rows_of

    def load_index(self, dataset: object) -> bool:
        return False

    def set_query_arguments(self, arguments: object) -> None:
        """Accept and ignore the arguments of a configuration."""

    def filtered_query(self, vectors: Floats, filters: _Tags, k: int) -> None:
        """Find the k nearest vectors that have all tags of their query; pad with −1."""
        self._found = np.full((len(vectors), k), -1, np.int64)
        for number, vector in enumerate(np.asarray(vectors, np.float32)):
            tags = filters.indices[filters.indptr[number] : filters.indptr[number + 1]]
            where = self._passing(tags) if len(tags) else None
            if where is not None and not len(where):
                continue
            rows = self._file.nearest(vector[None], k, where=where)[0][0]
            self._found[number, : len(rows)] = rows

    def _passing(self, tags: Int64s) -> Int64s:
        lists = sorted(map(self._rows_of, tags), key=len)
        passing = np.asarray(lists[0], np.int64)
        for other in lists[1:]:
            passing = np.intersect1d(passing, other)
        return passing

    def get_results(self) -> Int64s:
        return self._found
