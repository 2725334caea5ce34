"""Merge small segments inside a commit, so that a file of many small commits keeps few segments.

Each commit adds a segment, and each segment costs every question and every table of contents something.
Segments are therefore sorted into tiers by their live rows: below 8, 64, 512, 4,096 and so on. As soon
as a tier would hold FANOUT segments, the commit writes the live documents of that tier and of all lower
ones into its own segment. Each row is thus written about once a tier, and a file has at most
FANOUT - 1 segments in each.

A merge needs no new rule for readers: it deletes documents from old segments and adds the same ones,
with their vectors, to a new segment. Older generations keep their tables and their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile.errors import CorruptError
from ragfile.file import sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragfile.file.row_segment import RowSegment
    from ragfile.search.file_rows import FileRows
    from ragfile.types import SectionEntry
    from ragfile.write.deletions import Removals
    from ragfile.write.draft import Draft

FANOUT = 8
ROWS_MOST = 16_384  # of a merged segment: more would delay a commit noticeably
BYTES_MOST = 32 << 20  # of a segment to be merged


def tier(rows: int) -> int:
    """Return the tier of a segment: 0 below FANOUT rows, and one more for each further factor of FANOUT."""
    found = 0
    while rows >= FANOUT:
        rows //= FANOUT
        found += 1
    return found


TIERS = tier(ROWS_MOST) + 1


def chosen(sizes: Mapping[int, int], new: int) -> set[int]:
    """Return the numbers of the segments to merge, given the rows of each and those of the commit."""
    left = sorted((rows, number, tier(rows)) for number, rows in sizes.items())
    taken: set[int] = set()
    size = new
    for level in range(TIERS):
        peers = [item[2] for item in left].count(level) + (size > 0 and tier(size) == level)
        if peers < FANOUT:
            continue
        for rows, number, of in left:
            if of <= level and size + rows <= ROWS_MOST:
                size += rows
                taken.add(number)
        left = [item for item in left if item[1] not in taken]
    return taken if len(taken) + (new > 0) > 1 else set()


class SegmentMerge:
    """The merge that a commit makes of an open file's segments with its staged documents."""

    def __init__(self, archive: FileRows, removals: Removals, signed: int) -> None:
        self._archive, self._removals, self._signed = archive, removals, signed

    def carry_out(self, draft: Draft) -> None:
        """Add the live documents of the chosen segments to a draft, and mark the segments as merged."""
        staging = draft.staging
        wanted = self._chosen(max(len(staging), len(staging.documents)))
        for segment in self._archive.segments:
            if segment.number in wanted:
                before = len(staging)
                for old in segment.live_documents():
                    if old not in self._removals:
                        draft.carry(old)
                self._removals.merged[segment.number] = len(staging) - before

    def _chosen(self, new: int) -> set[int]:
        sizes = {segment.number: size for segment, size in self._small()}
        if not (found := chosen(sizes, new)):
            return found
        free = self._free()
        return chosen({number: size for number, size in sizes.items() if number in free}, new)

    def _small(self) -> Iterator[tuple[RowSegment, int]]:
        """Yield the segments that later commits may merge, with their sizes in rows or documents."""
        for segment in self._archive.segments:
            left = self._removals.left(segment)
            if not segment.has("rag.ids") or segment.generation <= self._signed:
                continue
            documents = segment.reader.items("rag.ids", segment.number)
            size = max(left, documents - (segment.rows - left))
            if 0 < size < ROWS_MOST:
                yield segment, size

    def _free(self) -> set[int]:
        """Return the segments whose sections can all be made again, and are intact.

        Clusters are costly to make. Another program's sections cannot be made, and damaged bytes are
        left to a repair.
        """
        entries: dict[int, list[SectionEntry]] = {}
        for entry in self._archive.file.entries:
            entries.setdefault(entry["segment"], []).append(entry)
        return {
            segment.number
            for segment in self._archive.segments
            if _can_be_made(entries.get(segment.number, [])) and _is_intact(segment)
        }


def _can_be_made(entries: list[SectionEntry]) -> bool:
    names = {entry["name"] for entry in entries}
    is_small = sum(entry["size"] for entry in entries) <= BYTES_MOST
    return (
        is_small
        and "rag.clusters" not in names
        and all(sections.compaction(name) != "kept" for name in names)
    )


def _is_intact(segment: RowSegment) -> bool:
    """Return whether the sections that a merge reads match their checksums."""
    names = ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta", "rag.bare", "vector")
    try:
        for name in names:
            if (section := segment.section(name)) is not None:
                section.check()
    except CorruptError:
        return False
    return True
