"""The canonical score and the exact answer, written for reading: what the engine must give, bit by bit."""

import numpy as np

from ragfile import _core

METRICS = ("cosine", "ip", "l2")
LARGEST = float(np.finfo(np.float32).max)


def canonical_dots(query, rows):
    """Of one query, or one for each row: sixteen lanes of binary64, lane j summing components j, j + 16 and
    so on in turn, then a fixed tree."""
    query, rows = np.asarray(query, np.float32), np.asarray(rows, np.float32)
    steps = -(-rows.shape[1] // 16)
    products = np.zeros((len(rows), steps * 16))
    with np.errstate(all="ignore"):
        products[:, : rows.shape[1]] = query.astype(np.float64) * rows.astype(np.float64)
        lanes = np.zeros((len(rows), 16))
        for step in range(steps):
            lanes += products[:, 16 * step : 16 * step + 16]
        for apart in (8, 4, 2, 1):
            lanes = lanes[:, :apart] + lanes[:, apart : 2 * apart]
    return lanes[:, 0]


def canonical_scores(query, rows, metric):
    """The score of each row, NaN for a row that is never ranked."""
    with np.errstate(all="ignore"):
        rows = np.asarray(rows).astype(np.float32)
        query = np.asarray(query, np.float32)
        dots = canonical_dots(query, rows)
        squares = canonical_dots(rows, rows)
        square = canonical_dots(query, query[None])[0]
        if metric == "ip":
            scores = dots
        elif metric == "l2":
            scores = np.minimum(2 * dots - (square + squares), 0)
        else:
            norms = np.sqrt(square) * np.sqrt(squares)
            scores = np.where(norms > 0, dots / norms, 0)
        scores = np.clip(scores, -LARGEST, LARGEST).astype(np.float32)
    return np.where(np.isfinite(squares), scores, np.float32("nan")).astype(np.float32)


def exact(queries, rows, k, metric, where=None):
    """The k best rows of each query by brute force, equal scores by row, padded with -1 and -inf."""
    found = np.full((len(queries), k), -1, np.int64)
    scores = np.full((len(queries), k), -np.inf, np.float32)
    for i, query in enumerate(queries):
        every = canonical_scores(query, rows, metric)
        allowed = ~np.isnan(every) if where is None else ~np.isnan(every) & where
        candidates = np.flatnonzero(allowed)
        best = candidates[np.lexsort((candidates, -every[candidates].astype(np.float64)))][:k]
        found[i, : len(best)] = best
        scores[i, : len(best)] = every[best]
    return found, scores


def shadow_of(matrix, rotate=True):
    pieces = []
    _core.Shadow(matrix, rotate=rotate).write(pieces.append)
    return b"".join(pieces)


def matrices(rows, metric):
    """The same rows with and without a shadow."""
    rows = np.ascontiguousarray(rows, np.float32)
    plain = _core.Matrix(rows, *rows.shape, metric=metric)
    return plain, _core.Matrix(rows, *rows.shape, metric=metric, shadow=shadow_of(plain))


def assert_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1].view(np.uint32), expected[1].view(np.uint32))
