"""The rows that a question may find, computed once for all retrievers.

A caller gives a filter, a bool for each row, row numbers, or ids of chunks and documents. A RowSet is
one mask over the file, and for each segment the 64-bit words that the core takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar, cast

import numpy as np

from ragfile import _core

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from numpy.typing import ArrayLike, NDArray

    from ragfile.file.row_segment import RowSegment
    from ragfile.types import Booleans, Float32s, Int64s, Integers

    Words = NDArray[np.uint64]  # a bit for each row of a segment
    SegmentName = tuple[int, int]  # its base and number

W = TypeVar("W")


class SegmentWords(NamedTuple):
    """A segment with a row set of it."""

    segment: RowSegment
    words: Words


class Group(NamedTuple):
    """The numbers of questions that share a filter, and the filter."""

    questions: list[int]
    where: Any  # Any: each caller's kind of filter


class RowSet:
    """The rows that pass a condition. `mask` is None if there is no condition."""

    __slots__ = ("_found", "_mask", "_words")

    _found: dict[SegmentName, SegmentWords] | None

    def __init__(
        self, mask: Booleans | None, found: dict[SegmentName, SegmentWords] | None = None
    ) -> None:
        self._mask, self._found = mask, found
        self._words: dict[SegmentName, Words] = {}  # of the mask

    @classmethod
    def of_segments(cls, segments: Sequence[RowSegment], words: Sequence[Words]) -> RowSet:
        """Return the row set of the live rows among those of each segment of a file."""
        each = zip(segments, words, strict=True)
        return cls(
            None, {_name_of(one): SegmentWords(one, _of_live(one, some)) for one, some in each}
        )

    @property
    def nbytes(self) -> int:
        """Return the bytes of the bits of all segments; a mask is not kept beside them."""
        return sum(pair.words.nbytes for pair in (self._found or {}).values())

    @property
    def mask(self) -> Booleans | None:
        """Return bool[rows] of the file."""
        if self._found is None:
            return self._mask
        flags = [_core.flags_of(words, segment.rows) for segment, words in self._found.values()]
        return np.concatenate(flags) if flags else np.empty(0, bool)

    def words(self, segments: Sequence[RowSegment]) -> list[Words | None]:
        """Return the live rows that pass, for each segment searched; None for all of them."""
        if self._found is not None:
            return [self._found[_name_of(segment)].words for segment in segments]
        if self._mask is None:
            return [segment.alive for segment in segments]
        return [self._words_of(segment, self._mask) for segment in segments]

    def _words_of(self, segment: RowSegment, mask: Booleans) -> Words:
        """Return the words of a segment, kept: each retriever searches the segments that it can."""
        name = _name_of(segment)
        if name not in self._words:
            self._words[name] = _living(segment, mask)
        return self._words[name]


ALL = RowSet(None)  # every row of any file


class RowSets:
    """The rows that each of several questions may find: the number of its filter, and a RowSet for each."""

    __slots__ = ("numbers", "sets")

    def __init__(self, numbers: NDArray[np.uint32], sets: Sequence[RowSet]) -> None:
        self.numbers, self.sets = numbers, sets

    @classmethod
    def of(cls, wheres: Sequence[W], row_set: Callable[[W], RowSet]) -> RowSets:
        """Make a RowSet for each different filter."""
        groups = grouped(wheres)
        numbers = np.zeros(len(wheres), np.uint32)
        for number, (places, _) in enumerate(groups):
            numbers[places] = number
        return cls(numbers, [row_set(where) for _, where in groups])

    def words(self, segments: Sequence[RowSegment]) -> _core.Filters:
        """Return the sets for the core; there is at least one segment."""
        return _core.Filters(self.numbers, [one.words(segments) for one in self.sets])


def _name_of(segment: RowSegment) -> SegmentName:
    """Return a name that is unique also among segments of several files."""
    return segment.base, segment.number


def _living(segment: RowSegment, mask: Booleans) -> Words:
    words = _core.row_set(mask[segment.base : segment.base + segment.rows], segment.rows)
    return _of_live(segment, words)


def _of_live(segment: RowSegment, words: Words) -> Words:
    return words if segment.alive is None else words & segment.alive


def are_ids(where: object) -> TypeGuard[Collection[str]]:
    """Return whether a filter is a list of ids."""
    if not isinstance(where, list | tuple | set | frozenset):
        return False
    names = cast("Collection[object]", where)
    return bool(names) and all(isinstance(name, str) for name in names)


def is_one_each(where: object) -> bool:
    """Return whether there is a filter for each question: a list of filters, or a mask for each."""
    if isinstance(where, list | tuple):
        each = cast("Collection[object]", where)
        return any(one is None or isinstance(one, dict | list | tuple | np.ndarray) for one in each)
    return isinstance(where, np.ndarray) and where.ndim == 2


def one_for_each(value: ArrayLike, count: int) -> Float32s:
    """Return a number for each question, from a list or one number for all."""
    found = np.asarray(value, np.float32).reshape(-1)
    if found.size == 1 and count != 1:
        found = np.repeat(found, count)
    if found.size != count or np.isnan(found).any():
        raise ValueError(f"min_score is a number for each of {count} queries, not {value!r:.80}")
    return found


def grouped(wheres: Sequence[object]) -> list[Group]:
    """Group questions by filter."""
    groups: dict[Hashable, Group] = {}
    for i, where in enumerate(wheres):
        groups.setdefault(spelled(where), Group([], where)).questions.append(i)
    return list(groups.values())


def spelled(where: object) -> Hashable:
    """Return a key that equal filters share: their JSON, in which 1 is not true, or else the identity."""
    try:
        return json.dumps(where, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return id(where)


def as_rows(where: object) -> NDArray[Any]:
    """Return a mask or row numbers as an array, or raise TypeError."""
    rows = np.asarray(where)
    is_other = rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu")
    if isinstance(where, str | bytes) or is_other:
        raise TypeError(
            "where is a filter (a dict), a bool for each row, row numbers, or ids, "
            f"not {where!r:.80}"
        )
    return rows


def mask_of(rows: NDArray[Any], count: int) -> Booleans:
    """Return bool[count] of a mask, which is returned as it is, or of row numbers; -1 names no row."""
    if rows.dtype == np.bool_:
        if rows.shape != (count,):
            raise ValueError(
                f"where: a mask has a bool for each of the {count} rows, not shape {list(rows.shape)}"
            )
        return rows
    mask = np.zeros(count, dtype=bool)
    mask[checked_rows(rows, count)] = True
    return mask


def checked_rows(rows: Integers, count: int) -> Int64s:
    """Return row numbers as int64 without the -1 that pads answers, or raise IndexError."""
    named: Int64s = rows[rows != -1].astype(np.int64)
    outside = named[(named < 0) | (named >= count)]
    if len(outside):
        raise IndexError(f"row {outside[0]} is outside the file's {count} rows")
    return named
