"""Exact search equals brute force in rows, order and score bits, however the data lies and is asked for."""

import ctypes
import os
import platform
import threading
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.vectors import METRICS, assert_same, canonical_scores, exact, matrices, shadow_of

from ragfile import _core
from ragfile.errors import FormatError, ModelError

RNG = np.random.default_rng(20)
DIMS = [*range(1, 20), 31, 32, 33, 47, 63, 64, 65, 70, 127, 128, 129, 384]


def unit(count, dim, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clustered(count, dim, seed=1):
    rng = np.random.default_rng(seed)
    centres = unit(7, dim, seed)
    return (centres[rng.integers(0, 7, count)] + 0.05 * rng.standard_normal((count, dim))).astype(
        np.float32
    )


def last_bits(count, dim):
    rows = np.tile(unit(1, dim, 3), (count, 1))
    bits = rows.view(np.uint32)
    bits[np.arange(count), np.arange(count) % dim] ^= np.arange(count, dtype=np.uint32) % 2
    return rows


def wide_norms(count, dim, low=-20.0, high=20.0):
    return (
        unit(count, dim, 4) * 10.0 ** np.random.default_rng(5).uniform(low, high, (count, 1))
    ).astype(np.float32)


def with_specials(count, dim):
    rows = unit(count, dim, 6)
    rows[::7] = 0
    rows[1::11, 0] = np.nan
    rows[2::11, dim - 1] = np.inf
    rows[3::11, 0] = -np.inf
    rows[4::13] *= np.float32(1e-41)
    rows[5::13] = np.float32(3e38)
    return rows


HARD = {
    "random": unit,
    "clustered": clustered,
    "all equal": lambda n, d: np.tile(unit(1, d, 2), (n, 1)),
    "last bits": last_bits,
    "one-hot": lambda n, d: np.eye(d, dtype=np.float32)[np.arange(n) % d] * np.float32(1.5),
    "norms 1e-20 to 1e20": wide_norms,
    "norms 1e-44 to 1e37": lambda n, d: wide_norms(n, d, -44.0, 37.0),
    "denormals": lambda n, d: (unit(n, d, 8) * np.float32(1e-42)).astype(np.float32),
    "zeros": lambda n, d: np.zeros((n, d), np.float32),
    "NaN, infinity, zero": with_specials,
    "heavy tails": lambda n, d: np.random.default_rng(9).standard_cauchy((n, d)).astype(np.float32),
    "few values": lambda n, d: np.random.default_rng(10).integers(-2, 3, (n, d)).astype(np.float32),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("dim", [3, 40])
def test_hard_data_is_ranked_like_brute_force(kind, metric, dim):
    rows = HARD[kind](500, dim)
    finite = rows[np.isfinite(rows).all(1)]
    queries = np.concatenate(
        [finite[[0, 101, -1]], unit(2, dim, 11), np.zeros((1, dim), np.float32)]
    )
    for matrix in matrices(rows, metric):
        for k in (1, 10, 600):
            assert_same(matrix.nearest(queries, k), exact(queries, rows, k, metric))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "kind", ["random", "last bits", "norms 1e-20 to 1e20", "NaN, infinity, zero"]
)
def test_hard_data_is_ranked_like_brute_force_in_batches(kind, metric):
    rows = HARD[kind](700, 24)
    queries = np.concatenate(
        [
            unit(66, 24, 12),
            rows[6:7],
            np.zeros((1, 24), np.float32),
            unit(30, 24, 13) * np.float32(1e30),
        ]
    )
    for matrix in matrices(rows, metric):
        assert_same(matrix.nearest(queries, 5), exact(queries, rows, 5, metric))


@pytest.mark.parametrize("dim", DIMS)
def test_every_dimension_gives_the_bits_of_brute_force(dim):
    rows, queries = unit(300, dim, dim), unit(2, dim, dim + 1)
    for matrix in matrices(rows, "cosine"):
        assert_same(matrix.nearest(queries, 7), exact(queries, rows, 7, "cosine"))


@pytest.mark.parametrize("dim", [768, 1024, 1536, 4096, 65536])
def test_large_dimensions_give_the_bits_of_brute_force(dim):
    rows, queries = clustered(120 if dim < 65536 else 40, dim), unit(1, dim, 5)
    for metric in METRICS:
        for matrix in matrices(rows, metric):
            assert_same(matrix.nearest(queries, 3), exact(queries, rows, 3, metric))


def laid_out(rows, dtype, big_endian, gap, lead, offsets):
    """The rows' bytes with gaps of junk, and where they lie; the buffer ends exactly with the last row."""
    kind = {"f16": "f2", "f32": "f4", "f64": "f8"}[dtype]
    cells = rows.astype((">" if big_endian else "<") + kind)
    size = cells.shape[1] * cells.itemsize
    starts = lead + np.arange(len(rows)) * (size + gap)
    if offsets:
        starts = starts + np.cumsum(RNG.integers(0, 5, len(rows)))
    buffer = np.full(starts[-1] + size, 0x2D, np.uint8)
    for start, row in zip(starts, cells, strict=True):
        buffer[start : start + size] = row.view(np.uint8)
    place = {"offsets": starts.astype(np.uint64)} if offsets else {"stride": size + gap, "at": lead}
    return buffer, cells.astype(np.float32), place


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize(("gap", "lead"), [(0, 0), (16, 0), (16, 7), (1, 3)])
def test_rows_are_found_in_any_layout(dtype, big_endian, gap, lead, offsets):
    buffer, rows, place = laid_out(unit(90, 21, 1), dtype, big_endian, gap, lead, offsets)
    queries = unit(3, 21, 2)
    plain = _core.Matrix(buffer, 90, 21, dtype=dtype, big_endian=big_endian, **place)
    shadowed = _core.Matrix(
        buffer, 90, 21, dtype=dtype, big_endian=big_endian, shadow=shadow_of(plain), **place
    )
    for matrix in (plain, shadowed):
        assert_same(matrix.nearest(queries, 1), exact(queries, rows, 1, "cosine"))
        assert_same(matrix.nearest(queries, 90), exact(queries, rows, 90, "cosine"))


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_any_small_matrix_is_ranked_like_brute_force(data):
    dim, count = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 200))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    scale = 10.0 ** data.draw(st.integers(-45, 37))
    rows = (rng.uniform(-3, 3, (count, dim)) * scale).astype(np.float32)
    if count and data.draw(st.booleans()):
        rows = rows[rng.integers(0, count, count)]
    queries = (
        rng.standard_normal((data.draw(st.sampled_from([1, 2, 40])), dim))
        * 10.0 ** data.draw(st.integers(-30, 30))
    ).astype(np.float32)
    where = data.draw(st.sampled_from([None, 0.0, 0.05, 0.5, 1.0]))
    where = None if where is None else rng.random(count) < where
    metric, k = data.draw(st.sampled_from(METRICS)), data.draw(st.integers(1, 12))
    for matrix in matrices(rows, metric):
        assert_same(matrix.nearest(queries, k, where=where), exact(queries, rows, k, metric, where))


