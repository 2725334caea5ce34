"""Batches of every width, on every target: the rows and score bits that scoring each row gives."""

import pytest
from targets import TARGETS, on

BATCHES = """
import numpy as np
from oracles.vectors import METRICS, assert_same, exact, shadow_of
from ragfile import _core

rng = np.random.default_rng(8)
for dim in (7, 64, 70):
    rows = rng.standard_normal((1500, dim)).astype(np.float32)
    rows[:300] = np.sign(rows[:300])  # codes at both ends: the largest products
    rows[300:310] = 1
    rows[11], rows[12, 3], rows[13] = 0, np.nan, 1e30
    asked = rng.standard_normal((67, dim)).astype(np.float32)
    asked[::3] = np.sign(asked[::3])
    asked[1], asked[2], asked[4] = 1, -1, 0
    for metric in METRICS:
        matrix = _core.Matrix(rows, *rows.shape, metric=metric)
        matrix = _core.Matrix(rows, *rows.shape, metric=metric, shadow=shadow_of(matrix))
        wanted = exact(asked, rows, 600, metric)
        for count in (1, 4, 8, 9, 16, 17, 31, 33, 48, 64, 67):
            for k in (3, 70, 600):
                found = matrix.nearest(asked[:count], k, threads=1)
                assert_same(found, [part[:count, :k] for part in wanted])
print("same")
"""


@pytest.mark.parametrize("target", TARGETS)
def test_batches_of_every_width_give_what_scoring_each_row_gives(target):
    assert on(target, BATCHES) == "same\n"
