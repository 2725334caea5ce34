"""The rows that calibrate fusion, and their vectors.

They are the TAKEN live rows with a vector that have the smallest hashes of their keys, so they do not
depend on the file's history. A segment of WORTH rows or more keeps its first KEPT of them together, in
`rag.sample`. Deletions leave that section alone until it has fewer live rows than a sample takes; that
commit writes it again. For a segment without the section, or with one that ran short, the records give
the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file import remote_prefetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment
    from ragfile.types import Floats

TAKEN = 1024
KEPT = TAKEN + TAKEN // 8
WORTH = 8 * TAKEN  # below, the rows' records cost less than a copy of their vectors

Entry = tuple[int, int]  # hash, row of the segment


class SampleRows(NamedTuple):
    """Rows of the file, in order of their hashes, and their vectors if requested."""

    rows: NDArray[np.int64]
    vectors: list[Floats]


def stored_sample(segment: RowSegment) -> _core.StoredSample | None:
    """Return the segment's `rag.sample`, checked."""
    section = segment.section("rag.sample")
    if section is None:
        return None
    layout = segment.vector_layout()
    return _core.StoredSample(section, segment.rows, layout.dim, layout.bits)


def stored_whole(segment: RowSegment) -> Floats | None:
    """Return the sample of a segment whose rows are all live and have vectors; None if `rag.sample` has too few."""
    stored = stored_sample(segment)
    if stored is None or len(stored) < min(TAKEN, segment.rows):
        return None
    return np.array(stored.vectors[:TAKEN], np.float32)


def living(stored: _core.StoredSample, segment: RowSegment) -> dict[Entry, int] | None:
    """Return the live entries with their positions, TAKEN at most; None if the segment has more to add.

    The segment keeps them for later commits that leave it as it is.
    """
    if segment.sample_places is None:
        mask = segment.vector_mask()
        places = {entry: i for i, entry in enumerate(stored.pairs()) if mask[entry[1]]}  # in order
        if len(places) < min(TAKEN, segment.vector_count):
            return None
        segment.sample_places = dict(list(places.items())[:TAKEN])
    return segment.sample_places


def sample(segments: Sequence[RowSegment], with_vectors: bool = True) -> SampleRows:
    """Return the sample of a file."""
    remote_prefetch.samples(segments)
    segments = [segment for segment in segments if segment.vector_count]
    found = [(entry, segment, view) for segment in segments for entry, view in _of(segment).items()]
    found.sort(key=lambda each: (each[0][0], each[1].base + each[0][1]))
    chosen = found[:TAKEN]
    rows = np.array([segment.base + row for (_, row), segment, _ in chosen], dtype=np.int64)
    if with_vectors:
        remote_prefetch.vector_rows(
            segments, [r for r, (_, _, v) in zip(rows, chosen, strict=True) if v is None]
        )
    vectors = [_vector(*each) for each in chosen] if with_vectors else []
    return SampleRows(rows, vectors)


def _of(segment: RowSegment) -> dict[Entry, Floats] | dict[Entry, None]:
    """Return a segment's part, with the vectors that are stored together."""
    stored = stored_sample(segment)
    kept = None if stored is None else living(stored, segment)
    if stored is not None and kept is not None:
        vectors = stored.vectors
        return {entry: vectors[i] for entry, i in kept.items()}
    remote_prefetch.whole(
        [segment], *remote_prefetch.DELETED, "rag.chunks", "rag.documents", "rag.ids"
    )
    return dict.fromkeys(segment.records.sample(TAKEN, segment.embedded))


def _vector(entry: Entry, segment: RowSegment, together: Floats | None) -> Floats:
    if together is not None:
        return together
    vector: Floats = segment.stored_vectors(entry[1], 1)[0]
    return vector


def is_short(segment: RowSegment, alive: NDArray[np.bool_]) -> bool:
    """Return whether the segment's `rag.sample` has too few of the rows that will be live."""
    if not (segment.has("rag.sample") and segment.has("vector")):
        return False
    stored = stored_sample(segment)
    assert stored is not None
    alive = alive & ~segment.bare_mask()
    kept = int(alive[[row for _, row in stored.pairs()]].sum())
    return kept < min(TAKEN, int(alive.sum()))


def written_anew(segment: RowSegment, alive: NDArray[np.bool_]) -> bytes:
    """Return a new `rag.sample` of the rows that will be live and have vectors."""
    alive = alive & ~segment.bare_mask()
    entries = segment.records.sample(KEPT, _core.row_set(alive, segment.rows))
    found = [segment.stored_vectors(row, 1)[0] for _, row in entries]
    return _core.stored_sample(entries, np.array(found))
