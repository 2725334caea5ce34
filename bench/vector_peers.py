"""The contestants of bench/vectors.py: built from rows, each has search(queries, k).

search returns row numbers.
"""

import os

import numpy as np


class Peer:
    batches = False

    def __init__(self, rows, folder):
        self.rows = rows


class Ragfile(Peer):
    """The matrix in place, with its shadow."""

    batches = True

    def __init__(self, rows, folder):
        from ragfile import _core

        plain = _core.Matrix(rows, *rows.shape)
        shadow = _core.Shadow(plain)
        with open(f"{folder}/shadow", "wb") as file:
            shadow.write(file.write)
        self.matrix = _core.Matrix(
            rows, *rows.shape, shadow=np.fromfile(f"{folder}/shadow", np.uint8)
        )
        self.shadow_size, self.threads = shadow.size, 1

    def with_threads(self, threads):
        other = object.__new__(type(self))
        other.__dict__ = {**self.__dict__, "threads": threads}
        return other

    def search(self, queries, k):
        return self.matrix.nearest(queries, k, threads=self.threads)[0]


class RagfileWithoutShadow(Ragfile):
    def __init__(self, rows, folder):
        from ragfile import _core

        self.matrix, self.threads = _core.Matrix(rows, *rows.shape), 1


class FaissFlat(Peer):
    batches = True
    threshold = default = None

    def __init__(self, rows, folder):
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss = faiss
        if FaissFlat.default is None:  # before anything has set it
            FaissFlat.default = faiss.cvar.distance_compute_blas_threshold
        self.index = faiss.IndexFlatIP(rows.shape[1])
        self.index.add(rows)

    def search(self, queries, k):
        self.faiss.cvar.distance_compute_blas_threshold = self.threshold or self.default
        return self.index.search(queries, k)[1]


class FaissTuned(FaissFlat):
    """Products by OpenBLAS for small batches, too."""

    threshold = 20


class FaissHnsw(Peer):
    batches = True

    def __init__(self, rows, folder):
        import faiss

        faiss.omp_set_num_threads(os.cpu_count())
        self.index = faiss.IndexHNSWFlat(rows.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = 100
        self.index.add(rows)
        self.index.hnsw.efSearch = 64
        faiss.omp_set_num_threads(1)

    def search(self, queries, k):
        return self.index.search(queries, k)[1]


def best_of(scores, k):
    top = np.argpartition(scores, -k, axis=1)[:, -k:]
    return np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), axis=1), 1)


class Numpy(Peer):
    batches = True

    def search(self, queries, k):
        return best_of(queries @ self.rows.T, k)


class MmapNinja(Numpy):
    """A hand-made search: a memory-mapped array and a matrix product."""

    def __init__(self, rows, folder):
        from mmap_ninja.numpy import from_ndarray, open_existing

        from_ndarray(f"{folder}/ninja", rows)
        self.rows = open_existing(f"{folder}/ninja")


class Torch(Peer):
    batches = True

    def __init__(self, rows, folder):
        import torch

        torch.set_num_threads(1)
        self.torch, self.rows = torch, torch.from_numpy(rows)

    def search(self, queries, k):
        scores = self.torch.from_numpy(np.ascontiguousarray(queries)) @ self.rows.T
        return self.torch.topk(scores, k, dim=1).indices.numpy()


class UsearchExact(Peer):
    batches = True

    def __init__(self, rows, folder):
        from usearch.index import search

        self.rows, self.exact = rows, search

    def search(self, queries, k):
        keys = self.exact(self.rows, queries, k, "ip", exact=True, threads=1).keys
        return np.asarray(keys).reshape(len(queries), -1).astype(np.int64)


class HnswlibBrute(Peer):
    def __init__(self, rows, folder):
        import hnswlib

        self.index = hnswlib.BFIndex(space="ip", dim=rows.shape[1])
        self.index.init_index(max_elements=len(rows))
        self.index.add_items(rows)

    def search(self, queries, k):
        return self.index.knn_query(queries, k=k)[0].astype(np.int64)


class SqliteVec(Peer):
    def __init__(self, rows, folder):
        import sqlite3

        import sqlite_vec

        self.db = sqlite3.connect(f"{folder}/sqlite-vec")
        if not hasattr(self.db, "enable_load_extension"):
            raise ImportError("this Python's sqlite3 was built without loadable extensions")
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.execute(
            f"create virtual table v using vec0(e float[{rows.shape[1]}] distance_metric=cosine)"
        )
        with self.db:
            self.db.executemany(
                "insert into v(rowid, e) values (?, ?)",
                ((i, r.tobytes()) for i, r in enumerate(rows)),
            )

    def search(self, queries, k):
        ask = "select rowid from v where e match ? and k = ? order by distance"
        return np.array([[r[0] for r in self.db.execute(ask, (q.tobytes(), k))] for q in queries])


class LanceFlat(Peer):
    def __init__(self, rows, folder):
        import lancedb
        import pyarrow

        flat = pyarrow.FixedSizeListArray.from_arrays(
            pyarrow.array(rows.reshape(-1)), rows.shape[1]
        )
        table = pyarrow.table({"id": np.arange(len(rows)), "vector": flat})
        self.table = lancedb.connect(f"{folder}/lance").create_table("v", table)

    def search(self, queries, k):
        return np.array([self._ask(q, k)["id"].to_numpy() for q in queries])

    def _ask(self, query, k):
        found = self.table.search(query).distance_type("cosine").limit(k)
        return found.select(["id", "_distance"]).to_arrow()


class DuckdbArray(Peer):
    def __init__(self, rows, folder):
        import duckdb
        import pyarrow

        flat = pyarrow.FixedSizeListArray.from_arrays(
            pyarrow.array(rows.reshape(-1)), rows.shape[1]
        )
        given = pyarrow.table({"id": np.arange(len(rows)), "vector": flat})  # noqa: F841 - duckdb finds it by name
        self.db = duckdb.connect(f"{folder}/duckdb")
        self.db.execute("set threads to 1")
        self.db.execute("create table v as select * from given")
        self.kind = f"float[{rows.shape[1]}]"

    def search(self, queries, k):
        ask = f"select id from v order by array_inner_product(vector::{self.kind}, ?::{self.kind}) desc limit {k}"
        return np.array(
            [[r[0] for r in self.db.execute(ask, [q.tolist()]).fetchall()] for q in queries]
        )


PEERS = {
    "faiss IndexFlatIP": FaissFlat,
    "faiss IndexFlatIP, tuned": FaissTuned,
    "faiss HNSW32 (approximate)": FaissHnsw,
    "numpy": Numpy,
    "mmap-ninja + numpy": MmapNinja,
    "torch": Torch,
    "usearch exact": UsearchExact,
    "hnswlib brute force": HnswlibBrute,
    "sqlite-vec": SqliteVec,
    "lancedb flat": LanceFlat,
    "duckdb": DuckdbArray,
}
