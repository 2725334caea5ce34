"""What calibrated fusion computes in the core, said slowly in numpy.

A sample's mean and deviation, and the least dense score."""

import math

import numpy as np


def least_dense(bm25, dense, *, rest, k, mean, deviation, w):
    """The dense score that a row needs to be among the k best of `calibrated` when its BM25 score is
    `rest` at most; -inf if any can do.

    bm25 and dense are both scores of the best rows by words, one of which has the largest BM25 score
    of all. A fused score grows with each of its parts, however they are rounded, so it is enough to
    see that the next smaller dense score falls short: then all below it do.
    """
    best = float(bm25.max(initial=0.0))
    if not (0 < k <= len(bm25) and best > 0 and deviation > 0):
        return -math.inf
    bm25, dense = bm25.astype(np.float64), dense.astype(np.float64)
    bar = float(np.sort(bm25 / best + (dense - mean) / deviation / w)[-k])
    share = float(rest) / best
    wanted = mean + (bar - share) * w * deviation
    if not abs(wanted) < 1e38:
        return -math.inf
    least = np.nextafter(np.float32(wanted), -np.float32(np.inf))
    below = float(np.nextafter(least, -np.float32(np.inf)))
    return float(least) if share + (below - mean) / deviation / w < bar else -math.inf


def sample_statistics(scores):
    """(mean, deviation) of a sample's scores, summed exactly, so that neither order nor machine matters."""
    values = np.asarray(scores, dtype=np.float64)
    if not len(values):
        return 0.0, 0.0
    mean = math.fsum(values.tolist()) / len(values)
    return mean, math.sqrt(math.fsum(np.square(values - mean).tolist()) / len(values))
