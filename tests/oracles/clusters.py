"""A second reader of rag.clusters, and the rule of a search with less effort, written for reading from
spec/parts/vectors.md: which rows it looks at, what it answers, and what it says of its answer."""

import numpy as np
from oracles.vectors import canonical_dots, canonical_scores, exact

from ragfile import _core


class Clusters:
    def __init__(self, data):
        data = bytes(data)
        assert data[:8] == b"RAGCLUST"
        version, self.dim = map(int, np.frombuffer(data, "<u4", 2, 8))
        self.rows, count = int(np.frombuffer(data, "<u8", 1, 16)[0]), 0
        count = self.count = int(np.frombuffer(data, "<u4", 1, 24)[0])
        assert version == 1
        assert not any(data[28:64])
        at, stride = 64, -(-self.dim // 32) * 32
        self.starts, at = np.frombuffer(data, "<u4", count + 1, at), at + up(4 * count + 4)
        tables = [np.frombuffer(data, "<f4", count, at + i * up(4 * count)) for i in range(4)]
        self.radii, self.spreads, self.least, self.most = tables
        at, panels = at + 4 * up(4 * count), -(-count // 32)
        cells = np.frombuffer(data, "<i2", panels * 32 * stride, at)
        cells = cells.reshape(panels, stride // 2, 32, 2).transpose(0, 2, 1, 3)
        self.whole = cells.reshape(panels * 32, stride)[:count, : self.dim].astype(np.int64)
        self.centroids = self.whole / 2.0**15
        self.order = np.frombuffer(data, "<u4", self.rows, at + panels * 64 * stride)
        assert len(data) == at + panels * 64 * stride + up(4 * self.rows)

    def members(self, c):
        return self.order[self.starts[c] : self.starts[c + 1]]


def up(size):
    return -(-size // 64) * 64


def made(rows, wanted, threads=1, **options):
    """(the bytes of rag.clusters, those of rag.clustered)"""
    count, dim = rows.shape
    matrix = _core.Matrix(rows, count, dim, **options)
    clusters = _core.Clustering(matrix, wanted, threads)
    offsets = clusters.order.astype(np.uint64) * np.uint64(rows.strides[0])
    placed = _core.Matrix(rows, count, dim, offsets=offsets, **options)
    clusters.measure(placed)
    table, section = bytearray(), bytearray()
    clusters.write(table.extend)
    shadow = _core.Shadow(matrix, placed=placed)
    assert shadow.name == "rag.clustered"
    shadow.write(section.extend)
    assert len(table) == clusters.size
    return bytes(table), bytes(section)


def clustered(rows, wanted, metric="cosine", **options):
    """(a matrix that is searched by clusters, what a second reader finds in them)"""
    table, section = made(rows, wanted)
    matrix = _core.Matrix(rows, *rows.shape, metric=metric, shadow=section, clusters=table)
    return matrix, Clusters(table)


def order_of(clusters, query):
    """The clusters by falling promise."""
    norm = np.sqrt(canonical_dots(query, np.asarray(query)[None])[0])
    point = np.rint(query.astype(float) * (1 / norm) * 2**14).astype(np.int64)
    products = (clusters.whole @ point).astype(np.float32) * np.float32(2.0**-29)
    gain = np.float32(6.4 / np.sqrt(float(clusters.dim)))
    promises = products + gain * clusters.spreads
    ranks = ((np.float32(4) - np.clip(promises, -4, 4)) * np.float32(2.0**28)).astype(np.uint32)
    return np.argsort(ranks, kind="stable")


def visited(clusters, query, k, effort, where=None):
    """(rows seen before the middle, all rows seen, the shares h and f); all that pass."""
    passes = np.ones(clusters.rows, bool) if where is None else where
    total = int(passes.sum())
    wanted, order = max(effort * total, 4 * k + 32), order_of(clusters, query)
    seen, middle, half = [], None, 0.0
    if 8 * total * total <= clusters.rows * wanted:
        return middle, np.flatnonzero(passes).tolist(), half, 1
    for i, c in enumerate(order):
        if len(seen) == total or (i >= 4 and len(seen) >= wanted):
            break
        members = clusters.members(c)
        near = 2 * len(seen) >= wanted or len(seen) + len(members) >= wanted
        if middle is None and i >= 2 and seen and near:
            middle, half = list(seen), len(seen) / total
        seen += [row for row in members if passes[row]]
    return middle, seen, half, len(seen) / total


def answer(clusters, rows, query, k, metric, effort, where=None):
    """(rows, scores, the estimate of recall) of one query."""
    middle, seen, half, share = visited(clusters, query, k, effort, where)
    mask = np.zeros(len(rows), bool)
    mask[seen] = True
    found, scores = exact(query[None], rows, k, metric, mask)
    if share == 1:
        return found[0], scores[0], 1.0
    if middle is None:
        return found[0], scores[0], 0.0
    late = 0.05 + len(set(found[0][found[0] >= 0].tolist()) - set(middle))
    left = (share**-0.75 - 1) / (half**-0.75 - share**-0.75)
    k = min(k, len(rows))
    return found[0], scores[0], max(0.0, 1 - late / (k + 1) * left)


def scores_of(query, rows, metric):
    return canonical_scores(query, rows, metric)
