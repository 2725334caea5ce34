"""A least score leaves out exactly the rows that score less: the answer is that of brute force, cut off, on every path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.vectors import LARGEST, METRICS, assert_same, exact, matrices

from ragfile import _core


def cut(found, least):
    rows, scores = found[0].copy(), found[1].copy()
    out = scores < np.asarray(least, np.float32)[:, None]
    rows[out], scores[out] = -1, -np.inf
    return rows, scores


def leasts(expected, pick):
    """For each query a score that is there, one just above or below it, or one beyond all."""
    chosen = []
    for scores, (place, how) in zip(expected[1], pick, strict=True):
        score = scores[place % len(scores)]
        score = np.float32(0) if score == -np.inf else score
        up, down = (np.nextafter(score, np.float32(way)) for way in (LARGEST, -LARGEST))
        chosen.append(
            [score, up, down, np.float32(-np.inf), np.float32(1e38), np.float32(-1e38)][how]
        )
    return np.array(chosen, dtype=np.float32)


@given(
    st.integers(1, 400), st.integers(1, 40), st.integers(1, 60), st.sampled_from([1, 2, 40]), st.sampled_from(METRICS), st.integers(0, 2**32 - 1),
    st.integers(-40, 30), st.booleans(),
)  # fmt: skip
def test_a_least_score_cuts_the_answer_of_brute_force(
    count, dim, k, many, metric, seed, power, filtered
):
    rng = np.random.default_rng(seed)
    rows = (rng.integers(-2, 3, (count, dim)) * 10.0**power).astype(np.float32)
    queries = rng.integers(-2, 3, (many, dim)).astype(np.float32)
    where = rng.random(count) < 0.6 if filtered else None
    expected = exact(queries, rows, k, metric, where)
    least = leasts(expected, zip(rng.integers(0, k, many), rng.integers(0, 6, many), strict=True))
    for matrix in matrices(rows, metric):
        assert_same(matrix.nearest(queries, k, where, 1, least), cut(expected, least))


@pytest.mark.parametrize("metric", METRICS)
def test_a_least_score_holds_in_any_number_of_threads_queries_and_segments(metric):
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((40, 64))
    rows = (centres[rng.integers(0, 40, 30_000)] + 0.3 * rng.standard_normal((30_000, 64))).astype(
        np.float32
    )
    queries = (centres + 0.1 * rng.standard_normal((40, 64))).astype(np.float32)
    matrix = matrices(rows, metric)[1]
    expected = matrix.nearest(queries, 50)
    least = leasts(expected, zip(rng.integers(0, 50, 40), rng.integers(0, 4, 40), strict=True))
    wanted = cut(expected, least)
    for threads in (1, 2, 5):
        assert_same(matrix.nearest(queries, 50, None, threads, least), wanted)
    parts = [matrices(part, metric)[1] for part in (rows[:10_000], rows[10_000:])]
    for i in range(40):
        assert_same(
            matrix.nearest(queries[i], 50, None, 1, least[i]),
            (wanted[0][i : i + 1], wanted[1][i : i + 1]),
        )
        found, scores = _core.nearest(parts, queries[i], 50, None, 1, least[i])
        there = found[0] >= 0
        together = sorted(zip(-scores[0][there], (found[0] + [[0], [10_000]])[there], strict=True))[
            :50
        ]
        assert [row for _, row in together] == wanted[0][i][wanted[0][i] >= 0].tolist()


@pytest.mark.parametrize("least", [[1.0, 2.0], [], [np.nan], [np.inf], "much"])
def test_a_least_score_that_is_none_is_refused(least):
    matrix = matrices(np.eye(3), "cosine")[0]
    with pytest.raises(ValueError, match=r"least|could not convert"):
        matrix.nearest(np.ones(3, np.float32), 2, None, 1, least)