@pytest.mark.parametrize("share", [0, 0.001, 0.02, 0.3, 0.9, 1])
def test_filters_apply_before_ranking_on_every_path(share):
    rows, queries = unit(5000, 16), unit(70, 16, 1)
    where = np.random.default_rng(3).random(5000) < share
    for matrix in matrices(rows, "cosine"):
        expected = exact(queries, rows, 10, "cosine", where)
        assert_same(matrix.nearest(queries, 10, where=where), expected)
        assert_same(
            matrix.nearest(queries[:2], 10, where=where), (expected[0][:2], expected[1][:2])
        )
        words = _core.row_set(where, 5000)
        assert_same(
            matrix.nearest(queries[:2], 10, where=words), (expected[0][:2], expected[1][:2])
        )


def test_bits_past_the_last_row_are_ignored():
    rows = unit(70, 8)
    words = np.full(2, 2**64 - 1, np.uint64)
    for matrix in matrices(rows, "cosine"):
        assert_same(matrix.nearest(rows[:1], 80, where=words), exact(rows[:1], rows, 80, "cosine"))
        assert_same(matrix.nearest(rows[:1], 1, where=words), exact(rows[:1], rows, 1, "cosine"))


@pytest.mark.parametrize("metric", METRICS)
def test_threads_and_batches_do_not_change_a_bit(metric):
    rows, queries = clustered(20000, 16), clustered(100, 16, 2)
    for matrix in matrices(rows, metric):
        together = matrix.nearest(queries, 10, threads=1)
        for threads in (2, 8):
            assert_same(matrix.nearest(queries, 10, threads=threads), together)
        for i in (0, 50, 99):
            for threads in (1, 3):
                alone = matrix.nearest(queries[i], 10, threads=threads)
                assert_same(alone, (together[0][i : i + 1], together[1][i : i + 1]))
    assert_same((together[0][:3], together[1][:3]), exact(queries[:3], rows, 10, metric))


