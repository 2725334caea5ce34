"""Clusters of a segment's vectors: their number, and the rows in their order.

A shadow in cluster order lets a search with `effort=` start with the most promising rows. Clustering
takes a few seconds per million rows, and is done only on request: exact searches gain nothing, and
selective filters are faster in row order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.write.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Mapping

EACH = (
    256  # average rows of a cluster; its shadow then has a hundred times the bytes of its centroid
)
FEWEST = 16  # least average rows of a cluster: a block of the shadow
MOST = 65536
WIDEST = 4096  # dimensions
MAPPED = 2 << 30  # bytes of vectors above which a copy in cluster order is made first
PART = 256 << 20  # bytes of vectors in each part of that copy
READ = 16384  # rows


def checked(clusters: bool | int | None) -> bool | int | None:
    """Validate the option `clusters`."""
    if clusters is None or isinstance(clusters, bool):
        return clusters
    if not isinstance(clusters, int):
        raise TypeError(f"clusters is True, False or a number, not {clusters!r}")
    if not 1 <= clusters <= MOST:
        raise ValueError(f"clusters is True, False or a number from 1 to {MOST}, not {clusters}")
    return clusters


def recorded(clusters: bool | int | None) -> dict[str, bool | int]:
    """Return the configuration entry of the option `clusters`."""
    choice = checked(clusters)
    return {} if choice is None else {"clusters": choice}


def wanted(record: Mapping[str, Any], rows: int, dim: int) -> int:
    """Return the number of clusters for a segment with this many rows, 0 for none."""
    choice = record.get("clusters")
    if not isinstance(choice, int) or record.get("layout") == "web" or not 0 < dim <= WIDEST:
        return 0
    return min(rows // EACH if choice is True else choice, rows // FEWEST, MOST)


def placed(staged: np.ndarray, rows: np.ndarray, folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Return an array of the staged vectors, and for each place in the order its row.

    Vectors that might not fit in memory are first copied part by part, so that neighbours in the order
    are close in the file.
    """
    if staged.nbytes <= MAPPED:
        return staged, rows
    place = np.empty(len(staged), np.uint32)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    spool = Spool(folder)
    at = _copied(staged, place, spool)
    return spool.matrix(staged.dtype, staged.shape[1]), at


def _copied(staged: np.ndarray, place: np.ndarray, spool: Spool) -> np.ndarray:
    """Write the vectors part by part, and return the row of each place."""
    width = staged.shape[1] * staged.itemsize
    each = max(1, PART // width)
    filled, at = np.arange(0, len(staged), each, dtype=np.int64), np.empty(len(staged), np.uint32)
    for first in range(0, len(staged), READ):
        places = place[first : first + READ]
        parts = places // each
        order = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[order], return_index=True)
        for part, some in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            to = int(filled[part])
            spool.put(to * width, staged[first + some].data.cast("B"))
            at[places[some]] = np.arange(to, to + len(some))
            filled[part] += len(some)
    return at
