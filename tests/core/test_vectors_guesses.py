"""A batch begins with likely floors. Where the rows that are looked at for them are better than the rest, the floors are too
high, and the answer is that of every row scored all the same."""

import numpy as np
import pytest
from oracles.vectors import METRICS, assert_same, exact, shadow_of

from ragfile import _core

LOOKED_AT = 96  # six rows in each so many


def rows_and_questions(count, near, seed=0):
    """Rows of which `near` are close to half of the questions, all of them among those that are looked at."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, 64)).astype(np.float32)
    target = rng.standard_normal(64).astype(np.float32)
    places = np.arange(count)[np.arange(count) % LOOKED_AT < 6][:near]
    rows[places] = target + 0.05 * rng.standard_normal((len(places), 64)).astype(np.float32)
    rows[7], rows[8, 3], rows[9] = 0, np.nan, 1e35
    asked = rng.standard_normal((44, 64)).astype(np.float32)
    asked[::2] = target + 0.1 * asked[::2]
    asked[5] = 0
    return rows, asked


def matrix_of(rows, metric):
    shadow = shadow_of(_core.Matrix(rows, *rows.shape))
    return _core.Matrix(rows, *rows.shape, metric=metric, shadow=shadow)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("near", [0, 5, 40, 99, 100, 300])
def test_a_floor_that_is_too_high_is_taken_back(metric, near):
    rows, asked = rows_and_questions(6001, near)
    matrix = matrix_of(rows, metric)
    wanted = exact(asked, rows, 180, metric)
    for k in (20, 100, 180):
        for threads in (1, 2):
            found = matrix.nearest(asked, k, threads=threads)
            assert_same(found, [part[:, :k] for part in wanted])


def test_several_matrices_share_a_guess():
    rows, asked = rows_and_questions(9000, 60, seed=1)
    rows[:6] = rows[6:12]  # ties between the parts
    parts = [rows[:4700], rows[4700:]]
    matrices = [matrix_of(part, "cosine") for part in parts]
    found, scores = _core.nearest(matrices, asked, 100)
    wanted, best = exact(asked, rows, 100, "cosine")
    for i in range(len(asked)):
        said = [(-s, r + base) for part, base in ((0, 0), (1, 4700))
                for r, s in zip(found[i, part], scores[i, part], strict=True) if r >= 0]  # fmt: skip
        assert [row for _, row in sorted(said)[:100]] == wanted[i].tolist()
        assert [-score for score, _ in sorted(said)[:100]] == best[i].tolist()


def test_a_least_score_and_a_guess_go_together():
    rows, asked = rows_and_questions(6001, 50)
    matrix = matrix_of(rows, "cosine")
    wanted, scores = exact(asked, rows, 100, "cosine")
    for place in (0, 30, 99):
        least = scores[:, place].copy()
        found, said = matrix.nearest(asked, 100, least=least)
        kept = scores >= least[:, None]
        assert_same((found, said), (np.where(kept, wanted, -1), np.where(kept, scores, -np.inf)))
