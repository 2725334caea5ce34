"""Batches over rows without a shadow: a matrix product rules rows out, and the answer is that of every row scored."""

import numpy as np
import pytest
from oracles.vectors import METRICS, assert_same, exact

from ragfile import _core


def rows_of(count, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("count", "dim", "queries"),
    [(600, 1, 12), (601, 17, 13), (1000, 64, 64), (703, 100, 65), (900, 257, 130)],
)
def test_batches_are_answered_as_if_every_row_was_scored(count, dim, queries, metric):
    rng = np.random.default_rng(count)
    rows = rows_of(count, dim) * rng.uniform(0.01, 5, (count, 1)).astype(np.float32)
    rows[10:30] = rows[9]
    asked = np.concatenate([rows[5:15], rows_of(queries - 10, dim, 7)])
    matrix = _core.Matrix(rows, count, dim, metric=metric)
    where = rng.random(count) < 0.5
    for k in (1, 7, 60):
        assert_same(matrix.nearest(asked, k), exact(asked, rows, k, metric))
        assert_same(matrix.nearest(asked, k, where=where), exact(asked, rows, k, metric, where))
        assert_same(matrix.nearest(asked, k, threads=2), exact(asked, rows, k, metric))


@pytest.mark.parametrize("metric", METRICS)
def test_rows_and_queries_of_any_size_are_answered_too(metric):
    rows, asked = rows_of(800, 40), rows_of(40, 40, 3)
    rows[3], rows[4, 7], rows[5, 1], rows[6], rows[7] = 0, np.nan, np.inf, 1e30, 1e-30
    rows[8], rows[9] = rows[6], rows[6] * np.float32(1.0000001)
    asked[0], asked[1], asked[2], asked[3] = 0, 1e37, 1e-37, rows[6]
    matrix = _core.Matrix(rows, 800, 40, metric=metric)
    for k in (3, 40):
        assert_same(matrix.nearest(asked, k), exact(asked, rows, k, metric))


@pytest.mark.parametrize(("dtype", "kind"), [("f16", "f2"), ("f32", "f4"), ("f64", "f8")])
@pytest.mark.parametrize("order", "<>")
def test_every_way_to_store_rows_gives_the_same(dtype, kind, order):
    rows = rows_of(500, 33).astype(kind)
    asked = rows_of(20, 33, 4)
    stored = rows.astype(order + kind)
    matrix = _core.Matrix(stored, 500, 33, dtype=dtype, big_endian=order == ">")
    assert_same(matrix.nearest(asked, 9), exact(asked, rows.astype(np.float32), 9, "cosine"))


def test_rows_that_differ_in_the_last_bit_are_told_apart():
    rows = np.tile(rows_of(1, 300), (2000, 1))
    rows[np.arange(2000), np.arange(2000) % 300] *= np.float32(1 + 2**-22)
    asked = np.concatenate([rows[:10], rows_of(10, 300, 5)])
    matrix = _core.Matrix(rows, 2000, 300, metric="ip")
    assert_same(matrix.nearest(asked, 25), exact(asked, rows, 25, "ip"))
