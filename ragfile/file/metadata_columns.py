"""Metadata and tags of every row as columns for filters: a chunk's values override its document's.

Where metadata have no key "source", "doc_id" or "id" of their own, these names mean the fields of a hit.

    rag.chunks, rag.documents ─ ranges of rag.meta, equal ones parsed once ─ members by key ─ a column on first use

Objects are split as they are parsed: for each key its values are kept with the objects that have them,
so that memory grows with the size of the metadata, not with rows times keys.

A writer gives each document and chunk a range of its own, or lets some share one. Ranges that overlap
in other ways only make a reader parse the same bytes repeatedly: a file is refused if its unique ranges
add up to more than OVERLAP times their stream plus a mebibyte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragfile.errors import CorruptError
from ragfile.file import filters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ragfile.file.row_segment import RowSegment
    from ragfile.types import Int64s, Metadata

    Ranks = NDArray[np.int8]  # NONE to FULL, for each object
    Offsets = NDArray[np.uint64]
    Sizes = NDArray[np.uint32]

OVERLAP, SPARE = 2, 1 << 20
BATCH_BYTES = 1 << 20
NONE, FIELD, PARTIAL, FULL = 0, 1, 2, 3  # how an object has a value; a larger one wins


class Members(NamedTuple):
    """The values that objects have for a key, and the numbers of these objects."""

    objects: list[int]
    values: list[Any]


class Ranges(NamedTuple):
    """Unique ranges of a stream in order, and for each given range its position among them."""

    at: Offsets
    size: Sizes
    positions: Int64s


class Labels:
    """filters.FilterColumns over all rows of some segments, made on first use."""

    def __init__(self, segments: Sequence[RowSegment]) -> None:
        self._segments, self._count = segments, 0
        self._members: dict[str, Members] = {}
        self._columns: dict[str | None, filters.Column] = {}
        self._tags, self._sources = Members([], []), Members([], [])
        own, shared = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._take({})  # object 0, of rows without metadata
        for segment in segments:
            own.append(self._read(segment, *segment.records.stretches(of_rows=True)))
            of_documents = self._read(segment, *segment.records.stretches(of_rows=False))
            shared.append(of_documents[segment.records.documents_of_rows()])
        self._own, self._shared = np.concatenate(own), np.concatenate(shared)

    def __len__(self) -> int:
        return len(self._own)

    @property
    def paths(self) -> list[str]:
        """Return the keys of metadata at their first level, in order of first use."""
        return list(self._members)

    def column(self, path: str) -> filters.Column:
        if path not in self._columns:
            column = self._layered(*self._resolved(path))
            if path in IDS:
                column = filters.filled(column, IDS[path](self._segments))
            self._columns[path] = column
        return self._columns[path]

    @property
    def names(self) -> list[str]:
        """Return the keys of metadata at their first level, sorted."""
        return sorted(self._members)

    def tags(self) -> filters.Column:
        if None not in self._columns:
            values: list[Any] = [()] * self._count  # lists of tags
            found = np.zeros(self._count, np.int8)
            _put(values, found, *self._tags, FULL)
            self._columns[None] = self._layered(values, found)
        return self._columns[None]

    def _resolved(self, path: str) -> tuple[list[Any], Ranks]:
        """Return each object's value at a path, as filters.resolve finds it, and how the object has it."""
        values: list[Any] = [filters.MISSING] * self._count  # JSON
        found = np.zeros(self._count, np.int8)
        if path == "source":
            _put(values, found, *self._sources, FIELD)
        head, dot, rest = path.partition(".")
        if dot:
            held: Members = self._members.get(head, _NO_MEMBERS)
            below = [filters.resolve_below(v, rest, filters.MISSING) for v in held.values]
            _put(values, found, held.objects, below, PARTIAL)
        _put(values, found, *self._members.get(path, _NO_MEMBERS), FULL)
        return values, found

    def _layered(self, values: list[Any], found: Ranks) -> filters.Column:
        """Return the rows' column: a chunk's value wins, except that a full path wins over a partial one."""
        column, own, shared = filters.encode(values), self._own, self._shared
        codes = np.where(found[shared] > found[own], column.codes[shared], column.codes[own])
        return filters.Column(codes, column.keys)

    def _read(self, segment: RowSegment, at: Offsets, size: Sizes) -> Int64s:
        """Return the number of the object at each range of a segment's metadata; 0 for an empty range."""
        numbers, filled = np.zeros(len(at), np.int64), np.flatnonzero(size)
        at, size, positions = _unique(at[filled], size[filled])
        _check(segment, at, size)
        starts, sizes = at.astype(np.int64), size.astype(np.int64)
        read: list[int] = []
        known: dict[bytes, int] = {}
        while len(read) < len(starts):
            first = len(read)
            last = int(np.searchsorted(starts, int(starts[first]) + BATCH_BYTES, side="right"))
            read.extend(self._parsed(segment, starts[first:last], sizes[first:last], known))
        numbers[filled] = np.array(read, np.int64)[positions]
        return numbers

    def _parsed(
        self, segment: RowSegment, starts: Int64s, sizes: Int64s, known: dict[bytes, int]
    ) -> Iterator[int]:
        """Return the numbers of the objects at ranges in order; known texts are not parsed again."""
        base, ends = int(starts[0]), starts + sizes
        raw = segment.meta.read(base, int(ends.max()) - base)
        texts = [
            raw[start:end]
            for start, end in zip((starts - base).tolist(), (ends - base).tolist(), strict=True)
        ]
        # Reversed, so that the offset of a text's first occurrence remains.
        first = dict(zip(reversed(texts), reversed(starts.tolist()), strict=True))
        new = {text: at for text, at in first.items() if text not in known}
        for text, fields in zip(new, segment.parsed_all(new), strict=True):
            known[text] = self._count
            self._take(fields)
        return map(known.__getitem__, texts)

    def _take(self, fields: Metadata) -> None:
        """Split an object into its members."""
        number = self._count
        self._count += 1
        for key, value in fields.get("metadata", {}).items():
            known = self._members.get(key)
            if known is None:
                known = self._members[key] = Members([], [])
            objects, values = known
            objects.append(number)
            values.append(value)
        if fields.get("source"):
            self._sources.objects.append(number)
            self._sources.values.append(fields["source"])
        if "tags" in fields:
            self._tags.objects.append(number)
            self._tags.values.append(fields["tags"])


