"""The rows that calibrate fusion, and their vectors: the TAKEN live rows with a vector that have the
smallest hashes of their keys, whatever the file's history.

A segment of WORTH rows or more keeps its first KEPT of them together, in `rag.sample`. Deletion leaves that
section as it is until it has fewer live rows than a sample takes; the commit that goes below writes it again.
A segment without one, or with one that an older writer let run short, gives its rows by their records. Either
way the rows are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file import prefetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment

TAKEN = 1024
KEPT = TAKEN + TAKEN // 8
WORTH = 8 * TAKEN  # below, the rows' records cost less than a copy of their vectors

Entry = tuple[int, int]  # hash, row of the segment


class SampleRows(NamedTuple):
    """Rows of the file, in order of their hashes, and their vectors where that was asked."""

    rows: NDArray[np.int64]
    vectors: list[NDArray[np.floating]]


def stored_sample(segment: RowSegment) -> _core.StoredSample | None:
    """The segment's `rag.sample`, checked."""
    section = segment.section("rag.sample")
    if section is None:
        return None
    layout = segment.vector_layout()
    return _core.StoredSample(section, segment.rows, layout.dim, layout.bits)


def living(stored: _core.StoredSample, segment: RowSegment) -> dict[Entry, int] | None:
    """The live entries by their places, TAKEN at most; None where more of the segment's rows are wanted."""
    mask = segment.vector_mask()
    places = {entry: i for i, entry in enumerate(stored.pairs()) if mask[entry[1]]}  # in order
    if len(places) < min(TAKEN, segment.vector_count):
        return None
    return dict(list(places.items())[:TAKEN])


def sample(segments: Sequence[RowSegment], with_vectors: bool = True) -> SampleRows:
    """The sample of a file."""
    prefetch.samples(segments)
    segments = [segment for segment in segments if segment.vector_count]
    found = [(entry, segment, view) for segment in segments for entry, view in _of(segment).items()]
    found.sort(key=lambda each: (each[0][0], each[1].base + each[0][1]))
    chosen = found[:TAKEN]
    rows = np.array([segment.base + row for (_, row), segment, _ in chosen], dtype=np.int64)
    if with_vectors:
        prefetch.vector_rows(
            segments, [r for r, (_, _, v) in zip(rows, chosen, strict=True) if v is None]
        )
    vectors = [_vector(*each) for each in chosen] if with_vectors else []
    return SampleRows(rows, vectors)


def _of(segment: RowSegment) -> dict[Entry, NDArray[np.floating] | None]:
    """A segment's part, with the vectors that lie together."""
    stored = stored_sample(segment)
    kept = None if stored is None else living(stored, segment)
    if stored is not None and kept is not None:
        vectors = stored.vectors
        return {entry: vectors[i] for entry, i in kept.items()}
    prefetch.whole([segment], "rag.tombs", "rag.chunks", "rag.documents", "rag.ids")
    return dict.fromkeys(segment.records.sample(TAKEN, segment.embedded))


def _vector(entry: Entry, segment: RowSegment, together: NDArray[np.floating] | None):
    if together is not None:
        return together
    return segment.stored_vectors(entry[1], 1)[0]


# ------------------------------------------------------------------------------------ writing --


def is_short(segment: RowSegment, alive: NDArray[np.bool_]) -> bool:
    """Whether the segment's `rag.sample` has too few of the rows that will be alive."""
    if not (segment.has("rag.sample") and segment.has("vector")):
        return False
    stored = stored_sample(segment)
    assert stored is not None
    alive = alive & ~segment.bare_mask()
    kept = sum(bool(alive[row]) for _, row in stored.pairs())
    return kept < min(TAKEN, int(alive.sum()))


def written_anew(segment: RowSegment, alive: NDArray[np.bool_]) -> bytes:
    """`rag.sample` of the rows that will be alive and have vectors."""
    alive = alive & ~segment.bare_mask()
    entries = segment.records.sample(KEPT, _core.row_set(alive, segment.rows))
    found = [segment.stored_vectors(row, 1)[0] for _, row in entries]
    return _core.stored_sample(entries, np.array(found))