@pytest.mark.parametrize("k", [1, 7, 300])
@pytest.mark.parametrize("cuts", [1, 3, 7])
def test_segments_together_hold_the_answer_of_the_whole(cuts, k):
    rows, queries = np.round(clustered(4001, 12) * 8) / 8, clustered(70, 12, 5)
    edges = np.linspace(0, len(rows), cuts + 1).astype(int)
    expected = exact(queries, rows, k, "ip")
    for shadowed in (0, 1):
        segments = [matrices(rows[a:b], "ip")[shadowed] for a, b in pairwise(edges)]
        for threads in (1, 2):
            found, scores = _core.nearest(segments, queries, k, threads=threads)
            found = np.where(found < 0, 10**9, found + edges[:-1][None, :, None]).reshape(
                len(queries), -1
            )
            scores = scores.reshape(len(queries), -1)
            order = np.array(
                [np.lexsort((f, -s.astype(float)))[:k] for f, s in zip(found, scores, strict=True)]
            )
            assert_same(
                (np.take_along_axis(found, order, 1), np.take_along_axis(scores, order, 1)),
                expected,
            )


def test_ties_across_segments_are_all_handed_back():
    same = np.ones((9, 4), np.float32)
    segments = [_core.Matrix(same, 9, 4), _core.Matrix(same, 9, 4)]
    rows, scores = _core.nearest(segments, same[:1], 3)
    assert rows.tolist() == [[[0, 1, 2], [0, 1, 2]]]
    assert (scores == 1).all()


def test_many_equal_candidates_are_settled_in_bounded_room():
    rows = np.tile(unit(1, 4), (150_000, 1))
    for matrix in matrices(rows, "cosine"):
        found, scores = matrix.nearest(rows[:1], 5, threads=1)
        assert found.tolist() == [[0, 1, 2, 3, 4]]
        assert (scores == 1).all()


@pytest.mark.parametrize("kind", ["few values", "last bits", "denormals", "clustered"])
@pytest.mark.parametrize("metric", METRICS)
def test_many_equal_scores_stand_in_the_order_of_rows_for_any_k(kind, metric):
    rows = HARD[kind](3000, 6)
    rows[40:80] *= -1
    queries = np.concatenate([rows[35:45], np.zeros((1, 6), np.float32), unit(24, 6, 31)])
    matrix = _core.Matrix(
        rows, 3000, 6, metric=metric, shadow=shadow_of(_core.Matrix(rows, 3000, 6))
    )
    whole = exact(queries, rows, 400, metric)
    for k in (1, 2, 63, 255, 256, 257, 400):
        wanted = whole[0][:, :k], whole[1][:, :k]
        assert_same(matrix.nearest(queries, k), wanted)
        for i in (0, 10, 20):
            alone = matrix.nearest(queries[i], k, threads=1)
            assert_same(alone, (wanted[0][i : i + 1], wanted[1][i : i + 1]))


@pytest.mark.parametrize("metric", METRICS)
def test_scores_of_given_rows_are_those_of_the_ranking(metric):
    rows = with_specials(100, 9)
    query = unit(1, 9, 3)
    wanted = [99, 1, 0, 14, 14, 5]
    for matrix in matrices(rows, metric):
        scores = matrix.scores(wanted, query)
        np.testing.assert_array_equal(scores, canonical_scores(query[0], rows[wanted], metric))
        with pytest.raises(ValueError, match="no such row"):
            matrix.scores([100], query)
        with pytest.raises(ValueError, match="no such row"):
            matrix.scores([-1], query)


def test_a_zero_vector_scores_zero_under_cosine():
    rows = np.array([[1, 0], [0, 0], [-1, 0]], np.float32)
    for matrix in matrices(rows, "cosine"):
        found, scores = matrix.nearest([[2, 0]], 3)
        assert (found.tolist(), scores.tolist()) == ([[0, 1, 2]], [[1, 0, -1]])
        found, scores = matrix.nearest([[0, 0]], 2)
        assert (found.tolist(), scores.tolist()) == ([[0, 1]], [[0, 0]])


def test_short_answers_are_padded():
    matrix = _core.Matrix(np.ones((2, 3), np.float32), 2, 3)
    found, scores = matrix.nearest([1, 1, 1], 4)
    assert found.tolist() == [[0, 1, -1, -1]]
    assert scores[0, 2:].tolist() == [-np.inf, -np.inf]
    empty = _core.Matrix(b"", 0, 3)
    assert empty.nearest([1, 2, 3], 2)[0].tolist() == [[-1, -1]]
    assert matrix.nearest([1, 1, 1], 0)[0].shape == (1, 0)
    assert matrix.nearest(np.empty((0, 3), np.float32), 5)[0].shape == (0, 5)