_NO_MEMBERS: Members = Members([], [])


def _document_ids(segments: Sequence[RowSegment]) -> filters.Column:
    """Return the document id of each row."""
    names: list[str] = []
    codes: list[Int64s] = []
    first = 0
    for segment in segments:
        names += [segment.records.document(n).id for n in range(segment.records.documents)]
        codes.append(segment.records.documents_of_rows().astype(np.int64) + first)
        first = len(names)
    return filters.encode_codes(np.concatenate(codes) if codes else np.empty(0, np.int64), names)


def _chunk_ids(segments: Sequence[RowSegment]) -> filters.Column:
    """Return the id of each row: document#index."""
    found: list[str] = []
    for records in (segment.records for segment in segments):
        names = [records.document(n).id for n in range(records.documents)]
        chunks = map(records.chunk, range(len(records)))
        found += [f"{names[chunk.document]}#{chunk.index}" for chunk in chunks]
    return filters.encode(found)


IDS = {"doc_id": _document_ids, "id": _chunk_ids}


def _put(
    values: list[Any], found: Ranks, places: Sequence[int], members: Sequence[Any], how: int
) -> None:
    for place, value in zip(places, members, strict=True):
        values[place] = value
    found[np.array(places, dtype=np.int64)] = how


def _check(segment: RowSegment, at: Offsets, size: Sizes) -> None:
    """Raise CorruptError for ranges outside their stream, or with too much overlap."""
    end = np.uint64(segment.meta.size)
    if ((at > end) | (size > end - np.minimum(at, end))).any():
        raise CorruptError(
            f"metadata of segment {segment.number} begin or end after the end of their stream",
            section="rag.meta",
        )
    if int(size.sum(dtype=np.uint64)) > OVERLAP * segment.meta.size + SPARE:
        raise CorruptError(
            f"the metadata of segment {segment.number} overlap: their ranges add up to more than "
            f"{OVERLAP} times the stream",
            section="rag.meta",
        )


def _unique(at: Offsets, size: Sizes) -> Ranges:
    """Return the unique ranges in order. A writer's own are in order already."""
    if (at[1:] > at[:-1]).all():
        return Ranges(at, size, np.arange(len(at)))
    order = np.lexsort((size, at))
    at, size = at[order], size[order]
    first = np.append(True, (at[1:] != at[:-1]) | (size[1:] != size[:-1]))[: len(at)]
    positions = np.empty(len(order), np.int64)
    positions[order] = np.cumsum(first) - 1
    return Ranges(at[first], size[first], positions)
