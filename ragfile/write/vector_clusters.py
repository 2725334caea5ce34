"""Clusters of a segment's vectors: how many it has, and its rows in their order.

A shadow in the order of clusters lets a search with `effort=` begin where the best rows probably are. It
costs a few seconds a million rows. Files have clusters on request alone: exact searches gain nothing from
them, and a filter that few rows pass finds these rows in a shadow in the order of rows at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragfile.write.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Mapping

EACH = (
    256  # rows of a cluster, on average: as many bytes of a shadow as of a centroid a hundredfold
)
FEWEST = 16  # rows of a cluster, on average, at least: a block of the shadow
MOST = 65536
WIDEST = 4096  # dimensions
MAPPED = 2 << 30  # bytes of vectors that are read in any order; more are brought into it first
PART = 256 << 20  # bytes of vectors that lie together in a file that is brought into order
READ = 16384  # rows


def checked(clusters: bool | int | None) -> bool | int | None:
    """The choice of clusters as files record it."""
    if clusters is None or isinstance(clusters, bool):
        return clusters
    if not isinstance(clusters, int):
        raise TypeError(f"clusters is True, False or a number, not {clusters!r}")
    if not 1 <= clusters <= MOST:
        raise ValueError(f"clusters is True, False or a number from 1 to {MOST}, not {clusters}")
    return clusters


def recorded(clusters: bool | int | None) -> dict[str, bool | int]:
    """What a file records of the choice: nothing without one."""
    choice = checked(clusters)
    return {} if choice is None else {"clusters": choice}


def wanted(record: Mapping[str, Any], rows: int, dim: int) -> int:
    """How many clusters a segment of so many rows is to have; 0 for none."""
    choice = record.get("clusters")
    if not isinstance(choice, int) or record.get("layout") == "web" or not 0 < dim <= WIDEST:
        return 0
    return min(rows // EACH if choice is True else choice, rows // FEWEST, MOST)


def placed(staged: np.ndarray, rows: np.ndarray, folder: str) -> tuple[Any, np.ndarray]:
    """(array, row of the array for each place), of staged vectors that are wanted in this order.

    Vectors that might not fit in memory are copied first, so that what is wanted together lies together:
    written in a few streams, and read part by part.
    """
    if staged.nbytes <= MAPPED:
        return staged, rows
    place = np.empty(len(staged), np.uint32)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    spool = Spool(folder)
    at = _copied(staged, place, spool)
    return spool.matrix(staged.dtype, staged.shape[1]), at


def _copied(staged, place, spool):
    """Writes the vectors, part by part in order of places; returns where each place's lies."""
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
            spool.put(to * width, memoryview(staged[first + some]).cast("B"))
            at[places[some]] = np.arange(to, to + len(some))
            filled[part] += len(some)
    return at
