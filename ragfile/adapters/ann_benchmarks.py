"""ann-benchmarks and big-ann-benchmarks: exact search over a .ragfile, as their harnesses call it.

Both harnesses know an algorithm by its methods alone, so nothing of them is imported. In ann-benchmarks, a folder
of its algorithms holds a config.yml that names this module and class, and a Dockerfile that installs ragfile:

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

`Ragfile` answers `query` and `batch_query`. `RagfileFiltered` answers the filtered track of big-ann-benchmarks: a
question's answer holds all of its tags.
"""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.opener import open as open_file
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragfile.types import Metric, Precision

METRICS: dict[str, Metric] = {"angular": "cosine", "euclidean": "l2", "ip": "ip"}
BATCH = 65_536  # rows that are handed over at once


class _Built:
    """A file of vectors whose rows have the numbers of the data set, in a folder that goes with it."""

    def __init__(self, metric: str, precision: int = 32) -> None:
        if metric not in METRICS:
            raise ValueError(f"metric is one of {sorted(METRICS)}, not {metric!r}")
        if precision not in (16, 32):
            raise ValueError(f"precision is 16 or 32, not {precision!r}")
        self._metric: Metric = METRICS[metric]
        self._precision: Precision = 16 if precision == 16 else 32
        self._folder = tempfile.TemporaryDirectory(prefix="ragfile-")
        self._file: Any = None
        self.name = f"ragfile(f{precision}, exact)"

    def _build(self, vectors: Any) -> None:
        path, count = os.path.join(self._folder.name, "vectors.ragfile"), len(vectors)
        with create(
            path, dim=vectors.shape[1], metric=self._metric, precision=self._precision
        ) as writer:
            for at in range(0, count, BATCH):
                rows = np.asarray(vectors[at : at + BATCH], dtype=np.float32)
                # ids of one width: rows are ordered by id, so a row's number is the vector's
                chunks = [
                    {"doc_id": f"{n:012d}", "chunk_index": 0, "content": "-"}
                    for n in range(at, at + len(rows))
                ]
                writer.add(chunks, rows)
        self._file = open_file(path)
        self._file.nearest(np.zeros((1, vectors.shape[1]), np.float32), 1)  # what opening put off

    def get_memory_usage(self) -> float:
        """Kilobytes of the file, which is mapped."""
        return os.path.getsize(os.path.join(self._folder.name, "vectors.ragfile")) / 1024

    def done(self) -> None:
        if self._file is not None:
            self._file.close()
        self._folder.cleanup()

    def get_additional(self) -> dict[str, Any]:
        return {}

    def __str__(self) -> str:
        return self.name


class Ragfile(_Built):
    """ann-benchmarks' interface (BaseANN). There is nothing to tune: every answer is exact."""

    def fit(self, vectors: Any) -> None:
        self._build(np.asarray(vectors))

    def set_query_arguments(self, *arguments: Any) -> None:
        """Takes what a configuration may list, and needs none of it."""

    def query(self, vector: Any, n: int) -> np.ndarray:
        return self._file.nearest(np.asarray(vector, np.float32)[None], n, threads=1)[0][0]

    def batch_query(self, vectors: Any, n: int) -> None:
        self._found = self._file.nearest(np.asarray(vectors, np.float32), n)[0]

    def get_batch_results(self) -> np.ndarray:
        return self._found


class RagfileFiltered(_Built):
    """big-ann-benchmarks' interface for its filtered track (BaseFilterANN)."""

    def __init__(self, metric: str, index_params: dict[str, Any] | None = None) -> None:
        super().__init__(metric, (index_params or {}).get("precision", 32))

    def fit(self, dataset: Any) -> None:
        """dataset is a name of the harness, or an object with its two methods."""
        if isinstance(dataset, str):
            dataset = import_module("benchmark.datasets").DATASETS[dataset]()
        self._build(dataset.get_dataset())
        by_tag = dataset.get_dataset_metadata().tocsc()
        self._rows_of = lambda tag: by_tag.indices[by_tag.indptr[tag] : by_tag.indptr[tag + 1]]

    def load_index(self, dataset: Any) -> bool:
        return False

    def set_query_arguments(self, arguments: Any) -> None:
        """Takes what a configuration may list, and needs none of it."""

    def filtered_query(self, vectors: Any, filters: Any, k: int) -> None:
        """The k nearest of those that have all tags of their question; −1 fills up."""
        self._found = np.full((len(vectors), k), -1, np.int64)
        for number, vector in enumerate(np.asarray(vectors, np.float32)):
            tags = filters.indices[filters.indptr[number] : filters.indptr[number + 1]]
            where = self._passing(tags) if len(tags) else None
            if where is not None and not len(where):
                continue
            rows = self._file.nearest(vector[None], k, where=where)[0][0]
            self._found[number, : len(rows)] = rows

    def _passing(self, tags: Iterable[int]) -> np.ndarray:
        lists = sorted(map(self._rows_of, tags), key=len)
        passing = np.asarray(lists[0], np.int64)
        for other in lists[1:]:
            passing = np.intersect1d(passing, other)
        return passing

    def get_results(self) -> np.ndarray:
        return self._found
