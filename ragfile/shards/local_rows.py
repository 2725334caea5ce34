"""The rows of all shards as those of one file, for a dataset of local files that this process searches.

    shards ─ segments with row numbers of the dataset ─ FileRows

Statistics add up over segments, whichever file they are in. So one call into the core asks all shards, as it asks the
segments of a file, and the answer has the same bits as one that is merged from tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragfile.file.row_sets import ALL, RowSet, RowSets
from ragfile.search.file_rows import FileRows
from ragfile.shards.messages import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragfile.file.container import Container
    from ragfile.file.row_segment import RowSegment
    from ragfile.file.snapshot import Snapshot
    from ragfile.shards.messages import Chosen
    from ragfile.shards.snapshot import DatasetSnapshot
    from ragfile.shards.statistics import Whole


class LocalSnapshot:
    """One generation of a dataset, with what rows ask of a snapshot. All its shards are open."""

    is_elsewhere, is_encrypted, sealed = False, False, None  # local, and files that never change

    def __init__(self, dataset: DatasetSnapshot, segments: Sequence[RowSegment]) -> None:
        manifest = dataset.manifest
        self.path, self.config, self.generation = dataset.path, manifest.config, manifest.generation
        self.count, self.live, self.segments = manifest.bases[-1], manifest.live, segments

    def check_unchanged(self) -> None:
        """Do nothing: the objects of a dataset never change."""

    def close(self) -> None:
        """Do nothing: the shards stay open for other datasets of this process."""


def rows_of_shards(
    dataset: DatasetSnapshot, segments: Sequence[RowSegment], file: object, whole: Whole | None
) -> FileRows:
    """Return the rows of open shards. `whole` has the sample of the dataset; None without vectors."""
    snapshot: object = LocalSnapshot(dataset, segments)
    sample = None if whole is None else whole.sample
    return FileRows(cast("Snapshot", snapshot), file=cast("Container", file), sample=sample)


def row_set(rows: FileRows, chosen: Chosen | RowSets) -> RowSet | RowSets:
    """Return the live rows of a filter, or those of each question's filter."""
    if chosen is EVERYTHING:
        return ALL
    if isinstance(chosen, RowSets):
        each = cast("Sequence[Chosen]", chosen.sets)
        return RowSets(chosen.numbers, [set_of(rows, one) for one in each])
    return set_of(rows, chosen)


def set_of(rows: FileRows, chosen: Chosen) -> RowSet:
    """Return the live rows of one filter."""
    where = chosen.where if chosen.rows is None else chosen.rows
    return rows.select(where, chosen.tags_any, chosen.tags_all, chosen.without, chosen.signs)
