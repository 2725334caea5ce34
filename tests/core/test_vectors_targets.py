"""Every target of this machine gives the same rows, the same score bits and the same shadow bytes."""

import os

import pytest
from targets import TARGETS, on

from ragfile import _core

WORKLOAD = """
import hashlib, numpy as np
from ragfile import _core
rng = np.random.default_rng(5)
digest = hashlib.sha256()
for dim in (1, 3, 8, 17, 64, 70, 127, 384):
    for dtype, kind in (("f32", "f4"), ("f16", "f2"), ("f64", "f8")):
        rows = rng.standard_normal((400, dim)).astype(kind)
        rows[7] = rows[6]
        rows[9] *= 2.0 ** -12
        queries = rng.standard_normal((40, dim)).astype("f4")
        shadow = bytearray()
        _core.Shadow(_core.Matrix(rows, 400, dim, dtype=dtype)).write(shadow.extend)
        digest.update(shadow)
        for metric in ("cosine", "ip", "l2"):
            for shade in (None, shadow):
                matrix = _core.Matrix(rows, 400, dim, dtype=dtype, metric=metric, shadow=shade)
                for asked in (queries[:2], queries[:17], queries):
                    for where in (None, np.arange(400) // 48 % 2 > 0):
                        for array in matrix.nearest(asked, 6, where=where):
                            digest.update(array)
                digest.update(matrix.scores(range(400), queries[0]))
            if dtype == "f32":
                moments = _core.Sample(rows, metric).moments(queries[0])
                digest.update(repr(moments).encode())
axes = np.linalg.qr(rng.standard_normal((96, 96)))[0].astype("f4") * 0.94 ** np.arange(96, dtype="f4")[:, None]
rows = (rng.standard_normal((5003, 96)).astype("f4") @ axes + axes[3]).astype("f4")
rows[11], rows[12], rows[13] = 0, 1e30, np.nan
queries = rows[200:240] + np.float32(0.1) * rng.standard_normal((40, 96)).astype("f4")
shadow = bytearray()
plan = _core.Shadow(_core.Matrix(rows, *rows.shape))
plan.write(shadow.extend)
assert plan.name == "rag.planes"
digest.update(shadow)
for metric in ("cosine", "ip", "l2"):
    matrix = _core.Matrix(rows, *rows.shape, metric=metric, shadow=shadow)
    for asked in (queries[:2], queries[:17], queries):
        for where in (None, np.arange(5003) // 48 % 2 > 0):
            for array in matrix.nearest(asked, 20, where=where):
                digest.update(array)
print(_core.target(), digest.hexdigest())
"""


@pytest.fixture(scope="module")
def widest():
    name, digest = on("", WORKLOAD).split()
    assert name == _core.target() or os.environ.get("RAGFILE_TARGET")
    return digest


@pytest.mark.parametrize("target", TARGETS)
def test_results_and_shadows_are_the_same_on_every_target(target, widest):
    assert on(target, WORKLOAD).split() == [target, widest]
