"""Which rows a question may find, made once for all who look for them.

A caller says it as a filter, as a bool for each row, as row numbers, or as ids of chunks and documents. Out comes a
RowSet: one mask over the file, and the words of 64 bits that the core wants for each segment.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ragfile import _core

Words = np.ndarray  # uint64, a bit for each row of a segment


class RowSet:
    """The rows that a condition lets through. `mask` is None where there is no condition."""

    __slots__ = ("_found", "_mask", "_words")

    _found: "dict[tuple[int, int], tuple[Any, Words]] | None"  # by segment

    def __init__(
        self,
        mask: np.ndarray | None,
        found: "dict[tuple[int, int], tuple[Any, Words]] | None" = None,
    ) -> None:
        self._mask, self._found = mask, found
        self._words: dict[tuple[int, int], Words] = {}  # of the mask, by segment

    @classmethod
    def of_segments(cls, segments: Sequence, words: Sequence[Words]) -> "RowSet":
        """The same as a row set for each segment of a file."""
        each = zip(segments, words, strict=True)
        return cls(None, {_name_of(segment): (segment, some) for segment, some in each})

    @property
    def mask(self) -> np.ndarray | None:
        """bool[rows] of the file."""
        if self._mask is None and self._found is not None:
            flags = [_core.flags_of(_of_live(*pair), pair[0].rows) for pair in self._found.values()]
            self._mask = np.concatenate(flags) if flags else np.empty(0, bool)
        return self._mask

    def words(self, segments: Sequence) -> list[Words | None]:
        """For each of the searched segments the rows that live and pass, or None for all of them."""
        if self._found is not None:
            return [_of_live(*self._found[_name_of(segment)]) for segment in segments]
        if self._mask is None:
            return [segment.alive for segment in segments]
        return [self._words_of(segment, self._mask) for segment in segments]

    def _words_of(self, segment, mask):
        """Retrievers search different segments: one without vectors is for words alone."""
        name = _name_of(segment)
        if name not in self._words:
            self._words[name] = _living(segment, mask)
        return self._words[name]

    def alone(self, segments: Sequence) -> Words | None:
        """The same for one segment that is searched alone."""
        return self.words(segments)[0]


ALL = RowSet(None)  # no row of any file is left out


class RowSets:
    """The rows that each of some questions may find: which filter is whose, and a RowSet for each filter."""

    __slots__ = ("numbers", "sets")

    def __init__(self, numbers: np.ndarray, sets: Sequence[RowSet]):
        self.numbers, self.sets = numbers, sets

    @classmethod
    def of(cls, wheres: Sequence, row_set: Callable[[Any], RowSet]) -> "RowSets":
        """Filters that are spelled the same are made once."""
        groups = grouped(wheres)
        numbers = np.zeros(len(wheres), np.uint32)
        for number, (places, _) in enumerate(groups):
            numbers[places] = number
        return cls(numbers, [row_set(where) for _, where in groups])

    def words(self, segments: Sequence) -> "_core.Filters":
        """As the core takes them; there is at least one segment."""
        return _core.Filters(self.numbers, [one.words(segments) for one in self.sets])

    alone = words


def _name_of(segment):
    """What tells a segment from others, also where those of several files are searched as one."""
    return segment.base, segment.number


def _living(segment, mask):
    words = _core.row_set(mask[segment.base : segment.base + segment.rows], segment.rows)
    return _of_live(segment, words)


def _of_live(segment, words):
    return words if segment.alive is None else words & segment.alive


def are_ids(where) -> bool:
    """Whether a filter is a list of ids."""
    is_list = isinstance(where, list | tuple | set | frozenset)
    return is_list and bool(where) and all(isinstance(name, str) for name in where)


def is_one_each(where) -> bool:
    """Whether there is a filter for each question: a list of filters, or a mask for each."""
    if isinstance(where, list | tuple):
        return any(
            one is None or isinstance(one, dict | list | tuple | np.ndarray) for one in where
        )
    return isinstance(where, np.ndarray) and where.ndim == 2


def one_for_each(value, count: int) -> np.ndarray:
    """A number for each of some questions, from one for all of them or a list."""
    found = np.asarray(value, np.float32).reshape(-1)
    if found.size == 1 and count != 1:
        found = np.repeat(found, count)
    if found.size != count or np.isnan(found).any():
        raise ValueError(f"min_score is a number for each of {count} queries, not {value!r:.80}")
    return found


def grouped(wheres: Sequence) -> list[tuple[list[int], object]]:
    """(which questions, their filter) of each different one."""
    groups: dict = {}
    for i, where in enumerate(wheres):
        groups.setdefault(spelled(where), ([], where))[0].append(i)
    return list(groups.values())


def spelled(where):
    """Filters that are spelled the same are the same; 1 is not true. Others are themselves alone."""
    try:
        return json.dumps(where, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return id(where)


def as_rows(where: object) -> np.ndarray:
    """A mask or row numbers as an array; anything else is refused."""
    rows = np.asarray(where)
    is_other = rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu")
    if isinstance(where, str | bytes) or is_other:
        raise TypeError(
            "where is a filter (a dict), a bool for each row, row numbers, or ids, "
            f"not {where!r:.80}"
        )
    return rows


def mask_of(rows: np.ndarray, count: int) -> np.ndarray:
    """bool[count] of a mask, which is passed on, or of row numbers, where -1 fills up and names no row."""
    if rows.dtype == np.bool_:
        if rows.shape != (count,):
            raise ValueError(
                f"where: a mask has a bool for each of the {count} rows, not shape {list(rows.shape)}"
            )
        return rows
    mask = np.zeros(count, dtype=bool)
    mask[checked_rows(rows, count)] = True
    return mask


def checked_rows(rows: np.ndarray, count: int) -> np.ndarray:
    """Row numbers as int64 without the -1 that an answer is filled up with. Others outside are refused."""
    named = rows[rows != -1].astype(np.int64)
    outside = named[(named < 0) | (named >= count)]
    if len(outside):
        raise IndexError(f"row {outside[0]} is outside the file's {count} rows")
    return named