@pytest.mark.parametrize(
    "convert",
    [
        lambda q: q.astype(np.float64),
        lambda q: q.astype(">f4"),
        lambda q: np.asfortranarray(q),
        lambda q: np.repeat(q, 2, axis=1)[:, ::2],
        lambda q: q.tolist(),
    ],
    ids=["f64", "big-endian", "fortran", "strided", "list"],
)
def test_queries_of_any_numeric_form_are_the_same_queries(convert):
    rows, queries = unit(200, 10), unit(4, 10, 9)
    for matrix in matrices(rows, "cosine"):
        assert_same(matrix.nearest(convert(queries), 5), matrix.nearest(queries, 5))


def test_unfit_queries_are_named():
    matrix = _core.Matrix(np.ones((2, 3), np.float32), 2, 3)
    with pytest.raises(ModelError, match=r"queries have 4 dimensions, the vectors have 3"):
        matrix.nearest(np.ones((1, 4), np.float32), 1)
    with pytest.raises(ValueError, match="query 1 is not finite at component 2"):
        matrix.nearest([[1, 2, 3], [1, 2, np.nan]], 1)
    with pytest.raises(ValueError, match="query 0 is not finite"):
        matrix.nearest(np.full((1, 3), 1e300), 1)
    with pytest.raises(ValueError, match="numbers"):
        matrix.nearest([["a", "b", "c"]], 1)
    with pytest.raises(ValueError, match="3 axes"):
        matrix.nearest(np.ones((1, 1, 3)), 1)
    with pytest.raises(ValueError, match="negative"):
        matrix.nearest([1, 2, 3], -1)
    with pytest.raises(ValueError, match="row set is 2 bools"):
        matrix.nearest([1, 2, 3], 1, where=np.ones(3, bool))


def test_a_matrix_outside_its_section_is_refused():
    data = np.zeros(30, np.float32)
    for arguments in [
        {"rows": 11, "dim": 3},
        {"rows": 10, "dim": 3, "at": 1},
        {"rows": 2, "dim": 3, "stride": 2**63},
        {"rows": 2**63, "dim": 3, "stride": 8},
        {"rows": 1, "dim": 0},
        {"rows": 1, "dim": 65537},
        {"rows": 2, "dim": 3, "offsets": [0, 109]},
        {"rows": 1, "dim": 3, "offsets": [2**64 - 1]},
    ]:
        with pytest.raises((FormatError, ValueError)):
            _core.Matrix(data, **arguments)


def test_searches_in_many_threads_at_once_agree():
    rows, queries = unit(20000, 16), unit(64, 16, 4)
    matrix = matrices(rows, "cosine")[1]
    expected, found = matrix.nearest(queries, 5, threads=1), {}
    threads = [
        threading.Thread(
            target=lambda i=i: found.update({i: matrix.nearest(queries, 5, threads=2)})
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert_same(found[i], expected)


def test_a_forked_child_searches_with_threads_of_its_own():
    rows, queries = unit(20000, 16), unit(64, 16, 4)
    matrix = matrices(rows, "cosine")[1]
    expected = matrix.nearest(queries, 5, threads=2)
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                found = matrix.nearest(queries, 5, threads=2)
                code = (
                    0 if (found[0] == expected[0]).all() and (found[1] == expected[1]).all() else 2
                )
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8


@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows where x86-64 keeps the flag")
def test_a_thread_that_flushes_subnormals_gets_the_same_bits():
    rows = (unit(400, 12, 8) * np.float32(1e-42)).astype(np.float32)
    rows[::2] = unit(200, 12, 9)
    matrix = matrices(rows, "cosine")[1]
    expected, shadow = matrix.nearest(rows[:40], 9), shadow_of(matrix)
    libm, before, flushing = (
        ctypes.CDLL("libm.so.6"),
        (ctypes.c_uint32 * 8)(),
        (ctypes.c_uint32 * 8)(),
    )
    libm.fegetenv(before)
    libm.fegetenv(flushing)
    flushing[7] |= 0x8040
    libm.fesetenv(flushing)
    try:
        found, scores, again = (
            matrix.nearest(rows[:40], 9),
            matrix.scores([1], rows[1]),
            shadow_of(matrix),
        )
    finally:
        libm.fesetenv(before)
    assert_same(found, expected)
    assert scores.tolist() == [1.0]
    assert again == shadow
